"""Backing off: what navigation stacks do where the base is driven and does not go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rearrange.robot import RobotSpec

STUCK_STEPS = 10  # of 1/30 s that the base has not gone, until it is stuck
BACK_STEPS = 6  # that it then drives the other way
BACK = 0.05  # in each of them [m]
DRIVEN = 0.01  # in a step, at least, of a base that is driven [m]
GONE = 0.25  # share of that which it goes at least where it is not held up


class BackOff:
    """Watches one drive, by odometry; frees the base where something holds it up."""

    def __init__(self, robot: RobotSpec) -> None:
        """Begin with a base that was not driven."""
        self._forward, self._turn = robot.actions.forward, robot.actions.turn
        self._pose: Sequence[float] | None = None
        self._driven = 0.0  # in the last step [m]
        self._stuck = self._back = 0  # steps: held up until now; still to drive back
        self._side = 1.0  # of the drive that was held up

    def change(self, pose: Sequence[float], action: np.ndarray) -> np.ndarray:
        """Return the action, or a base's that drives back.

        Args:
            pose: Of the base now, by odometry: x, y [m], yaw [rad].
            action: What the skill asks for, in the simulator's units.
        """
        self._watch(pose)
        changed = action
        if self._back > 0:
            self._back -= 1
            changed = action.copy()
            changed[self._forward] = -self._side * BACK
            changed[self._turn] = 0.0
        self._pose, self._driven = tuple(pose), float(changed[self._forward])
        return changed

    def _watch(self, pose: Sequence[float]) -> None:
        """Count how long the base has been held up; begin to drive back where that is long enough."""
        held_up = False
        if self._pose is not None and abs(self._driven) > DRIVEN:
            gone = np.hypot(pose[0] - self._pose[0], pose[1] - self._pose[1])
            held_up = bool(gone < GONE * abs(self._driven))
        self._stuck = self._stuck + 1 if held_up and self._back == 0 else 0
        if self._stuck == STUCK_STEPS:
            self._side = float(np.sign(self._driven))
            self._stuck, self._back = 0, BACK_STEPS
