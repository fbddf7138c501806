"""Faults of environments: what they are, how they are counted, and when there are too many."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ver.errors import WorkerCrashError

DIVERGED = "diverged"  # did not repeat its episode when the run was resumed; harmless
KINDS = ("raised", "not_finite", DIVERGED, "hung", "died")
LARGEST = 1e15  # reward, or number in an observation: of more the variance is no float32
_HOUR_S = 3600.0
# Before the first rollout so many times fewer are survived: what cannot work is told soon
AT_START = 6


def strange(values: np.ndarray) -> bool:
    """Tell whether some of these floats are NaN, infinite, or beyond what can be learned from."""
    # The method `all` is Python code, and takes longer than the whole test of a small array
    return bool((np.abs(values) <= _largest_of(values.dtype)).tobytes().count(0))


@cache
def _largest_of(dtype: np.dtype) -> float:
    return largest(np.finfo(dtype))


def largest(kind: Any) -> float:
    """The largest number of a kind of floats, given as `finfo`, that can be learned from."""
    return min(LARGEST, float(kind.max))


@dataclass(frozen=True)
class Fault:
    """One fault that the run survived, or the last one before it was stopped.

    Attributes:
        kind: One of KINDS.
        what: One line that names the environment or worker and what it did.
        steps_lost: Steps whose results will never be known; they are not learned from.
        detail: A traceback, where there is one.
    """

    kind: str
    what: str
    steps_lost: int
    detail: str = ""


class FaultCounter:
    """Counts faults, tells a listener, and stops the run when they are too frequent.

    Args:
        limit_per_hour: This many faults within an hour are survived.
        listener: Told of each fault that is survived.

    Attributes:
        counts: Faults by kind, and steps lost.
        starting: True until the first rollout is whole.
    """

    def __init__(self, limit_per_hour: int, listener: Callable[[Fault], None]):
        self.limit_per_hour = limit_per_hour
        self.listener = listener
        self.starting = True
        self._recent: deque[float] = deque()
        self.counts: dict[str, int] = dict.fromkeys((*KINDS, "steps_lost"), 0)

    def record(self, fault: Fault) -> None:
        """Counts a fault.

        Raises:
            WorkerCrashError: If there were more than the limit within the last hour, or too many before
                the first rollout, those of resuming aside.
        """
        self.counts[fault.kind] += 1
        self.counts["steps_lost"] += fault.steps_lost
        if fault.kind == DIVERGED:  # one per environment at a resume, never again
            self.listener(fault)
            return
        now = time.monotonic()
        self._recent.append(now)
        while now - self._recent[0] > _HOUR_S:
            self._recent.popleft()
        if self.starting and len(self._recent) > -(-self.limit_per_hour // AT_START):
            raise WorkerCrashError(
                f"{fault.what}; that is {len(self._recent)} faults before the first rollout was "
                "whole. Mend the environment.",
                fault.detail,
            )
        if len(self._recent) > self.limit_per_hour:
            raise WorkerCrashError(
                f"{fault.what}; that is {len(self._recent)} faults within an hour, more than "
                f"collect.max_faults_per_hour={self.limit_per_hour}. Mend the environment, or "
                "raise the limit; the same command goes on from the checkpoint.",
                fault.detail,
            )
        self.listener(fault)
