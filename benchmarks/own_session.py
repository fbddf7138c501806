"""A command in a session of its own, of which nothing is left when it is over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ver.public import ROOT

TRACKER_S = 2.0  # for what ends by itself once the rest has
TRACKER = b"multiprocessing.resource_tracker"  # in its command line
OFTEN_S = 1.0  # between two looks whether it may end


def from_anywhere(command: Sequence[str]) -> list[str]:
    """A command whose program is found from any folder, where it is a path from this one."""
    program = command[0]
    return [os.path.abspath(program) if os.sep in program else program, *command[1:]]


def run_in_session(
    command: Sequence[str],
    log: Path,
    timeout_s: float,
    enough: Callable[[], bool] = lambda: False,
) -> str:
    """Runs a command to its end, or until there is enough of it.

    Args:
        command: Program and words; it begins in the project's folder.
        log: Gets what it prints, after what there is.
        timeout_s: After which it is ended.
        enough: Asked every second; true ends it.

    Returns:
        How it ended: "ended with 0", "had enough" or "was ended after 60 s".
    """
    with log.open("ab") as file:
        process = subprocess.Popen(
            from_anywhere(command), cwd=ROOT, stdout=file, stderr=file, start_new_session=True
        )
        end = time.monotonic() + timeout_s
        try:
            while time.monotonic() < end:
                with suppress(subprocess.TimeoutExpired):
                    left = max(0.0, end - time.monotonic())
                    return f"ended with {process.wait(min(OFTEN_S, left))}"
                if enough():
                    return "had enough"
            return f"was ended after {timeout_s:.0f} s"  # it may wait for a part that has failed
        finally:
            _end(process)


def last_line(log: Path) -> str:
    """The last line of what a command printed, or "nothing"."""
    return (log.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the session: asks all, kills who stays, and leaves Python's trackers the time to clear up.

    A tracker outlives SIGTERM, and removes named semaphores once all others are gone. Killed with them, it
    could not.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    time.sleep(TRACKER_S)
    for number in _members(process.pid):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    time.sleep(TRACKER_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _members(group: int) -> list[int]:
    """Processes of a group, but for Python's trackers of named semaphores."""
    found = []
    for number in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(ProcessLookupError, FileNotFoundError):
            tracker = TRACKER in Path(f"/proc/{number}/cmdline").read_bytes()
            if os.getpgid(number) == group and not tracker:
                found.append(number)
    return found
