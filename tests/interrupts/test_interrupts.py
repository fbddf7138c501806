"""Ctrl-C while a command imports."""

import signal
import subprocess
import sys
import time

import pytest

from interrupts import INTERRUPTED, PACKAGES, end, is_command
from tests.helpers import ROOT, hear_ctrl_c


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["python", "-m", "planner.eval", "tidy_house"], True),
        (["python", "-u", "-m", "skills.train"], True),
        (["python", "/usr/bin/rearrange", "train"], True),
        (["python", "-m", "pytest", "-m", "skills"], False),
        (["python", "-m", "their.program"], False),
        (["python", "-c", "print()", "-m", "skills"], False),
        (["python", "their.py", "-m", "skills.train"], False),
        (["python"], False),
    ],
)
def test_only_our_own_commands_are_meant(words, ours):
    assert is_command(words) == ours


def test_every_package_with_commands_expects_them():
    heads = {
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if "import interrupts" in path.read_text()
    }
    assert heads == set(PACKAGES)


def test_programs_of_others_keep_their_handler():
    assert signal.getsignal(signal.SIGINT) is not end


def test_ctrl_c_while_a_command_imports_is_one_line():
    command = [sys.executable, "-m", "planner.eval", "tidy_house"]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c
    )
    status = f"/proc/{process.pid}/status"
    while (
        True
    ):  # until the handler is there: SIGINT is caught by `end` once our package is imported
        with open(f"/proc/{process.pid}/maps") as maps:
            if "numpy" in maps.read():
                break
        assert process.poll() is None, status
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert told == "interrupted\n"
    assert process.returncode == INTERRUPTED
