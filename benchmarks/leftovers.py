"""Leftovers of a training that must not be: processes, and segments of shared memory."""

from __future__ import annotations

import os
import time
from pathlib import Path

MARK = "VER_DRILL_MARK"  # environment variable by which a training's processes are known


def survivors(mark: str, patience_s: float = 10.0) -> list[int]:
    """Processes whose environment holds a mark and that do not end within a while.

    Multiprocessing's resource tracker ends a moment after the process that it served.
    """
    deadline = time.monotonic() + patience_s
    while True:
        left = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if has(pid, mark)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def has(pid: int, mark: str) -> bool:
    """Return whether a process is alive and marked, and not our own."""
    if pid == os.getpid():
        return False
    try:
        # A zombie's environment is empty.
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def shared_memory() -> set[str]:
    """Names in /dev/shm."""
    return set(os.listdir("/dev/shm"))


def abandoned(names: set[str]) -> set[str]:
    """Those names in /dev/shm that no living process has mapped.

    Programs that have nothing to do with the training may use /dev/shm at the same time.
    """
    left = names & shared_memory()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if not left:
            break
        try:
            maps = Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            continue
        left = {name for name in left if f"/dev/shm/{name}" not in maps}
    return left
