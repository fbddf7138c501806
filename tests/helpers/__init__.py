"""Toy environments, fakes and checkers that several test files share."""

import signal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # of the repository


def hear_ctrl_c() -> None:
    """Before a process starts: a shell's background job would hand on that Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
