"""Open and close drawers and doors with privileged state.

Opening: stage, unfold, drive up until the cup touches the handle, hold it, move the base with the
part, let go, back out, fold. Drawers are closed the same way, but pushed; the door is swept shut by
the arm in one posture.
"""

from __future__ import annotations

import numpy as np

from rearrange.robot.actions import HOLD, LET_GO
from rearrange.sim.base import NOTHING
from skills.oracle.handle_oracle import HandleOracle, open_grasp, sweeps
from skills.oracle.handle_planner import RETREAT, Grasp
from skills.oracle.oracle import ATTEMPTS, Actions

CLOSED = 0.02  # [rad, m]
# The base is teleported, which contacts do not see as a velocity: what it pushes sinks in by its
# speed times 0.1 s, and beyond some 4 cm the hand comes out at the back of a handle.
PUSH = 0.011  # [m per action] of a hand that pushes a drawer
PUSH_GAIN = 0.003  # [m per action], change of that speed from one action to the next
COAST = 8  # actions, longest wait for the door to swing shut
BACK = 0.1  # [m] from the closed door
WAIT = 15  # actions, longest wait for a held part to come to rest before it is let go
STILL = 0.003  # [m per action], motion of the handle that counts as rest


class OpenOracle(HandleOracle):
    """Opens a drawer or a door by its handle and brings the hand back to rest."""

    @property
    def _is_open(self) -> bool:
        return self.opening >= self.fixture.part.opened_least

    def _run(self) -> Actions:
        if self.held != NOTHING:
            self.failure = "open: the hand is full"
            return False
        for attempt in range(ATTEMPTS):
            if self._is_open:
                break
            planner = self.handle_planner()
            grasp, end = open_grasp(planner, self.base_pose, attempt)
            if grasp is None:
                self.failure = "open: no reach"
                continue
            if not (yield from self._unfold_at(planner, grasp)):
                self.failure = "open: no way"
                yield from self._fold(NOTHING)
                continue
            if (yield from self._take(grasp)):
                yield from self._pull(grasp, end)
            yield from self._leave(grasp)
            yield from self._fold(NOTHING)
        if self._is_open and (yield from self._fold(NOTHING)):
            self.failure = ""
            return True
        self.failure = self.failure or "open: gave up"
        return False

    def _take(self, grasp: Grasp) -> Actions:
        """Drive up to the handle and hold it; True if it is held."""
        touched = yield from self._ride(
            grasp, self.opening - self._slack(), LET_GO, until=lambda: self.touches_handle
        )
        for _ in range(2):
            if touched and not self.holds_handle:
                yield self.command(grasp.unfold[-1] - self.targets, grip=HOLD)
        if not self.holds_handle:
            self.failure = "open: no contact"
        return self.holds_handle

    def _pull(self, grasp: Grasp, end: float) -> Actions:
        """Move the part with the base and let go of it."""
        yield from self._ride(
            grasp,
            min(end + self._slack(), self.fixture.range[1] + self._slack()),
            HOLD,
            until=lambda: self.opening >= end or not self.holds_handle,
        )
        # The arm is a spring: a part that is let go while it swings would go on swinging.
        still = 0
        for _ in range(WAIT):
            before = self.fixture.handle(self.opening)
            yield self.command(grasp.unfold[-1] - self.targets, grip=HOLD)
            moved = np.abs(self.fixture.handle(self.opening) - before).max()
            still = still + 1 if moved < STILL else 0
            if still == 3:
                break
        if not self._is_open:
            self.failure = "open: lost the handle"
        return self._is_open

    def _leave(self, grasp: Grasp) -> Actions:
        """Let go and take the hand off the handle."""
        yield self.command(grip=LET_GO)
        away = max(self.opening, self._progress(grasp)) + RETREAT[self.fixture.is_door]
        yield from self._ride(grasp, away, LET_GO)
        return True


class CloseOracle(HandleOracle):
    """Pushes a drawer or a door shut and brings the hand back to rest.

    The door is swept shut with the arm at rest if that can be planned; else, as drawers always are,
    it is pushed by its handle.
    """

    @property
    def _is_closed(self) -> bool:
        return self.opening <= CLOSED

    def _run(self) -> Actions:
        for attempt in range(ATTEMPTS):
            if self._is_closed:
                break
            if self.fixture.is_door and (yield from self._sweep()):
                continue
            planner = self.handle_planner()
            grasp = planner.find(self.base_pose, 0.0, attempt)
            if grasp is None:
                self.failure = "close: no reach"
                continue
            if (yield from self._unfold_at(planner, grasp)):
                yield from self._push(grasp)
            else:
                self.failure = "close: no way"
            yield from self._fold(self.held)
        if self._is_closed and (yield from self._fold(self.held)):
            self.failure = ""
            return True
        self.failure = self.failure or "close: gave up"
        return False

    def _push(self, grasp: Grasp) -> Actions:
        """Push the part shut by its handle and take the hand off it."""
        touched = self.opening - self._slack()
        yield from self._ride(grasp, touched, LET_GO, until=lambda: self.touches_handle)
        yield from self._ride(
            grasp, -self._slack(), LET_GO, PUSH, PUSH_GAIN, until=lambda: self._is_closed
        )
        away = self._progress(grasp) + RETREAT[self.fixture.is_door]
        yield from self._ride(grasp, away, LET_GO)
        return self._is_closed

    def _sweep(self) -> Actions:
        """Push the door shut with the arm in one posture; False if that cannot be planned."""
        for posture, farthest in sweeps(self.spec, self.fixture.door):
            actions = self.sweep_plan(self.base_pose, posture, farthest)
            if actions is None:
                continue
            path = self._way_to(posture)
            if path is None:
                continue
            yield from self.find_targets()
            if len(path) > 2 or self.spec.swing(posture - self.spec.resting_arm) > 0.0:
                yield from self.follow(path)
            yield from self._drive_with(actions, posture)
            return True
        return False

    def _drive_with(self, actions: np.ndarray, posture: np.ndarray) -> Actions:
        """Base actions [K, 2] until the door is closed, the arm kept in a posture, and back a little."""
        for forward, turn in actions:
            if self._is_closed:
                break
            yield self.command(posture - self.targets, float(forward), float(turn))
        for _ in range(COAST):
            if self._is_closed:
                break
            yield self.command(posture - self.targets)
        return (yield from self._straight(-BACK))
