"""Place by sensing: drive to a stage, lower what is held onto the goal, let go, back out, fold."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rearrange.robot.actions import LET_GO
from rearrange.robot.kinematics import forward
from skills.oracle.reach import Reach
from skills.oracle.set_down import set_down_ways
from skills.spa.depth import eye_of, is_load, points_of
from skills.spa.navigate import facing
from skills.spa.pick import CLOSE, ENOUGH, FAR, GLANCES
from skills.spa.robot import Actions, Robot
from skills.spa.senses import Load, cylinder

ATTEMPTS = 4  # every other one is daring, see SeenBasePlanner
TOUCHDOWN = 0.04  # [rad] by which the arm lags when what it holds has met something
UNKNOWN_RADIUS, UNKNOWN_HALF = 0.05, 0.06  # [m], of a load of which nothing is known


def place(robot: Robot, goal: np.ndarray) -> Actions:
    """Put what is held with its centre at the goal [3] and bring the empty hand back to rest."""
    known = robot.load
    for attempt in range(ATTEMPTS):
        if not robot.holding:
            break
        reach = yield from _approach(robot, goal, attempt)
        if reach is None:
            continue
        yield from _lower(robot, reach)
        robot.load = None
        yield from robot.follow(np.vstack([robot.joints, reach.heights[1:]]), settle=False)
        yield from robot.straight(-reach.retreat)
        robot.failure = ""
        return (yield from robot.fold())
    robot.failure = robot.failure or "place: nothing held"
    yield from robot.fold()
    robot.load = known  # what was measured may be put down by others, who take something else
    return False


def _approach(
    robot: Robot, goal: np.ndarray, attempt: int
) -> Generator[np.ndarray, None, Reach | None]:
    """Go to the stage, unfold and drive in."""
    load = robot.load = robot.load or measured_load(robot)
    if np.hypot(*(robot.base_pose[:2] - goal[:2])) > FAR:
        yield from robot.drive_to(facing(robot, goal, CLOSE, nearby=True))
    robot.look()
    for angle in GLANCES:
        if len(robot.around_focus()) >= 10 * ENOUGH:
            break
        yield from robot.turn(angle)
        robot.look()
    daring = attempt % 2 == 1
    ways = set_down_ways(load.kind, load.position, load.rotation)
    planner = robot.reach_planner(goal, ways, load.spheres(robot.spec), loaded=True, daring=daring)
    reach = planner.find(robot.base_pose, goal, effort=40, skip=attempt // 2)
    if reach is None:
        robot.failure = "place: no reach"
        return None
    if not (yield from robot.drive_to(lambda _: reach.stage, daring)):
        robot.failure = "place: no way"
        return None
    yield from robot.follow(reach.unfold)
    yield from robot.straight(reach.retreat)
    return reach


def _lower(robot: Robot, reach: Reach) -> Actions:
    """Lower to just over the goal, or until the arm meets resistance, and let go."""
    yield from robot.settle(reach.heights[-1])
    down = reach.heights[::-1]
    for reference in robot.slowly(down):
        near = robot.spec.swing(reference - down[-1]) < 0.1
        if near and robot.spec.swing(reference - robot.joints) > 0.1 + TOUCHDOWN:
            break
        yield robot.toward(reference)
    yield from robot.settle(down[-1], still=True)  # what stands must not be toppled
    for _ in range(4):
        yield robot.command(grip=LET_GO)
    return True


def measured_load(robot: Robot) -> Load:
    """What hangs at the hand as far as the camera sees it, where nobody saw how it was taken."""
    points = points_of(robot.observed.depth, eye_of(robot.spec.camera))
    tip, rotation = forward(robot.spec, robot.joints)
    along = (points[is_load(robot.spec, points, robot.joints)] - tip) @ rotation[:, 0]
    hanging = along[along > 0.01]
    half = 0.5 * float(np.percentile(hanging, 98)) if len(hanging) >= ENOUGH else UNKNOWN_HALF
    kind = cylinder(UNKNOWN_RADIUS, half)
    # Its z axis looks against the hand's x axis, as when it was taken from above.
    turn = np.stack([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    return Load(kind, np.array([half, 0.0, 0.0]), turn)
