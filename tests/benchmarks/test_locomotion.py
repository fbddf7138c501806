"""Robots that run on few cores: one short run, and what is told of it."""

import json

import pytest

from benchmarks.locomotion import keep_settings, main
from skills.command import USER_ERRORS

SMALL = (
    *("collect.num_environments=4", "collect.rollout_length=16", "ppo.epochs=1"),
    *("learner_threads=1", "log_interval_s=1e9", "env.threads=1", "env.episode_length=8"),
)


def test_a_run_is_trained_judged_and_written(tmp_path):
    path = tmp_path / "told.json"
    words = ["--steps", "128", "--episodes", "3", "--run", str(tmp_path), "--json", str(path)]
    for _ in range(2):  # the second finds it done, and judges it alone
        assert main([*words, *SMALL]) == 0
        told = json.loads(path.read_text())
        (run,) = told["runs"]
        assert run["steps"] == 128
        assert run["length"] == 8  # an ant stands that long whatever it does
        assert run["steps_to_run"] is None
        assert [row[0] for row in run["curve"]] == [64, 128]
        assert told["mean"] == run["return"]
        assert "collect.num_environments=4" in told["settings"]


def test_flagrun_and_terrain_are_measured_likewise(tmp_path, capsys):
    for robot, told in (("humanoid_flagrun", "2500 and 4000"), ("humanoid_terrain", "not told")):
        path = tmp_path / f"{robot}.json"
        words = ["--robot", robot, "--steps", "64", "--episodes", "2", "--run", str(tmp_path)]
        assert main([*words, "--json", str(path), *SMALL]) == 0
        (run,) = json.loads(path.read_text())["runs"]
        assert run["steps_to_run"] is None
        assert f"{robot}: the paper's thresholds are {told}" in capsys.readouterr().out


def test_a_run_of_other_settings_is_not_told_as_that_of_these(tmp_path):
    words = ["--steps", "64", "--episodes", "1", "--run", str(tmp_path), *SMALL]
    assert main(words) == 0
    with pytest.raises(
        USER_ERRORS, match=r"ant_1 was begun with other settings \(ppo.gae_lambda=0.5\)"
    ):
        main([*words, "ppo.gae_lambda=0.5"])


@pytest.mark.parametrize("text", ['["ppo.epo', "5", "[[1]]"])
def test_broken_settings_of_a_run_are_one_line(text, tmp_path):
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(USER_ERRORS, match=r"settings\.json is broken: choose another --run$"):
        keep_settings(tmp_path, ["seed=1"])
    assert (tmp_path / "settings.json").read_text() == text


def test_a_run_in_which_no_episode_ended_is_one_line(tmp_path):
    longer = [*SMALL, "env.episode_length=1000"]
    with pytest.raises(USER_ERRORS, match="no episode ended within 64 steps: give it more --steps"):
        main(["--steps", "64", "--episodes", "1", "--run", str(tmp_path), *longer])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--robot", "bee"], "--robot must be one of ant, humanoid"),
        (["--seeds", "0"], "--seeds must be at least 1, found 0"),
        (["ppo.epoch=1"], "unknown key 'ppo.epoch'"),
    ],
)
def test_what_cannot_be_is_one_line(words, told, tmp_path):
    with pytest.raises(USER_ERRORS, match=told):
        main([*words, "--run", str(tmp_path)])
