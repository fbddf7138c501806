"""Ctrl-C while a command still imports, which takes seconds: one line, as it is later on.

Packages that have commands import this first. It does nothing in programs of others.
"""

import os
import signal
import sys
from itertools import pairwise
from types import FrameType

PACKAGES = (
    *("benchmarks", "console", "experiments", "live", "nav"),
    *("planner", "rearrange", "skills", "ver"),
)
COMMAND = "rearrange"
INTERRUPTED = 130  # exit status, as a shell tells of Ctrl-C: scripts do not go on


def is_command(words: list[str]) -> bool:
    """Return whether these words of a command line, Python's own first, run one of our commands."""
    for word, following in pairwise(words[1:]):
        if word == "-m":
            return following.split(".")[0] in PACKAGES
        if word == "-c" or not word.startswith("-"):
            break
    return any(os.path.basename(word) == COMMAND for word in words[1:2])


def end(number: int, frame: FrameType | None) -> None:
    """End the process at once: nothing has begun that would have to be ended first."""
    del number, frame
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def expect() -> None:
    """End at Ctrl-C from now on, if this process runs a command of ours."""
    if is_command(sys.orig_argv) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)


def raise_again() -> None:
    """Raise KeyboardInterrupt at Ctrl-C, as Python does: all is imported."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


expect()
