"""Motions of an arm towards postures, for oracles and for sense-plan-act skills alike.

Motions are generators of actions that are resumed once per step and return whether they succeeded.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from itertools import pairwise

import numpy as np

from rearrange.robot import RobotSpec
from rearrange.robot.actions import HOLD, LET_GO
from skills.oracle.descents import RISE_STEP

Actions = Generator[np.ndarray, None, bool]  # yields actions, returns whether the motion succeeded
# Of slides, all that is in radians here is in their units.
ARM_STEP = 0.0375  # [rad] per step, of a joint target
DESCENT_STEP = 0.012  # [m] per step of the hand near things
TARGET_LEAD = 0.15  # [rad], by which targets run ahead of joints at most, as in the simulator
SETTLE_STEPS, SETTLE_ERROR = 20, 0.015  # longest wait for the arm to arrive; what has arrived [rad]
STILL = 0.08  # [rad/s], joint speed that counts as standing still
CAUGHT_UP = 0.02  # [rad], gap between where targets should be and are


class Arm:
    """Moves an arm by what its owner senses, and remembers the joint targets exactly as the simulator does.

    Attributes:
        spec: The robot.
        step: How far a joint target moves per step, at most [rad].
        joints: Measured arm joints [J], rad.
        holding: Whether the gripper holds anything.
        speed: Of the fastest arm joint [rad/s].
        targets: Joint targets of the simulator [J], rad.
    """

    spec: RobotSpec
    step: float = ARM_STEP
    joints: np.ndarray
    holding: bool
    speed: float
    targets: np.ndarray
    _targets_known: bool  # those that were left behind are not part of what is sensed

    def command(
        self,
        arm: np.ndarray | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
        grip: float | None = None,
    ) -> np.ndarray:
        """One action [J + 3]; remembers the joint targets."""
        if arm is not None:
            most = self.step * self.spec.units
            arm = np.clip(arm, -most, most)
        if grip is None:
            grip = HOLD if self.holding else LET_GO
        layout = self.spec.actions
        action = layout.physical(arm, grip, forward, turn)
        measured, lead = self.joints, TARGET_LEAD * self.spec.units
        targets = np.clip(self.targets + action[layout.arm], measured - lead, measured + lead)
        self.targets = np.clip(targets, *self.spec.limits)
        return action

    def toward(
        self,
        posture: np.ndarray,
        grip: float | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
    ) -> np.ndarray:
        """One action of the arm towards a posture [J]."""
        return self.command(posture - self.targets, forward, turn, grip)

    def find_targets(self) -> Actions:
        """Once per use: learn the joint targets that were left behind, by letting the arm come to rest."""
        if not self._targets_known:
            for _ in range(SETTLE_STEPS):
                if self.speed < STILL:
                    break
                yield self.command()
            self.targets, self._targets_known = self.joints, True
        return True

    def follow(self, path: np.ndarray, settle: bool = True) -> Actions:
        """Move the arm along way points [K, J] that are joined by straight lines."""
        yield from self.find_targets()
        for first, second in pairwise(path):
            count = max(1, math.ceil(self.spec.swing(second - first) / self.step))
            for k in range(1, count + 1):
                reference = first + (second - first) * (k / count)
                yield self.toward(reference)
                for _ in range(3):  # the arm lags: let it catch up
                    if self.spec.swing(reference - self.targets) < CAUGHT_UP:
                        break
                    yield self.toward(reference)
        return (yield from self.settle(path[-1])) if settle else True

    def settle(self, goal: np.ndarray, still: bool = False) -> Actions:
        """Wait for the arm to arrive (and to stand still), and push if it does not; True if it did."""
        for k in range(SETTLE_STEPS):
            error = goal - self.joints
            near = self.spec.swing(error) < SETTLE_ERROR
            if near and (not still or self.speed < STILL):
                return True
            yield self.toward(goal) if k <= SETTLE_STEPS // 2 else self.command(0.3 * error)
        return self.spec.swing(goal - self.joints) < 3 * SETTLE_ERROR

    def slowly(self, heights: np.ndarray) -> list[np.ndarray]:
        """References [J] along postures RISE_STEP apart [K, J], at the speed of descents."""
        references = []
        least = math.ceil(RISE_STEP / DESCENT_STEP)
        for first, second in pairwise(heights):
            swing = self.spec.swing(second - first)
            count = max(least, math.ceil(swing / (0.7 * self.step)))
            references += [first + (second - first) * (k / count) for k in range(1, count + 1)]
        return references
