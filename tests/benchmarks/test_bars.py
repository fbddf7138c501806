"""Bars: what is run, what is compared, and that a learner that is broken does not reach them."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from benchmarks import bars
from benchmarks.bars import ENVIRONMENTS, Reached, jobs_of, main, reached
from benchmarks.bars import bars as bars_of
from skills.command import USER_ERRORS
from skills.jobs import DONE, RUNNING, Progress
from skills.recipe import QUICK, Bar
from tests.helpers import ROOT

PICK = Bar(QUICK, {"until": "alone"}, {"success_at_end": [0.6, 0.9], "means.length": [0, 50]})


def evaluation(success: float, length: float) -> dict:
    return {"success_at_end": {"mean": success, "low": 0.0}, "means": {"length": length}}


def put(run, name, told):
    (run / "results").mkdir(parents=True, exist_ok=True)
    (run / "results" / f"{name}.json").write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("success", "length", "well"),
    [(0.6, 50, [True, True]), (0.59, 51, [False, False]), (0.91, 0, [False, True])],
)
def test_figures_have_to_lie_within_their_range(tmp_path, success, length, well):
    put(tmp_path, "pick", evaluation(success, length))
    rows = list(reached({"pick": PICK}, False, tmp_path))
    assert [row.well for row in rows] == well
    assert rows[0] == Reached("pick", "success_at_end", 0.6, 0.9, success)


def test_environments_have_their_own_thresholds(tmp_path):
    told = {"A-v0": {"threshold": 10, "mean": 9.0}, "B-v0": {"threshold": -5, "mean": -4.0}}
    put(tmp_path, ENVIRONMENTS, {"environments": told})
    assert [row.well for row in reached({}, True, tmp_path)] == [False, True]


def test_a_training_is_that_of_the_config_made_shorter_and_judged_in_other_apartments(tmp_path):
    train, judge = jobs_of("pick", PICK, tmp_path, 4, 30)
    assert train.arguments[1:3] == ("skills.train", "pick")
    assert {"trainer.seed=4", 'until="alone"', f"run={tmp_path / 'pick'}"} <= set(train.arguments)
    words = " ".join(judge.arguments)
    assert f"--checkpoint {tmp_path / 'pick' / 'policy.safetensors'} --actions mean" in words
    assert "--dataset sampled --seed 9 --episodes 30 --json" in words
    assert "--split" not in words  # val, its default


def test_a_training_of_other_settings_is_not_gone_on_with_and_never_judged_by_the_old_figures(
    tmp_path, monkeypatch
):
    train, judge = jobs_of("pick", PICK, tmp_path, 4, 30)
    progress = Progress(tmp_path / "state.json")
    for job in (train, judge):
        progress.note(job, RUNNING)
        progress.note(job, DONE)
    progress.note(train, DONE)
    assert progress.done([train, judge]) == {train.name}
    monkeypatch.setattr(bars, "bars", lambda budget: {"pick": PICK})
    with pytest.raises(USER_ERRORS, match=r"train_pick was begun with other settings .*seed=4"):
        main(["--only", "pick", "--seed", "5", "--run", str(tmp_path)])


def test_the_configs_bars_are_found():
    assert "pick" in bars_of(QUICK)


@pytest.mark.parametrize(("success", "status"), [(0.7, 0), (0.5, 1)])
def test_the_exit_status_says_whether_all_are_reached(
    tmp_path, monkeypatch, capsys, success, status
):
    run = tmp_path / "run"

    def run_jobs(jobs, folder, title):
        assert [job.name for job in jobs] == ["train_pick", "judge_pick"]
        put(folder, "pick", evaluation(success, 20))
        state = {job.name: {"command": [], "seconds": 2.0, "status": "done"} for job in jobs}
        (folder / "state.json").write_text(json.dumps(state))
        return 0

    monkeypatch.setattr(bars, "bars", lambda budget: {"pick": PICK})
    monkeypatch.setattr(bars, "run_jobs", run_jobs)
    path = tmp_path / "told.json"
    assert main(["--only", "pick", "--run", str(run), "--json", str(path)]) == status
    assert ("NOT REACHED" in capsys.readouterr().out) == bool(status)
    told = json.loads(path.read_text())
    assert told["bars"]["pick.success_at_end"]["found"] == success
    assert told["seconds"] == {"train_pick": 2.0, "judge_pick": 2.0}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "dance"], "--only: 'dance' has no quick bar: choose of any_environment, pick"),
        (["--episodes", "0"], "--episodes must be at least 1, found 0"),
        (["--budget", "endless"], "--budget"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told, capsys):
    with pytest.raises((SystemExit, *USER_ERRORS)) as caught:
        main(words)
    assert told in str(caught.value) + capsys.readouterr().err


def test_a_figure_that_is_not_there_is_told(tmp_path):
    put(tmp_path, "pick", evaluation(0.5, 1))
    wrong = Bar(QUICK, {}, {"success": [0, 1]})
    with pytest.raises(
        USER_ERRORS, match="no 'success' in the evaluation: choose of success_at_end"
    ):
        list(reached({"pick": wrong}, False, tmp_path))


@pytest.mark.slow
def test_a_learner_with_the_advantages_sign_swapped_does_not_reach_them(tmp_path):
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")
    for name in filter(None, tracked):
        if name.startswith(
            ("ver/", "benchmarks/", "skills/", "rearrange/", "nav/", "configs/")
        ) or (
            "/" not in name or name.startswith(("atomic_files/", "interrupts/", "data/episodes/"))
        ):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    loss = tmp_path / "ver" / "ppo_loss.py"
    right = "policy_loss = -(weights"
    assert loss.read_text().count(right) == 1
    loss.write_text(loss.read_text().replace(right, "policy_loss = (weights"))
    done = subprocess.run(
        [sys.executable, "-B", "-m", "benchmarks.bars", "--only", ENVIRONMENTS, "--run", str(tmp_path / "run")],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
        timeout=1800,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("NOT REACHED") == 3, done.stdout
