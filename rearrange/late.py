"""Observations that come late, as those of a robot whose camera and computer take their time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from rearrange.errors import UserError

Observation = dict[str, np.ndarray]


class LateObservations:
    """What policies see of N worlds, some steps after it was there.

    Until an episode is older than the delay, its start is seen. Nothing is looked at without need: with
    a delay of 0 only what is asked for, otherwise every step once.

    Args:
        delay: Steps of 1/30 s; 0 shows what is there now.
        look: Observations of the present state [N, ...], fresh arrays.
    """

    def __init__(self, delay: float, look: Callable[[], Observation]) -> None:
        """See the class.

        Raises:
            UserError: The delay is no whole number of steps, or negative.
        """
        if delay < 0 or delay != int(delay):
            raise UserError(f"task.action.delay must be a whole number from 0, not {delay}")
        self.delay = int(delay)
        self._look = look
        self._seen: deque[Observation] = deque(maxlen=self.delay + 1)  # the oldest first
        self._begun: list[int] = []  # worlds whose start has not been seen yet

    def begin(self, i: int) -> None:
        """World i is in a new episode: what was seen before is forgotten."""
        if self.delay:
            self._begun.append(i)

    def before_step(self) -> None:
        """Look at the worlds that have begun and were not asked for since."""
        if self.delay:
            self._see_starts()

    def after_step(self) -> None:
        """Remember what is there after a step."""
        if self.delay:
            self._seen.append(self._look())

    def observe(self) -> Observation:
        """What policies see now [N, ...]; fresh arrays."""
        if not self.delay:
            return self._look()
        self._see_starts()
        return {key: value.copy() for key, value in self._seen[0].items()}

    def _see_starts(self) -> None:
        if not self._begun:
            return
        start = self._look()
        while len(self._seen) <= self.delay:
            self._seen.append({key: value.copy() for key, value in start.items()})
        for past in self._seen:
            for key, value in start.items():
                past[key][self._begun] = value[self._begun]
        self._begun = []
