"""The body of the sense-plan-act skills: motions of arm and base by what was sensed.

Motions are generators of actions that are resumed once per step and return whether they
succeeded. All coordinates are in the start frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from skills.oracle.arm import Actions, Arm
from skills.oracle.arm_planner import plan_arm
from skills.oracle.base_planner import TURN_STEP
from skills.oracle.reach import ARM_MARGIN
from skills.spa.floor import SeenBasePlanner
from skills.spa.senses import NO_CYLINDERS, Senses

Plan = Callable[
    ["Robot", np.ndarray], Actions
]  # (robot, position it is told [3]) -> a skill's actions
CHECK_EVERY = 6  # steps from one look at the way ahead to the next
SLOW_STEP = 0.06  # [m] per step of the base with the arm stretched out
ARRIVED = 0.03  # [m, rad], gap to a drive's goal
LARGEST_DRIFT = 0.06  # [m, rad], from a drive's plan before it is made anew
REPLANS = 12
RECOVERY_RADIUS = 1.0  # [m]


class Robot(Senses, Arm):
    """Senses with a body."""

    def command(
        self,
        arm: np.ndarray | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
        grip: float | None = None,
    ) -> np.ndarray:
        """One action [J + 3]; remembers joint targets and where the base should get to."""
        self._wanted = advanced(self.base_pose, forward, turn)
        return super().command(arm, forward, turn, grip)

    def straight(self, length: float) -> Actions:
        """Drive straight by so many metres, slowly; False if the base did not follow."""
        if abs(length) < 1e-6:
            return True
        count = math.ceil(abs(length) / SLOW_STEP)
        goal = advanced(self.base_pose, length, 0.0)
        for _ in range(count):
            yield self.command(forward=length / count)
        return bool(np.abs(goal - self.base_pose)[:2].max() < ARRIVED)

    def turn(self, angle: float) -> Actions:
        """Turn on the spot [rad]."""
        count = math.ceil(abs(angle) / TURN_STEP)
        for _ in range(count):
            yield self.command(turn=angle / count)
        return True

    def drive_to(
        self, goal: Callable[[SeenBasePlanner], np.ndarray | None], daring: bool = False
    ) -> Actions:
        """Drive to a pose, planning anew as the map grows.

        Args:
            goal: Chooses the pose (x, y, yaw) [3] in the present map, None if there is none; asked
                again before each plan.
            daring: See SeenBasePlanner.
        """
        target = self.focus
        for _ in range(REPLANS):
            planner = self.base_planner(target, daring)
            pose = goal(planner)
            if pose is None:
                return False
            if gap(pose, self.base_pose) < ARRIVED:
                return True
            actions = planner.plan(self.base_pose, pose)
            if actions is None:
                return False
            if (yield from self._drive(actions, target, daring)):
                return True
        return False

    def _drive(self, actions: np.ndarray, target: np.ndarray, daring: bool) -> Actions:
        """Carry out base actions [K, 2]; False once the way is not as planned."""
        expected = self.base_pose
        for k, (forward, turn) in enumerate(actions):
            if k % CHECK_EVERY == CHECK_EVERY - 1:
                planner = self.base_planner(target, daring)
                if self._is_blocked(actions[k:], planner):
                    return False
            yield self.command(forward=float(forward), turn=float(turn))
            expected = advanced(expected, float(forward), float(turn))
            if gap(expected, self.base_pose) > LARGEST_DRIFT:
                return False
        return True

    def _is_blocked(self, actions: np.ndarray, planner: SeenBasePlanner) -> bool:
        """Whether something is in the way of the actions that are left [K, 2]."""
        pose = self.base_pose
        least = [min(slack, 0.0) - 0.02 for slack in planner.slack(pose)]
        for forward, turn in actions:
            pose = advanced(pose, float(forward), float(turn))
            base, arm = planner.slack(pose)
            if base < least[0] or arm < least[1]:
                return True
        return False

    def recover(self) -> Actions:
        """Forget what seems to be close by and look around, as nothing else helps."""
        self.seen.forget(self.base_pose, RECOVERY_RADIUS, 0.0, np.inf)
        self.seen.bumps[:] = False
        yield from self.turn(2 * math.pi)
        return True

    def fold(self) -> Actions:
        """Bring the arm back to rest, from farther away if it cannot be done here."""
        rest = np.array(self.spec.resting_arm)
        for attempt in range(3):
            base = self.base_pose
            boxes = self.obstacles(base).near(base[0], base[1], 1.4).boxes
            margin = ARM_MARGIN if attempt == 0 else 0.0
            world = base, self.spheres, boxes, NO_CYLINDERS
            path = plan_arm(self.spec, self.joints, rest, *world, margin)
            if path is not None:
                return (yield from self.follow(path))
            yield from self.straight(-0.2)
        return (yield from self.follow(np.array([self.joints, rest])))


def advanced(pose: np.ndarray, forward: float, turn: float) -> np.ndarray:
    """A base pose [3] after one action: the motion follows the mean heading."""
    heading = pose[2] + 0.5 * turn
    x, y = pose[0] + forward * math.cos(heading), pose[1] + forward * math.sin(heading)
    return np.array([x, y, math.remainder(pose[2] + turn, 2 * math.pi)])


def gap(first: np.ndarray, second: np.ndarray) -> float:
    """Largest difference of two base poses [3], m or rad."""
    turn = abs(math.remainder(first[2] - second[2], 2 * math.pi))
    return max(float(np.abs(first[:2] - second[:2]).max()), turn)
