"""Early ends of rollouts: all ranks learn rather than wait for the slowest one.

Ranks average their gradients, so they learn together, and a rank whose rollout is full waits for
the others. Two rules end rollouts early: the one of the VER paper (section 2.3), which maximises
the expected steps per second, and DD-PPO's, which waits for a fixed share of the ranks. A rollout
that ended early is filled up with stale steps (see `ver.rollout`).

The main process of each rank asks `due()` between two batches, so it makes no difference how many
inference processes there are.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ver.config import DistributedConfig
from ver.distributed import SingleProcess
from ver.rollout import RolloutBuffer

_BIN_S = 0.005  # resolution of the end time
_MAX_BINS = 4000  # longer rollouts get wider bins
_LEARNING_WINDOW = 5  # rollouts over which learning times are averaged
_RATE_WINDOW = 5  # rollouts over which step times are: 5 T steps of an environment, on average
_ERROR_WINDOW = 16  # rollouts over which the error of the plan is
_POLL_S = 0.02  # seconds between looks at how many ranks are done
_trainings = itertools.count()  # of this process, in the same order on all ranks


class Preemption:
    """Never ends a rollout early."""

    def begin(self) -> None:
        """Called when this rank starts to collect."""

    def due(self) -> bool:
        """Returns whether to end the rollout now."""
        return False

    def end(self, full: bool) -> None:
        """Called when this rank has stopped collecting, and whether it got all its steps."""

    def report(self, learning_s: float) -> dict[str, Any]:
        """Returns what all ranks should know of this one after a rollout.

        Args:
            learning_s: How long it has learned from it.
        """
        return {}

    def observe(self, reports: Sequence[dict[str, Any]]) -> None:
        """Takes the reports of all ranks, by rank, into account."""


class OptimalPreemption(Preemption):
    """Ends all rollouts at the moment that maximises S / (Time(S) + LT).

    S is the number of steps that all ranks have collected together, LT the time that learning
    takes. Environments are expected to be as fast as they were over the last rollouts, waiting for
    inference included. All ranks make the same plan from the same reports, and count its seconds
    from their own start, which the exchange of reports has aligned: clocks are not compared.

    Args:
        buffer: This rank's rollout.

    Attributes:
        planned_s: When the coming rollout is to end, seconds after its start; infinite before
            anything is known.
    """

    def __init__(self, buffer: RolloutBuffer):
        self.buffer = buffer
        self.planned_s = math.inf
        self._started = 0.0
        self._seconds: deque[float] = deque(maxlen=_RATE_WINDOW)
        self._counts: deque[np.ndarray] = deque(maxlen=_RATE_WINDOW)
        self._learning: deque[float] = deque(maxlen=_LEARNING_WINDOW)
        self._errors: deque[float] = deque(maxlen=_ERROR_WINDOW)

    def begin(self) -> None:
        """Starts the clock."""
        self._started = time.perf_counter()

    def due(self) -> bool:
        """Returns whether the planned end has come."""
        return time.perf_counter() - self._started >= self.planned_s

    def end(self, full: bool) -> None:
        """Notes how many steps each environment has made, and in what time."""
        buffer = self.buffer
        slots = buffer.free[: buffer.pointer[0]]
        counts = np.bincount(buffer.environments[slots], minlength=buffer.num_environments)
        self._seconds.append(time.perf_counter() - self._started)
        self._counts.append(counts)

    def report(self, learning_s: float) -> dict[str, Any]:
        """Returns steps per second of the environments, and how long the phases took."""
        rates = np.sum(self._counts, axis=0) / sum(self._seconds)
        return {
            "rates": rates.tolist(),
            "limit": self.buffer.length * self.buffer.num_environments,
            "collecting_s": self._seconds[-1],
            "learning_s": learning_s,
        }

    def observe(self, reports: Sequence[dict[str, Any]]) -> None:
        """Plans the end of the next rollout."""
        self._learning.append(max(report["learning_s"] for report in reports))
        if math.isfinite(self.planned_s):
            took = max(report["collecting_s"] for report in reports)
            self._errors.append(took - self.planned_s)
        # Ranks that were all done before the plan do not make the next one look cheaper.
        error = max(0.0, float(np.mean(self._errors))) if self._errors else 0.0
        self.planned_s = best_end(
            [np.asarray(report["rates"]) for report in reports],
            [report["limit"] for report in reports],
            float(np.mean(self._learning)) + error,
        )


class FixedFractionPreemption(Preemption):
    """Ends the rollouts of all others once a fixed share of the ranks has finished its own.

    Args:
        group: The ranks.
        fraction: The share.
        training: Which one of those that share the ranks' counters.
    """

    def __init__(self, group: SingleProcess, fraction: float, training: int = 0):
        self.group = group
        self._training = training
        # A hair less, so that 0.6 of 5 is 3.
        self.enough = max(1, math.ceil(fraction * group.size - 1e-9))
        self._rollout = 0
        self._polled_at = 0.0

    def begin(self) -> None:
        """Tidies up: by now every rank has left the rollout before the last."""
        if self.group.main and self._rollout > 1:
            self.group.forget_counter(self._name(self._rollout - 2))

    def due(self) -> bool:
        """Returns whether enough ranks are full; looks now and then."""
        now = time.monotonic()
        if now - self._polled_at < _POLL_S:
            return False
        self._polled_at = now
        return self.group.count(self._name(self._rollout), 0) >= self.enough

    def end(self, full: bool) -> None:
        """Counts this rank, unless it was itself ended early."""
        if full:
            self.group.count(self._name(self._rollout), 1)
        self._rollout += 1

    def _name(self, rollout: int) -> str:
        return f"full/{self._training}/{rollout}"


def best_end(rates: Sequence[np.ndarray], limits: Sequence[int], fixed_s: float) -> float:
    """Returns the time t that maximises S(t) / (t + fixed), where S(t) is what is collected by t.

    An environment completes a step every 1 / rate seconds; a rank stops at its limit. Times are
    tried in bins of 5 ms, to beyond where every rank is full, and so are the moments at which a
    rank is.

    Args:
        rates: Steps per second of each environment, [N] for each rank.
        limits: Most steps that each rank can use.
        fixed_s: Time per rollout that does not depend on t: learning, and the plan's usual error.

    Returns:
        Seconds, infinite if nobody collects anything.
    """
    totals = [float(rate.sum()) for rate in rates]
    fills = [limit / all_ for all_, limit in zip(totals, limits, strict=True) if all_ > 0]
    if not fills:
        return math.inf
    # Nobody delivers a fraction of a step, so a rank of n environments may lack n steps by then.
    longest = max(
        (limit + len(rate)) / all_
        for rate, all_, limit in zip(rates, totals, limits, strict=True)
        if all_ > 0
    )
    bins = min(_MAX_BINS, math.ceil(longest / _BIN_S))
    times = np.union1d(np.linspace(longest / bins, longest, bins), fills)
    steps = np.zeros(len(times))
    for rate, limit in zip(rates, limits, strict=True):
        steps += np.minimum(np.floor(times[:, None] * rate + 1e-9).sum(1), limit)
    return float(times[np.argmax(steps / (times + fixed_s))])


def make_preemption(
    config: DistributedConfig, group: SingleProcess, buffer: RolloutBuffer
) -> Preemption | None:
    """Builds what `config.preemption` names; None where rollouts always run full."""
    if group.size == 1 or config.preemption == "none":
        return None
    if config.preemption == "fixed":
        return FixedFractionPreemption(group, config.sync_fraction, next(_trainings))
    return OptimalPreemption(buffer)
