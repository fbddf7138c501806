"""Worlds of other libraries: one short run of what every machine has, and what goes wrong."""

import json
import sys

import pytest

from benchmarks import tensor_worlds
from benchmarks.tensor_worlds import Case, main
from interrupts import INTERRUPTED
from skills.command import USER_ERRORS
from ver import __main__ as ver


def python_that(tmp_path, body):
    """Stands for the interpreter of an environment: does as told with its words."""
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\nimport sys\nwords = sys.argv[1:]\n{body}\n")
    path.chmod(0o755)
    return str(path)


def in_this_process(command, place, minutes=None):
    """Stands for a call of the same interpreter, which would import all anew."""
    assert command[:3] == [sys.executable, "-m", "ver"]
    assert ver.main(command[3:]) == 0


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_run_is_trained_judged_and_written(tmp_path, monkeypatch, alone):
    if not alone:
        monkeypatch.setattr(tensor_worlds, "_call", in_this_process)
    small = ("network.hidden_size=8", "collect.num_environments=2", "collect.rollout_length=32")
    case = Case("CartPole-v1", 128, (*small, "learner_threads=1"), ("torch", "no-such-package"))
    monkeypatch.setitem(tensor_worlds.CASES, "brax", case)
    path = tmp_path / "told.json"
    assert main(["--brax", sys.executable, "--episodes", "3", "--json", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["made"]["seed"] == 1
    assert list(record["worlds"]) == ["brax"]
    told = record["worlds"]["brax"]
    assert (told["name"], told["steps"]) == ("CartPole-v1", 128)
    assert list(told["versions"]) == ["torch"]
    assert told["begin_steps"] <= 128
    # A cart falls after eight steps at the earliest
    assert min(told["begin"], told["end"], told["judged_worst"]) >= 8
    assert told["judged"] >= told["judged_worst"]


def test_a_run_that_fails_says_what_it_said_last(tmp_path):
    python = python_that(tmp_path, "print('error: pip install mjlab', flush=True)\nsys.exit(2)")
    told = "^ver train mjlab:.* ended with 2; it said last: error: pip install mjlab"
    with pytest.raises(USER_ERRORS, match=told):
        main(["--mjlab", python])


def test_a_run_whose_time_was_up_before_an_episode_ended_says_so(tmp_path):
    python = python_that(tmp_path, f"sys.exit({INTERRUPTED})")
    with pytest.raises(USER_ERRORS, match="no episode ended; give it more --minutes or --steps"):
        main(["--mjlab", python])


def test_a_run_is_asked_to_end_when_time_is_up(tmp_path):
    body = (
        "import signal, sys, time\n"
        f"signal.signal(signal.SIGINT, lambda *_: sys.exit({INTERRUPTED}))\n"
        "time.sleep(600)\nprint('slept')"
    )
    tensor_worlds._call([sys.executable, "-c", body], str(tmp_path), 0.04)
    assert (tmp_path / "log.txt").read_text() == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "say at least one of --mjlab PYTHON, --brax PYTHON"),
        (["--brax", "/nowhere/python"], "--brax: there is no /nowhere/python"),
        (["--brax", sys.executable, "--steps", "0"], "--steps must be at least 1, found 0"),
        (["--brax", sys.executable, "--minutes", "0"], "--minutes must be above 0 and below"),
    ],
)
def test_what_cannot_be_is_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
