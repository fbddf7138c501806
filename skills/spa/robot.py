"""The body of the sense-plan-act skills: motions of arm and base by what was sensed.

Motions are generators of actions that are resumed once per step and return whether they
succeeded. All coordinates are in the start frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from itertools import pairwise

import numpy as np

from rearrange.robot.actions import HOLD, LET_GO
from skills.oracle.arm_planner import plan_arm
from skills.oracle.descents import RISE_STEP
from skills.oracle.reach import ARM_MARGIN
from skills.spa.floor import SeenBasePlanner
from skills.spa.senses import NO_CYLINDERS, Senses

Actions = Generator[np.ndarray, None, bool]
Plan = Callable[
    ["Robot", np.ndarray], Actions
]  # (robot, position it is told [3]) -> a skill's actions
CHECK_EVERY = 6  # steps from one look at the way ahead to the next
ARM_STEP = 0.0375  # [rad] per step
DESCENT_STEP = 0.012  # [m] per step of the hand near things
SLOW_STEP = 0.06  # [m] per step of the base with the arm stretched out
TARGET_LEAD = 0.15  # [rad], as in the simulator's controller
SETTLE_STEPS, SETTLE_ERROR = 20, 0.015  # [rad]
STILL = 0.08  # [rad/s]
ARRIVED = 0.03  # [m, rad], gap to a drive's goal
LARGEST_DRIFT = 0.06  # [m, rad], from a drive's plan before it is made anew
REPLANS = 12
RECOVERY_RADIUS = 1.0  # [m]


class Robot(Senses):
    """Senses with a body."""

    def command(
        self,
        arm: np.ndarray | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
        grip: float | None = None,
    ) -> np.ndarray:
        """One action [J + 3]; remembers joint targets and where the base should get to."""
        if arm is not None:
            arm = np.clip(arm, -ARM_STEP, ARM_STEP)
        if grip is None:
            grip = HOLD if self.holding else LET_GO
        layout = self.spec.actions
        action = layout.physical(arm, grip, forward, turn)
        measured = self.joints
        targets = np.clip(
            self._targets + action[layout.arm], measured - TARGET_LEAD, measured + TARGET_LEAD
        )
        self._targets = np.clip(targets, *self.spec.limits)
        self._wanted = advanced(self.base_pose, forward, turn)
        return action

    def toward(
        self,
        posture: np.ndarray,
        grip: float | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
    ) -> np.ndarray:
        """One action of the arm towards a posture [J]."""
        return self.command(posture - self._targets, forward, turn, grip)

    def find_targets(self) -> Actions:
        """Once per skill: learn the joint targets that were left behind, at rest."""
        if not self._targets_known:
            for _ in range(SETTLE_STEPS):
                if self._speed < STILL:
                    break
                yield self.command()
            self._targets, self._targets_known = self.joints, True
        return True

    def follow(self, path: np.ndarray, settle: bool = True) -> Actions:
        """Move the arm along way points [K, J] that are joined by straight lines."""
        yield from self.find_targets()
        for first, second in pairwise(path):
            count = max(1, math.ceil(float(np.abs(second - first).max()) / ARM_STEP))
            for k in range(1, count + 1):
                reference = first + (second - first) * (k / count)
                yield self.toward(reference)
                for _ in range(3):  # the arm lags: let it catch up
                    if np.abs(reference - self._targets).max() < 0.02:
                        break
                    yield self.toward(reference)
        return (yield from self.settle(path[-1])) if settle else True

    def settle(self, goal: np.ndarray, still: bool = False) -> Actions:
        """Wait for the arm to arrive (and to stand still), and push if it does not."""
        for k in range(SETTLE_STEPS):
            error = goal - self.joints
            near = np.abs(error).max() < SETTLE_ERROR
            if near and (not still or self._speed < STILL):
                return True
            yield self.toward(goal) if k <= SETTLE_STEPS // 2 else self.command(0.3 * error)
        return bool(np.abs(goal - self.joints).max() < 3 * SETTLE_ERROR)

    def slowly(self, heights: np.ndarray) -> list[np.ndarray]:
        """References [J] along postures RISE_STEP apart [K, J], at the speed of descents."""
        references = []
        for first, second in pairwise(heights):
            swing = float(np.abs(second - first).max())
            least = math.ceil(RISE_STEP / DESCENT_STEP)
            count = max(least, math.ceil(swing / (0.7 * ARM_STEP)))
            references += [first + (second - first) * (k / count) for k in range(1, count + 1)]
        return references

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
        count = math.ceil(abs(angle) / 0.0833)
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
        target = self._focus
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
