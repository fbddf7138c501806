"""Policies that are judged while they are trained."""

import json
from types import SimpleNamespace

import imageio_ffmpeg
import pytest

from rearrange.errors import UserError
from skills import validation
from skills.plot import validation_points
from skills.settings import CHECKPOINTS
from skills.train import load_settings, main
from skills.validation import BEST, LOG, read_validation
from ver import load_policy
from ver.checkpoint import copy_policy
from ver.trackers import TRACKERS

TINY = [
    "stages=[]",
    "camera_size=40",
    "task.max_steps=60",
    "trainer.total_steps=64",
    "trainer.collect.num_environments=2",
    "trainer.collect.environments_per_worker=1",
    "trainer.collect.rollout_length=16",
    "trainer.network.hidden_size=8",
    "trainer.tensorboard=false",
]


@pytest.mark.slow
def test_a_training_is_judged_on_its_way_and_keeps_the_best_policy(tmp_path, capsys):
    more = ["validate_every=32", "validation_episodes=2", f"run={tmp_path}"]
    assert main(["pick", *TINY, *more]) == 0
    rows = read_validation(tmp_path)
    assert rows[-1]["steps"] == 64
    assert {row["episodes"] for row in rows} == {2}
    best = max(row["success"]["mean"] for row in rows)
    (first,) = [row["steps"] for row in rows if row["success"]["mean"] == best][:1]
    assert load_policy(tmp_path / BEST).metadata["steps"] == first
    assert f"validation at step {first}: " in capsys.readouterr().err
    assert not list(tmp_path.glob("validated*"))
    assert [point[0] for point in validation_points(tmp_path)] == [row["steps"] for row in rows]


class Screen:
    """A tracker that keeps films."""

    films: list[tuple[int, bytes]] = []  # noqa: RUF012 - emptied by the test

    def __init__(self, *asked):
        pass

    def log(self, row, step):
        pass

    def film(self, path, step):
        self.films.append((step, path.read_bytes()[4:8]))

    def finish(self, files):
        pass


@pytest.mark.slow
def test_a_tracker_gets_a_film_of_what_is_judged(tmp_path, monkeypatch):
    monkeypatch.setitem(TRACKERS, "wandb", (__name__, "Screen"))
    monkeypatch.setattr(Screen, "films", [])
    more = ["validate_every=64", "validation_episodes=1", f"run={tmp_path}"]
    assert main(["pick", *TINY, *more, "trainer.tracker=wandb"]) == 0
    assert Screen.films == [(65, b"ftyp")]  # of an mp4, after the training's last row
    assert not list(tmp_path.glob("*.mp4"))


def test_a_film_shows_the_beginning_of_an_episode(tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "FILMED", 3)
    validation.film_policy(CHECKPOINTS / "pick.safetensors", tmp_path / "film.mp4")
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))[0] == 3


@pytest.mark.slow
def test_without_being_asked_nothing_is_judged(tmp_path):
    assert main(["pick", *TINY, f"run={tmp_path}"]) == 0
    assert not (tmp_path / LOG).exists()


def test_a_resumed_run_overwrites_what_came_after_its_checkpoint(tmp_path):
    steps = [100, 200, 300, 200, 250]
    (tmp_path / LOG).write_text("".join(json.dumps({"steps": s}) + "\n" for s in steps))
    assert [row["steps"] for row in read_validation(tmp_path)] == [100, 200, 250]


def judged(tmp_path, steps, mean):
    """A validation whose policy of so many steps has come to a success."""
    settings = load_settings("pick", ["validate_every=100"])
    found = validation.Validation(settings, tmp_path, lambda _: None, steps)
    (tmp_path / "policy.safetensors").write_bytes(str(steps).encode())
    (tmp_path / "policy.json").write_text("{}")
    copy_policy(tmp_path / "policy.safetensors", found._candidate)
    success = {"mean": mean, "low": 0.0, "high": 1.0}
    found._result.write_text(json.dumps({"episodes": 2, "success": success}))
    found._steps, found._process = steps, SimpleNamespace(exitcode=0, join=lambda: None)
    found._take(wait=False)
    return found


def test_what_came_after_the_checkpoint_of_a_resumed_run_is_no_rival(tmp_path):
    for steps, mean in ((100, 0.2), (200, 0.9), (300, 0.4)):
        judged(tmp_path, steps, mean)
    assert (tmp_path / BEST).read_bytes() == b"200"
    judged(tmp_path, 200, 0.5)  # killed, and gone on from step 150
    assert (tmp_path / BEST).read_bytes() == b"200"
    judged(tmp_path, 300, 0.7)
    assert (tmp_path / BEST).read_bytes() == b"300"
    assert [row["steps"] for row in read_validation(tmp_path)] == [100, 200, 300]


def test_a_row_that_was_cut_off_does_not_end_the_training(tmp_path):
    (tmp_path / LOG).write_text('{"steps": 50, "suc')
    judged(tmp_path, 100, 0.5)
    assert [row["steps"] for row in read_validation(tmp_path)] == [100]


@pytest.mark.parametrize(("resumed", "begun"), [(100, []), (299, []), (300, [300])])
def test_a_resumed_training_does_not_judge_again_what_was_judged(
    tmp_path, monkeypatch, resumed, begun
):
    judged(tmp_path, 100, 0.5)
    judged(tmp_path, 200, 0.5)
    settings, found = load_settings("pick", ["validate_every=100"]), []
    again = validation.Validation(settings, tmp_path, print, 200)
    monkeypatch.setattr(again, "_begin", lambda trainer: found.append(trainer.steps))
    again(SimpleNamespace(steps=resumed), {})
    assert found == begun


def test_other_simulators_are_refused():
    with pytest.raises(UserError, match="validate_every: sim=scan is judged by hand"):
        load_settings("pointnav", ["validate_every=100", "sim=scan"])


@pytest.mark.parametrize("bad", ["validate_every=-1", "validation_episodes=0"])
def test_bad_numbers_are_one_line(bad):
    name, value = bad.split("=")
    with pytest.raises(UserError, match=f"{name} must be from .*, found {value}"):
        load_settings("pick", [bad])
