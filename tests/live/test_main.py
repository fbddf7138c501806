"""The command, and what it refuses."""

import socket
import subprocess
from types import SimpleNamespace

import pytest

from live.__main__ import _serve, check_address, parse
from rearrange.errors import UserError
from skills.peek import FILE, Peek
from tests.helpers.refusals import refusal_of


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give one of: TASK, --replay RESULT, --watch RUN"),
        (["pick", "--watch", "runs/pick"], "give one of: TASK, --replay RESULT, --watch RUN"),
        (["pick", "--port", "0"], "--port must be from 1"),
        (["pick", "--agent", "oracle", "--policy", "mine"], "--policy is whose weights"),
        (["pick", "--split", "all"], "all"),
        (["pick", "--replan"], "--replan is for chores by plan"),
        (["tidy_house", "--agent", "drive", "--replan", "2"], "--replan is for chores by plan"),
        (["tidy_house", "--replan", "101"], "--replan must be from 0 to 100"),
        (["pick", "--redrive"], "--redrive is for chores by plan"),
        (["tidy_house", "--redrive", "101"], "--redrive must be from 0 to 100"),
        (["--watch", "runs/pick", "--pause-at", "9"], "--pause-at is for worlds of this command"),
        (["--watch", "runs/pick", "--episodes", "9"], "--episodes is for worlds of this command"),
        (["--watch", "runs/pick", "--agent", "zero"], "--agent is for a TASK"),
        (["--replay", "x.json", "--split", "train"], "--split is for a TASK"),
        (["--replay", "x.json", "--dataset", "sampled"], "--dataset is for a TASK"),
        (["pick", "--homes", "hut.yaml"], "--homes and --robot say what --watch shows"),
        (["pick", "--host", "300.1.1.1"], r"--host 300\.1\.1\.1 --port 8080: .*; choose others"),
        (["pick", "--host", "192.0.2.1"], "--host 192.0.2.1 --port 8080: "),
        (["pick", "--host="], "--host must not be empty"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, told):
    with pytest.raises(UserError, match=told):
        parse(arguments)


def test_the_command_ends_in_one_line():
    told = refusal_of("live", ["juggle"])
    assert told.startswith("error: unknown task 'juggle': choose one of tidy_house")


def test_a_port_after_which_none_is_free_is_refused():
    with socket.socket() as last:
        last.bind(("127.0.0.1", 65535))
        last.listen()
        with pytest.raises(UserError, match="--port 65535: Address already in use; choose others"):
            check_address("127.0.0.1", 65535)


def test_a_training_that_was_killed_is_not_watched(page, tmp_path, monkeypatch):
    with subprocess.Popen("true") as gone:
        gone.wait()
    monkeypatch.setattr("os.getpid", lambda: gone.pid)
    Peek.create(tmp_path / FILE, 1)
    monkeypatch.setattr("live.training.give_way", lambda: None)
    with pytest.raises(UserError, match="has ended"):
        _serve(parse(["--watch", str(tmp_path)]), page)


def test_an_address_with_colons_stands_in_brackets(monkeypatch, capsys):
    monkeypatch.setattr(
        "live.__main__.check_address", lambda *_: None
    )  # not all machines have IPv6
    monkeypatch.setattr("live.__main__.play_all", lambda *_: None)
    monkeypatch.setattr("live.agents.make_agent", lambda *_: None)
    page = SimpleNamespace(port=8081, pause_at=None)
    _serve(parse(["pick", "--agent", "zero", "--dataset", "sampled", "--host", "::1"]), page)
    assert capsys.readouterr().out.startswith("http://[::1]:8081   shows pick: zero")
