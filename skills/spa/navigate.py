"""Navigate by sensing: drive over the map to where the target is in front of the robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rearrange.navigation import distance_field
from skills.oracle.base_planner import FORWARD_STEP
from skills.spa.depth import eye_of
from skills.spa.floor import SeenBasePlanner
from skills.spa.robot import Actions, Robot

DISTANCES = (0.75, 0.85, 0.95, 1.1, 1.3, 1.5, 1.8)  # base to target, horizontal [m]
BEST_DISTANCE = 0.85  # [m]
BEARINGS = 36
LEAST_CLEARANCE = 0.33  # [m]
HIDDEN = 120.0  # steps that a pose may be farther away from which the target is not hidden
NEARBY = 4.0  # [m], a short drive
VEIL, SIGHT_STEP = 0.3, 0.04  # [m], around the target what hides it does not count


def navigate(robot: Robot, target: np.ndarray) -> Actions:
    """Drive to a pose that faces a target [3]; the arm stays as it is."""
    for attempt in range(3):
        if attempt == 1:
            yield from robot.recover()
        if (yield from robot.drive_to(facing(robot, target), daring=attempt == 2)):
            return True
    robot.failure = "navigate: no way"
    return False


def facing(
    robot: Robot,
    target: np.ndarray,
    distances: Sequence[float] = DISTANCES,
    bearing: float | None = None,
    nearby: bool = False,
) -> Callable[[SeenBasePlanner], np.ndarray | None]:
    """Chooser of the cheapest pose that faces a target [3] and can be reached in the map.

    Args:
        robot: Who drives.
        target: Start frame [3], m.
        distances: To the target, horizontal [m].
        bearing: Direction in which the pose shall lie, seen from the target [rad]; None for any.
        nearby: Only poses within a short drive from which nothing hides the target.
    """
    kept: list[np.ndarray] = []

    def choose(planner: SeenBasePlanner) -> np.ndarray | None:
        # An earlier choice that still holds is kept: else the robot might waver between two.
        if kept and fits(planner, kept[0]):
            return kept[0]
        pose = best_pose(planner, robot.base_pose, target, distances, bearing, nearby)
        kept[:] = [] if pose is None else [pose]
        return pose

    return choose


def fits(planner: SeenBasePlanner, pose: np.ndarray) -> bool:
    """Whether base and arm have room at a pose [3] that the robot can get to."""
    return planner.is_free(pose) and planner.grid.on_island(float(pose[0]), float(pose[1]))


def best_pose(
    planner: SeenBasePlanner,
    start: np.ndarray,
    target: np.ndarray,
    distances: Sequence[float],
    bearing: float | None = None,
    nearby: bool = False,
) -> np.ndarray | None:
    """The cheapest pose [3] that faces the target [3], None if there is none; see `facing`."""
    field = distance_field(planner.grid, (float(start[0]), float(start[1])))
    best, least = None, math.inf
    for distance in distances:
        for k in range(BEARINGS):
            yaw = 2 * math.pi * k / BEARINGS
            if (
                bearing is not None
                and abs(math.remainder(yaw - bearing - math.pi, 2 * math.pi)) > 0.5
            ):
                continue
            x = float(target[0]) - distance * math.cos(yaw)
            y = float(target[1]) - distance * math.sin(yaw)
            clearance = planner.grid.clearance_at(x, y)
            if clearance < LEAST_CLEARANCE:
                continue
            away = field.at(x, y)
            if nearby and away > NEARBY:
                continue
            turn = abs(math.remainder(yaw - start[2], 2 * math.pi)) if away < 1.5 else 0.0
            cost = away / FORWARD_STEP + 6.0 * turn + 60.0 * abs(distance - BEST_DISTANCE)
            cost -= 40.0 * min(clearance - 0.3, 0.2)
            pose = np.array([x, y, math.remainder(yaw, 2 * math.pi)])
            if cost < least and is_hidden(planner, pose, target):
                cost += math.inf if nearby else HIDDEN
            if cost < least and fits(planner, pose):
                best, least = pose, cost
    return best


def is_hidden(planner: SeenBasePlanner, pose: np.ndarray, target: np.ndarray) -> bool:
    """Whether something that was seen stands between the camera at a base pose and a target [3]."""
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    x, y, z = eye_of(planner.robot.camera).position
    eye = np.array([pose[0] + cosine * x - sine * y, pose[1] + sine * x + cosine * y, z])
    away = target - eye
    length = float(np.linalg.norm(away))
    stations = np.arange(SIGHT_STEP, max(length - VEIL, SIGHT_STEP), SIGHT_STEP) / length
    return bool(planner.seen.occupied(eye + stations[:, None] * away).any())
