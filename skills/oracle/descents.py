"""Postures of the arm on the way up from a target, before anything but the arm is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import forward, solve_ik
from skills.oracle.collision import planning_of

RISE_STEP = 0.02  # [m]
LARGEST_RISE = 0.24  # [m]
SMALL_JUMP = 0.15  # [rad], between neighbouring heights: the hand stays on its line
LARGEST_SWING = 0.006  # [m]
SAME_POSTURE = 0.2  # [rad], below which two postures count as one
# Limits of a way (error, rise, jump, see there): exact and smooth, then less so.
EXACT, SHORT, LOOSE = (3e-3, 0.06, 0.15), (1.2e-2, 0.04, 0.15), (1.2e-2, 0.04, 0.6)


@dataclass(frozen=True)
class Aim:
    """What of the hand has to come where, and which way it has to look.

    Attributes:
        point: Point of the hand that comes to the target, end-effector frame [3], m.
        axis: Axis whose direction matters, end-effector frame [3].
        direction: Its wanted direction, base frame [3].
        height: Height of the point over the target [m].
    """

    point: np.ndarray
    axis: np.ndarray
    direction: tuple[float, float, float]
    height: float = 0.0


@dataclass(frozen=True)
class Way:
    """Aims of equal merit and what their approach may be like.

    Attributes:
        aims: To be tried in this order.
        error: Largest error of the inverse kinematics [m].
        rise: Least height from which to come down [m].
        jump: Largest change of a joint between neighbouring heights [rad].
        thorough: False where there are so many aims that a cursory look at each has to do.
    """

    aims: tuple[Aim, ...]
    error: float
    rise: float
    jump: float
    thorough: bool = True


class Descents:
    """Descents onto a target at a known height, straight ahead of the base; solved once each."""

    def __init__(self, robot: RobotSpec, ways: tuple[Way, ...], target_height: float) -> None:
        """Prepare for these ways onto a target at a height over the floor [m]."""
        self.robot, self.ways, self.target_height = robot, ways, target_height
        self._known: dict[tuple[int, int, float], tuple[np.ndarray, ...]] = {}
        self._reached: dict[tuple[int, float], list[tuple[np.ndarray, float]]] = {}

    def of(self, way: int, aim: int, distance: float) -> tuple[np.ndarray, ...]:
        """Postures from the target upwards, RISE_STEP apart [K, J] each, rad.

        Args:
            way: Index of the way.
            aim: Index of one of its aims.
            distance: From the base to the target [m].
        """
        key = (way, aim, distance)
        if key not in self._known:
            chosen = self.ways[way]
            self._known[key] = tuple(self._solve_all(chosen, chosen.aims[aim], distance))
        return self._known[key]

    def _solve_all(self, way: Way, aim: Aim, distance: float) -> list[np.ndarray]:
        position = np.array([distance, 0.0, self.target_height + aim.height])
        found: list[np.ndarray] = []
        for contact, error in self._contacts(way, aim, position):
            if error > way.error:
                continue
            if any(self.robot.swing(contact - other[0]) < SAME_POSTURE for other in found):
                continue
            heights = _rise(self.robot, way, aim, position, contact)
            if (len(heights) - 1) * RISE_STEP >= way.rise - 1e-6:
                found.append(heights)
        return found

    def _contacts(self, way: Way, aim: Aim, position: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Postures [J] at the target and their errors [m]; ways with other limits share them."""
        key = (id(aim), float(position[0]))
        if key not in self._reached:
            model = planning_of(self.robot)
            reach = model.length + float(np.linalg.norm(aim.point))
            if math.dist(position, model.shoulder) > reach:
                self._reached[key] = []
            else:
                restarts = 2 if way.thorough else 0
                self._reached[key] = [
                    _solve(self.robot, aim, position, np.array(seed), restarts)
                    for seed in (self.robot.resting_arm, *model.postures)
                ]
        return self._reached[key]


def _solve(
    robot: RobotSpec, aim: Aim, position: np.ndarray, seed: np.ndarray, restarts: int
) -> tuple[np.ndarray, float]:
    return solve_ik(
        robot,
        position,
        aim.direction,
        seed,
        axis=aim.axis,
        point=aim.point,
        restarts=restarts,
        tolerance=1e-3,
    )


def _rise(
    robot: RobotSpec, way: Way, aim: Aim, position: np.ndarray, contact: np.ndarray
) -> np.ndarray:
    """Postures straight up from the contact as far as the arm goes [K, J]."""
    heights = [contact]
    for k in range(1, round(LARGEST_RISE / RISE_STEP) + 1):
        above = position + np.array([0.0, 0.0, k * RISE_STEP])
        joints, error = _solve(robot, aim, above, heights[-1], restarts=0)
        if error > way.error or _swings(robot, aim, heights[-1], joints, way.jump):
            break
        heights.append(joints)
    return np.array(heights)


def _swings(
    robot: RobotSpec, aim: Aim, lower: np.ndarray, upper: np.ndarray, largest: float
) -> bool:
    """True if the hand would leave the straight line between two neighbouring heights."""
    jump = robot.swing(upper - lower)
    if jump <= SMALL_JUMP:
        return False
    points = [
        position + rotation @ aim.point
        for position, rotation in (forward(robot, q) for q in (lower, (lower + upper) / 2, upper))
    ]
    off = float(np.linalg.norm(points[1] - (points[0] + points[2]) / 2))
    return jump > largest or off > LARGEST_SWING
