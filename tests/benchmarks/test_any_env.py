"""What the defaults learn: the sums, and one short run."""

import json
import os
import signal

import pytest

from benchmarks import any_env
from benchmarks.any_env import TASKS, Task, main, steps_to, summarise
from skills.command import USER_ERRORS


def test_sums_by_hand():
    runs = [{"return": value, "steps": 2048} for value in (400.0, 480.0, 500.0)]
    told = summarise(TASKS["CartPole-v1"], runs)
    assert (told["mean"], told["worst"], told["learned"]) == (460.0, 400.0, 2)
    rows = [(10, -300.0), (20, -90.0), (30, -120.0)]
    assert steps_to(rows, -100) == 20
    assert steps_to(rows, 0) is None


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A command that trains a moment and writes told.json."""
    small = ("network.hidden_size=8", "collect.num_environments=2", "collect.rollout_length=16")
    task = Task("CartPole-v1", 8, 64, (*small, "learner_threads=1"))
    monkeypatch.setitem(any_env.TASKS, "CartPole-v1", task)
    files = ["--run", str(tmp_path / "runs"), "--json", str(tmp_path / "told.json")]
    return ["--envs", "CartPole-v1", "--seeds", "1", "--episodes", "3", *files]


def told_in(folder):
    return json.loads((folder / "told.json").read_text())["environments"]["CartPole-v1"]


def test_a_run_is_trained_judged_and_written_once(words, tmp_path, monkeypatch):
    assert main(words) == 0
    told = told_in(tmp_path)
    assert told["steps"] == 64
    assert told["learned"] == 1  # a cart falls after eight steps at the earliest
    assert told["mean"] == told["runs"][0]["return"] >= 8
    monkeypatch.setattr(any_env, "make_trainer", None)
    assert main(words) == 0
    assert told_in(tmp_path) == told


def test_what_was_judged_otherwise_is_not_told_as_this(words):
    assert main(words) == 0
    with pytest.raises(USER_ERRORS, match=r"begun with other settings .*choose another --run"):
        main([*words, "--steps", "32"])


def test_an_interrupted_run_goes_on(words, tmp_path, monkeypatch):
    begun, make = [], any_env.make_trainer

    def stopped_once(*asked):
        trainer = make(*asked)
        begun.append(trainer.steps)
        if len(begun) == 1:
            trainer.after_update = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
        return trainer

    monkeypatch.setattr(any_env, "make_trainer", stopped_once)
    with pytest.raises(SystemExit, match="the same command goes on"):
        main(words)
    assert not (tmp_path / "told.json").exists()
    assert main(words) == 0
    assert begun[0] == 0 < begun[1] < 64
    assert told_in(tmp_path)["steps"] == 64


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--envs", "CartPole"], "--envs: unknown 'CartPole'"),
        (["--seeds", "0"], "--seeds must be at least 1, found 0"),
    ],
)
def test_what_cannot_be_is_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
