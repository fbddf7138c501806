"""Commands in sessions of their own: how they end, and that nothing is left."""

import os
import sys
import time

import pytest

from benchmarks import own_session
from benchmarks.own_session import run_in_session


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(own_session, "TRACKER_S", 0.5)
    monkeypatch.setattr(own_session, "OFTEN_S", 0.05)


def python(body):
    return [sys.executable, "-S", "-c", body]


def test_a_command_that_ends_tells_its_code(tmp_path):
    log = tmp_path / "log.txt"
    assert run_in_session(python("print('said'); raise SystemExit(3)"), log, 20) == "ended with 3"
    assert log.read_text() == "said\n"


def test_one_that_does_not_end_is_ended(tmp_path):
    sleep = python("import time; time.sleep(60)")
    assert run_in_session(sleep, tmp_path / "log.txt", 0.3) == "was ended after 0 s"


def test_it_may_be_enough_and_children_end_too(tmp_path):
    told = tmp_path / "child"
    body = (
        "import os, time\n"
        "child = os.fork()\n"
        f"if child: open({str(told)!r}, 'w').write(f'{{child}} ')\n"
        "time.sleep(60)"
    )
    ended = run_in_session(
        python(body), tmp_path / "log.txt", 20, enough=lambda: told.exists() and told.read_text()
    )
    assert ended == "had enough"
    child = int(told.read_text())
    for _ in range(100):  # init may not have reaped it yet
        if gone(child):
            break
        time.sleep(0.05)
    assert gone(child)


def gone(number):
    """Whether a process has ended, or waits to be reaped."""
    try:
        os.kill(number, 0)
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_named_semaphores_go_with_one_that_does_not_want_to_end(tmp_path):
    """Python's tracker removes them once the others are gone, unless it is killed with them."""
    told, body = tmp_path / "begun", (
        "import multiprocessing, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "kept = multiprocessing.get_context('spawn').Semaphore()\n"
        f"open({str(tmp_path / 'begun')!r}, 'w').write(kept._semlock.name)\n"
        "time.sleep(60)"
    )  # fmt: skip
    run_in_session(
        python(body),
        tmp_path / "log.txt",
        20,
        enough=lambda: bool(told.exists() and told.read_text()),
    )
    assert not os.path.exists(f"/dev/shm/sem.{told.read_text().lstrip('/')}")
