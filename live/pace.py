"""Pause, single steps, slow motion and the next episode."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

WAIT = 0.05  # [s] between looks while paused


class NextEpisode(Exception):  # noqa: N818 - no error: it leaves the episode
    """Somebody asked for another episode."""


class Pace:
    """Decides when a step may follow the last; the page's buttons call it from other threads.

    Attributes:
        speed: Of the world, 1 being real time.
        paused: Whether nothing goes on.
        step_time: Of a step [s].
    """

    def __init__(
        self,
        step_time: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Go at real time.

        Args:
            step_time: Of a step [s].
            clock: Tells the time [s].
            sleep: Waits so long [s].
        """
        self.speed, self.paused, self.step_time = 1.0, False, step_time
        self._clock, self._sleep = clock, sleep
        self._due = clock()
        self._single, self._leave = threading.Event(), threading.Event()
        self._asked: int | None = None  # which episode, where somebody asked for one

    def step_once(self) -> None:
        """Let one step pass though it is paused."""
        self._single.set()

    def leave(self, number: int | None = None) -> None:
        """Leave the episode at its next step.

        Args:
            number: Of the episode that follows; None: the next.
        """
        self._asked = number
        self._leave.set()

    def wait(self) -> None:
        """Wait until the next step is due.

        Raises:
            NextEpisode: The episode is to be left.
        """
        while self.paused and not self._single.is_set() and not self._leave.is_set():
            self._sleep(WAIT)
            self._due = self._clock()
        self._single.clear()
        self._leave_if_asked()
        self._due = max(self._due + self.step_time / self.speed, self._clock() - self.step_time)
        ahead = self._due - self._clock()
        if ahead > 0.0:
            self._sleep(ahead)

    def hold(self, seconds: float) -> None:
        """Let the last picture stand for a while, and as long as it is paused.

        Raises:
            NextEpisode: The episode is to be left.
        """
        until = self._clock() + seconds
        while (self.paused and not self._single.is_set()) or self._clock() < until:
            self._leave_if_asked()
            self._sleep(WAIT)
        self._single.clear()
        self._leave_if_asked()

    def following(self, number: int) -> int:
        """The episode after one that is over: what was asked for, once, or the next."""
        self._leave.clear()  # somebody may have asked after the last look
        asked, self._asked = self._asked, None
        return number + 1 if asked is None else asked

    def _leave_if_asked(self) -> None:
        if self._leave.is_set():
            self._leave.clear()
            raise NextEpisode
