"""A fixed piece of work: how long it takes tells what a shared machine has to spare at the moment."""

from __future__ import annotations

import time
from statistics import median


def fixed_work() -> int:
    """About 0.3 ms of arithmetic."""
    total = 0
    for i in range(5000):
        total += i * i
    return total


def fixed_work_duration() -> float:
    """Returns the median time that the work takes now [s]."""
    durations = []
    for _ in range(100):
        begin = time.perf_counter()
        fixed_work()
        durations.append(time.perf_counter() - begin)
    return median(durations)
