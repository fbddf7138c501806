"""Killed evaluations leave no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import ROOT

COMMANDS = [
    ["planner.eval", "tidy_house", "--skills", "oracle", "--episodes", "40", "--workers", "2"],
    ["skills.eval", "navigate", "--policy", "oracle", "--episodes", "4000", "--workers", "2"],
]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_workers_end_with_the_evaluation_however_it_is_killed(command, tmp_path):
    words = [sys.executable, "-m", *command, "--json", str(tmp_path / "result.json")]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log)
        deadline = time.monotonic() + 120.0
        while len(children(process.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.2)  # two workers, and the process that keeps track of shared memory
        workers = children(process.pid)
        assert len(workers) >= 3
        time.sleep(8.0)  # at work
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 20.0
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not [pid for pid in workers if alive(pid)]
