"""Postures of a robot that its YAML file does not give, and how far it gets, by inverse kinematics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rearrange.robot.files.planning import OwnBody, clearances, place, random_postures
from rearrange.robot.kinematics import solve_ik
from rearrange.robot.planning import PlanningModel
from rearrange.robot.spec import Reach, RobotSpec

DOWN, AHEAD = (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)
SEEDS = 24  # postures from which the resting one is looked for
GOOD = 0.005  # [m], error of a posture that will do
CLEAR = 0.02  # [m], from the robot's own body
ROOM = 0.3  # [rad] to the next limit that is worth having
MOST_POSTURES = 5
APART = 0.8  # [rad], by which postures differ
THINGS, HANDLES = (0.45, 0.75, 0.95), (0.6, 0.9)  # heights of both [m]
DISTANCES = np.arange(0.35, 1.36, 0.05)  # [m]
NEARER, STANDING = 0.05, (0.45, 0.85)  # [m], than the farthest place that it reaches; ours stand so
ASIDE = 0.58  # share of what is ahead


class Poser:
    """Finds postures.

    Args:
        robot: Whose arm.
        model: Its spheres.
        body: What they must not meet.
    """

    def __init__(self, robot: RobotSpec, model: PlanningModel, body: OwnBody) -> None:
        """Prepare seeds."""
        self.robot, self.model, self.body = robot, model, body
        middle = np.clip(np.zeros(len(robot.joints)), *robot.limits)
        finite = np.isfinite(robot.limits).all(axis=0)
        middle[finite] = robot.limits[:, finite].mean(axis=0)
        low, high = robot.limits
        self.seeds = [np.clip(np.zeros(len(middle)), low, high), middle]
        self.seeds += list(random_postures(robot, SEEDS, 2))

    def clearance(self, joints: np.ndarray) -> float:
        """How far the arm is from the robot's own body and the floor [m]."""
        wary = self.model.spheres[:, 0] >= self.model.first_wary_link
        return float(clearances(self.robot, self.model, self.body, joints)[wary].min())

    def merit(self, joints: np.ndarray) -> float:
        """What a posture is worth: room to limits and body, little width."""
        low, high = self.robot.limits
        room = float((np.minimum(joints - low, high - joints) / self.robot.units).min())
        aside = float(np.abs(place(self.robot, self.model, joints)[:, 1]).max())
        return min(room, ROOM) + 5.0 * min(self.clearance(joints), CLEAR) - 0.5 * aside

    def all_at(
        self, tip: Sequence[float], direction: Sequence[float] | None, seeds: int
    ) -> Iterator[tuple[np.ndarray, float]]:
        """Postures [J] with the tip at a place, the cup in a direction, and their errors [m]."""
        for seed in self.seeds[:seeds]:
            yield solve_ik(
                self.robot, tuple(tip), None if direction is None else tuple(direction), seed,
                restarts=0,
            )  # fmt: skip

    def resting(self, tip: Sequence[float]) -> tuple[np.ndarray, float]:
        """The best posture with the tip there, pointing down if that can be, and its error [m]."""
        best, error = self.seeds[0], math.inf
        for direction in (DOWN, None):
            found = list(self.all_at(tip, direction, len(self.seeds)))
            good = [joints for joints, off in found if off < GOOD]
            clear = [joints for joints in good if self.clearance(joints) > CLEAR]
            if clear or good:
                joints = max(clear or good, key=self.merit)
                return joints, 0.0
            if min(off for _, off in found) < error:
                best, error = min(found, key=lambda each: each[1])
        return best, error

    def postures(self, distance: float) -> tuple[tuple[float, ...], ...]:
        """Where searches begin, beside the resting arm: hands down and ahead, at a distance [m]."""
        found: list[np.ndarray] = []
        for height, direction in ((0.55, DOWN), (0.9, DOWN), (0.9, AHEAD), (0.55, AHEAD)):
            for joints, error in self.all_at((distance, 0.0, height), direction, 10):
                if error < GOOD and self.clearance(joints) > CLEAR / 2:
                    found.append(joints)
        chosen = [np.asarray(self.robot.resting_arm)]
        for joints in sorted(found, key=self.merit, reverse=True):
            if len(chosen) <= MOST_POSTURES and all(
                self.robot.swing(joints - each) > APART for each in chosen
            ):
                chosen.append(joints)
        return tuple(tuple(float(value) for value in each) for each in chosen[1:])

    def reaches(self, distance: float, height: float, direction: Sequence[float]) -> bool:
        """Whether the tip gets to a place straight ahead with the cup in a direction."""
        near = [np.asarray(self.robot.resting_arm)]
        for seed in near + self.seeds[:6]:
            joints, error = solve_ik(
                self.robot, (distance, 0.0, height), tuple(direction), seed, restarts=0
            )
            if error < 2 * GOOD and self.clearance(joints) > 0.0:
                return True
        return False

    def farthest(self, heights: Sequence[float], direction: Sequence[float]) -> float:
        """The farthest of the distances at which it reaches all these heights [m]; 0: none."""
        for distance in DISTANCES[::-1]:
            if all(self.reaches(float(distance), height, direction) for height in heights):
                return float(distance)
        return 0.0

    def reach(self, mount: Sequence[float]) -> Reach:
        """How far the robot gets; the trunk is seen from where the arm is mounted [3], m."""
        standing = self.farthest(THINGS, DOWN)
        ahead = max(self.farthest((height,), AHEAD) for height in HANDLES)
        trunk = max(
            math.hypot(x - mount[0], y - mount[1]) + radius for x, y, radius in self.model.trunk
        )
        wary = self.model.spheres[:, 0] >= self.model.first_wary_link
        thickest = float(self.model.spheres[wary, 4].max())
        return Reach(
            ahead=max(ahead, standing) + NEARER,
            aside=ASIDE * max(ahead, standing),
            standing=float(np.clip(standing - NEARER, *STANDING)),
            trunk_radius=trunk + 0.03,
            arm_radius=thickest + 0.06,
        )
