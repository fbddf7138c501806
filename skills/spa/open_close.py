"""Open and close by sensing: find the handle, take it, move with the part as if bolted to it.

How far a part has moved the robot knows from its own motion while it holds the handle.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from rearrange.robot.actions import HOLD, LET_GO
from skills.oracle.fixtures import Fixture
from skills.oracle.handle_oracle import open_grasp
from skills.oracle.handle_planner import RETREAT, Grasp, HandlePlanner
from skills.oracle.open_close import PUSH, PUSH_GAIN
from skills.oracle.riding import CRUISE, GAIN, OVERSHOOT, bolted, lever, next_speed, progress
from skills.spa.handles import (
    DOOR,
    DRAWER,
    Handle,
    drawer_opening,
    find_door,
    find_handle,
    fixture_at,
    furniture,
)
from skills.spa.navigate import facing
from skills.spa.robot import Actions, Robot

ATTEMPTS = 3
GLANCES = (0.5, -1.0, 0.5)  # [rad]
DOOR_GLANCES, BACK = (-0.7, 1.4, -0.7), 0.3  # [rad], [m]: an open door stands beside the robot
VIEWS = {True: (1.2, 1.4, 1.6), False: (1.0, 1.15, 1.3)}  # base to coordinate, to look from [m]
BEARINGS = (0.0, 0.8, -0.8, 1.6, -1.6)  # [rad], around the coordinate, of further views
LEAST_OPEN = {True: 1.15, False: 0.38}  # [rad or m] travelled with the handle that make it open
WAIT = 12  # steps in which a part that is held comes to rest


def open_part(robot: Robot, told: np.ndarray, is_door: bool) -> Actions:
    """Open the drawer or the door before a coordinate [3] and bring the hand back to rest."""
    if robot.holding:
        robot.failure = "open: the hand is full"
        return False
    for attempt in range(ATTEMPTS):
        handle = yield from seen_handle(robot, told, is_door, attempt)
        if handle is None:
            robot.failure = "open: no handle seen"
            continue
        fixture = fixture_at(handle, is_door)
        planner = handle_planner(robot, fixture)
        grasp, end = open_grasp(planner, robot.base_pose, attempt)
        if grasp is None:
            robot.failure = "open: no reach"
            continue
        if not (yield from robot.drive_to(lambda _, stage=grasp.stage: stage)):
            robot.failure = "open: no way"
            continue
        yield from robot.follow(grasp.unfold)
        reached = yield from _pull(robot, fixture, grasp, end)
        _forget_part(robot, fixture, 0.0)
        robot.opened[fixture.joint] = (fixture, reached)
        robot.models[fixture.joint] = furniture(fixture, reached)
        yield from robot.fold()
        if reached >= LEAST_OPEN[is_door]:
            robot.failure = ""
            return True
        robot.failure = "open: lost the handle"
    return False


def _pull(
    robot: Robot, fixture: Fixture, grasp: Grasp, end: float
) -> Generator[np.ndarray, None, float]:
    """Drive up to the handle, take it, move with it, let go and back out.

    Returns:
        How far the part came along [m or rad].
    """
    slack = OVERSHOOT / lever(fixture, 0.0)
    yield from ride(robot, fixture, grasp, grasp.opening - slack, HOLD, stop_holding=True)
    if robot.holding:
        yield from ride(robot, fixture, grasp, end + 0.5 * slack, HOLD, stop_empty=True)
    for _ in range(WAIT if robot.holding else 0):
        yield robot.toward(grasp.unfold[-1], HOLD)
    reached = progress(fixture, grasp, robot.base_pose) if robot.holding else 0.0
    for _ in range(2):
        yield robot.toward(grasp.unfold[-1], LET_GO)
    away = progress(fixture, grasp, robot.base_pose) + RETREAT[fixture.is_door]
    yield from ride(robot, fixture, grasp, away, LET_GO)
    return min(reached, end)


def ride(
    robot: Robot,
    fixture: Fixture,
    grasp: Grasp,
    end: float,
    grip: float,
    cruise: float = CRUISE,
    gain: float = GAIN,
    stop_holding: bool = False,
    stop_empty: bool = False,
) -> Actions:
    """Move the base as if bolted to the part, until the part would be opened to `end` [m or rad].

    Args:
        robot: Who moves.
        fixture: The part.
        grasp: Posture and contact.
        end: Opening to which the base moves; may lie beyond the joint's limits.
        grip: HOLD or LET_GO.
        cruise: Largest motion of the hand per action [m].
        gain: Largest change of that from one action to the next [m].
        stop_holding: End as soon as something is held.
        stop_empty: End as soon as nothing is held.
    """
    here, speed, arm = progress(fixture, grasp, robot.base_pose), 0.0, lever(fixture, 0.0)
    for _ in range(400):
        left = abs(end - here) * arm
        if left < 1e-4 or (stop_holding and robot.holding) or (stop_empty and not robot.holding):
            break
        speed = next_speed(speed, left, cruise, gain)
        here += math.copysign(speed / arm, end - here)
        goal = fixture.carried(grasp.contact, grasp.opening, here)
        yield robot.toward(grasp.unfold[-1], grip, *bolted(robot.base_pose, goal))
    return True


def handle_planner(robot: Robot, fixture: Fixture, opening: float = 0.0) -> HandlePlanner:
    """Planner of grasps over the map, with the furniture's model where it was seen."""
    handle = fixture.handle(opening)
    robot.models[fixture.joint] = furniture(fixture, opening)
    around, base = robot.obstacles(handle), robot.base_planner(handle)
    joints, spheres = robot.joints, robot.spheres
    return HandlePlanner(robot.spec, base.grid, fixture, around, opening, joints, spheres, base)


def seen_handle(
    robot: Robot, told: np.ndarray, is_door: bool, attempt: int
) -> Generator[np.ndarray, None, Handle | None]:
    """Look for the handle from where the robot is, then from other sides."""
    dx, dy = robot.base_pose[:2] - told[:2]
    for bearing in BEARINGS[attempt:]:
        if bearing != 0.0:
            side = math.atan2(dy, dx) + bearing
            yield from robot.drive_to(facing(robot, told, VIEWS[is_door], side))
        for angle in (0.0, *GLANCES):
            yield from robot.turn(angle)
            robot.look()
            handle = find_handle(robot.around_focus(), told, robot.base_pose, is_door)
            if handle is not None:
                return handle
    return None


def _forget_part(robot: Robot, fixture: Fixture, opening: float) -> None:
    """Take the part where it was out of the map, as it has moved."""
    for x, y, z, half_x, half_y, half_z, *_ in fixture.boxes(opening):
        radius = math.hypot(half_x, half_y)
        robot.seen.forget(np.array([x, y]), min(radius, 0.36), z - half_z, z + half_z)


def close_part(robot: Robot, told: np.ndarray, is_door: bool) -> Actions:
    """Push the open drawer or door before a coordinate [3] shut by its handle, and fold the arm."""
    for attempt in range(ATTEMPTS):
        part = yield from _seen_open(robot, told, is_door, attempt)
        if part is None:
            robot.failure = "close: no open part seen"
            continue
        fixture, opening = part
        planner = handle_planner(robot, fixture, opening)
        grasp = planner.find(robot.base_pose, 0.0, attempt)
        if grasp is None:
            robot.failure = "close: no reach"
            continue
        if not (yield from robot.drive_to(lambda _, stage=grasp.stage: stage, daring=True)):
            robot.failure = "close: no way"
            continue
        yield from robot.follow(grasp.unfold)
        slack = OVERSHOOT / lever(fixture, 0.0)
        yield from ride(robot, fixture, grasp, -slack, LET_GO, PUSH, PUSH_GAIN)
        away = progress(fixture, grasp, robot.base_pose) + RETREAT[is_door]
        yield from ride(robot, fixture, grasp, away, LET_GO)
        _forget_part(robot, fixture, opening)
        robot.models[fixture.joint] = furniture(fixture, 0.0)
        robot.opened.pop(fixture.joint, None)
        robot.failure = ""
        return (yield from robot.fold())
    return False


def _seen_open(
    robot: Robot, told: np.ndarray, is_door: bool, attempt: int
) -> Generator[np.ndarray, None, tuple[Fixture, float] | None]:
    """The part and its opening [m or rad]: as the robot left it, or as it sees it."""
    known = robot.opened.get((DOOR if is_door else DRAWER).name)
    if known is not None and attempt == 0:
        return known
    if not is_door:
        handle = yield from seen_handle(robot, told, is_door, attempt)
        if handle is None:
            return None
        opening = drawer_opening(robot.around_focus(), handle)
        return fixture_at(handle, is_door, opening), opening
    for back in (0.0, BACK, BACK):
        yield from robot.straight(-back)
        for angle in (0.0, *DOOR_GLANCES):
            yield from robot.turn(angle)
            robot.look()
            found = find_door(robot.around_focus(), told, robot.base_pose)
            if found is not None:
                return found
    return None
