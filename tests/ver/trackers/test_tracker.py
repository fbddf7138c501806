"""Trackers by name: ids that last, one line for what is missing, and trainings that outlive them."""

import json
import sys

import pytest

from tests.helpers.tracked_run import train
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError
from ver.logs import FILM, log_film
from ver.ranges import check_ranges
from ver.trackers import tracker


class FakeTracker:
    """Keeps what it is told; fails from the second row on where `fails` is set."""

    made: list["FakeTracker"] = []  # noqa: RUF012 - emptied by each test
    fails = False

    def __init__(self, project, directory, run_id, config):
        self.about = project, directory.name, run_id, config["total_steps"], config.get("metadata")
        self.rows, self.films, self.files = [], [], None
        self.made.append(self)

    def log(self, row, step):
        if self.fails and self.rows:
            raise ConnectionError("the network\nis gone")
        self.rows.append((step, dict(row)))

    def film(self, path, step):
        self.films.append((step, path.read_bytes()))

    def finish(self, files):
        assert all(path.is_file() for path in files)
        self.files = [path.name for path in files]


@pytest.fixture
def fake(monkeypatch):
    """FakeTracker by the name of wandb."""
    monkeypatch.setitem(tracker.TRACKERS, "wandb", (__name__, "FakeTracker"))
    monkeypatch.setattr(FakeTracker, "made", [])
    return FakeTracker


def test_every_row_is_logged_and_a_resumed_run_is_the_same_one(fake, tmp_path):
    train(tmp_path / "run", 96)
    train(tmp_path / "run", 160)
    first, second = fake.made
    assert first.about[:2] == second.about[:2] == ("mine", "run")
    assert first.about[2] == second.about[2]
    assert first.about[3:] == (96, {"skill": "remember"})
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row for _, row in first.rows + second.rows] == rows
    assert [step for step, _ in second.rows] == [row["steps"] for row in rows[3:]]
    assert second.files == ["policy.safetensors", "policy.json"]


def test_stages_are_one_run_whose_steps_go_on(fake, tmp_path):
    run = tmp_path / "run"
    for stage, before, steps in (("one", 0, 96), ("two", 96, 64), ("two", 7, 128)):
        tracker.mark_stage(run / stage, before)  # what was said first holds
        train(run / stage, steps)
    assert [made.about[1] for made in fake.made] == ["run"] * 3
    assert len({made.about[2] for made in fake.made}) == 1
    steps = [step for made in fake.made for step, _ in made.rows]
    assert steps == [32, 64, 96, 128, 160, 192, 224]


def test_the_best_policy_is_kept_too(fake, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("best.safetensors", "best.json"):
        (run / name).write_text("as validation writes it")
    train(run, 32)
    (made,) = fake.made
    assert made.files == ["policy.safetensors", "policy.json", "best.safetensors", "best.json"]


def test_a_film_in_the_run_directory_is_shown_with_the_next_row_or_after_the_end(fake, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / FILM).write_bytes(b"the first")
    train(run, 64)
    assert not (run / FILM).exists()
    (tmp_path / "last.mp4").write_bytes(b"the last")
    config = merge_config(TrainerConfig, [], ["tracker=wandb", "project=mine"])
    log_film(tmp_path / "last.mp4", run, config, 64)
    first, again = fake.made
    assert (first.films, again.films) == ([(32, b"the first")], [(65, b"the last")])
    assert first.about[:3] == again.about[:3]
    assert again.files == first.files == ["policy.safetensors", "policy.json"]


def test_a_training_outlives_its_tracker(fake, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(fake, "fails", True)
    assert train(tmp_path / "run", 160)["steps"] == 160
    told = capsys.readouterr().out
    assert told.count("the tracker failed and is left out: the network is gone") == 1
    (made,) = fake.made
    assert len(made.rows) == 1
    assert made.files is None


def test_without_one_nothing_is_kept(tmp_path):
    train(tmp_path / "run", 32, "none")
    assert not (tmp_path / "run" / "tracker.json").exists()


def test_a_missing_package_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(UserError, match="tracker=trackio needs trackio: pip install trackio"):
        train(tmp_path / "run", 32, "trackio")


def test_one_that_does_not_start_is_one_line(fake, monkeypatch, tmp_path):
    def refuse(*asked):
        raise RuntimeError("no key:\nlog in")

    monkeypatch.setattr(fake, "__init__", refuse)
    with pytest.raises(UserError, match="tracker=wandb does not start: no key: log in"):
        train(tmp_path / "run", 32)
    train(tmp_path / "run", 32, "none")  # the run's lock is free again


def test_an_unknown_one_is_refused_with_those_that_there_are():
    with pytest.raises(UserError, match="tracker must be one of none, wandb, trackio"):
        check_ranges(merge_config(TrainerConfig, [], ["tracker=mlflow"]))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"id": 3}', '{"id": "../x"}', '{"before": -1}', '{"before": "1"}']
)
def test_a_damaged_id_is_refused(fake, tmp_path, text):
    (tmp_path / "tracker.json").write_text(text)
    with pytest.raises(UserError, match=r"tracker\.json is damaged: delete it"):
        tracker.open_tracker("wandb", "mine", tmp_path, {"total_steps": 1}, print)
