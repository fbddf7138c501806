"""Pick by sensing: look, find the object's top, come down on it until the cup holds, lift, fold."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from rearrange.robot.actions import HOLD, LET_GO
from rearrange.robot.kinematics import forward
from skills.oracle.collision import load_spheres
from skills.oracle.descents import RISE_STEP
from skills.oracle.pick import HANGING, PICK_WAYS
from skills.oracle.reach import Reach
from skills.spa.navigate import facing
from skills.spa.robot import Actions, Robot
from skills.spa.senses import Load, cylinder

ATTEMPTS = 4  # every other one is daring, see SeenBasePlanner
GLANCES = (0.6, -1.2, 0.6)  # [rad], turns that bring the target out from behind the robot's hand
ENOUGH = 12  # points on the object that make it seen
CLOSE = (0.6, 0.7, 0.8, 0.9)  # base to object where it is looked for [m]
FAR = 1.3  # [m], beyond which the robot comes nearer first
RADIUS, LEAST_RADIUS, LARGEST_RADIUS = 0.09, 0.03, 0.08  # [m], around the coordinate
HIGHEST, LOWEST = 0.16, 0.14  # [m], of an object's top over, and its support under the coordinate
SUPPORT_RADIUS = 0.3  # [m], in which the support is looked for
LAYER = 0.01  # [m], of the histogram of heights
AGREE = 0.03  # [m], seen top and expected top are the same thing
BLIND_TOP = 0.05  # [m], of an object's top over its centre where neither it nor its support is seen
APPROACH_GAP = 0.03  # [m], over the top from which on the cup is ready to hold
OVERSHOOT = 0.04  # [m], below the expected contact
PATIENCE = 10  # steps of waiting for contact at the lowest point


@dataclass(frozen=True)
class Sighting:
    """An object as it was seen.

    Attributes:
        top: Middle of its top [3], start frame, m.
        support: Height of what it stands on [m].
        radius: Of an upright cylinder around it [m].
        count: Points on it.
    """

    top: np.ndarray
    support: float
    radius: float
    count: int

    @property
    def half_height(self) -> float:
        """Half of its height [m]."""
        return max(0.5 * float(self.top[2] - self.support), 0.012)


def segment(points: np.ndarray, told: np.ndarray) -> Sighting:
    """Finds an object in the points [P, 3] around the coordinate of its centre [3], m.

    Objects are about as high over their centre as they stand under it, so the support's height
    says where to expect the top; where a top is seen near there, it counts.
    """
    away = np.hypot(*(points[:, :2] - told[:2]).T)
    support = support_height(points[away < SUPPORT_RADIUS, 2], float(told[2]))
    expected = float(told[2]) + (
        BLIND_TOP if support is None else min(float(told[2]) - support, 0.12)
    )
    floor = float(told[2]) - (expected - float(told[2])) if support is None else support
    body = (away < RADIUS) & (points[:, 2] > floor + LAYER) & (points[:, 2] < told[2] + HIGHEST)
    top, place, radius = expected, told[:2], 0.5 * (LEAST_RADIUS + LARGEST_RADIUS)
    if body.sum() >= ENOUGH // 2:
        core = body & (away < LEAST_RADIUS)
        chosen = points[core if core.any() else body]
        highest = float(np.percentile(chosen[:, 2], 95))
        if abs(highest - expected) < AGREE or support is None or not core.any():
            top = highest
        if not core.any():  # it was moved: aim at the middle of the top that is there
            place = chosen[chosen[:, 2] > highest - LAYER, :2].mean(axis=0)
        own = points[body & (points[:, 2] < top + LAYER), :2]
        radius = float(np.hypot(*(own - place).T).max()) if len(own) else radius
        radius = min(max(radius, LEAST_RADIUS), LARGEST_RADIUS)
    return Sighting(np.array([*place, top]), floor, radius, int(body.sum()))


def support_height(heights: np.ndarray, center: float) -> float | None:
    """Height of the surface under an object's centre [m]: where most points below it lie, or None."""
    below = heights[(heights < center - 0.008) & (heights > center - LOWEST)]
    if len(below) < ENOUGH:
        return None
    counts, edges = np.histogram(below, np.arange(center - LOWEST, center, LAYER))
    k = int(counts.argmax())
    inside = below[(below >= edges[k] - LAYER) & (below <= edges[k + 1] + LAYER)]
    return float(np.median(inside))


def pick(robot: Robot, told: np.ndarray) -> Actions:
    """Take the object whose centre was at `told` [3] and bring the hand back to rest."""
    for attempt in range(ATTEMPTS):
        if not robot.holding:
            sighting = yield from observe(robot, told)
            reach = yield from _approach(robot, sighting, attempt)
            if reach is None:
                continue
            yield from _take(robot, reach, sighting)
            yield from robot.follow(reach.heights, settle=False)
            yield from robot.straight(-reach.retreat)
        folded = yield from robot.fold()
        if robot.holding and folded:
            robot.failure = ""
            return True
    robot.failure = robot.failure or "pick: nothing held"
    return False


def observe(robot: Robot, told: np.ndarray) -> Generator[np.ndarray, None, Sighting]:
    """Come near and turn until the object is seen."""
    if np.hypot(*(robot.base_pose[:2] - told[:2])) > FAR:
        yield from robot.drive_to(facing(robot, told, CLOSE, nearby=True))
    robot.look()
    sighting = segment(robot.around_focus(), told)
    for angle in GLANCES:
        if sighting.count >= ENOUGH:
            break
        yield from robot.turn(angle)
        robot.look()
        sighting = segment(robot.around_focus(), told)
    return sighting


def _approach(
    robot: Robot, sighting: Sighting, attempt: int
) -> Generator[np.ndarray, None, Reach | None]:
    """Go to the stage, unfold and drive in."""
    top, half, daring = sighting.top, sighting.half_height, attempt % 2 == 1
    robot.seen.forget(top, sighting.radius, sighting.support + 0.005, float(top[2]) + 0.04)
    load = load_spheres(
        robot.spec,
        cylinder(sighting.radius, half),
        HANGING @ (0.0, 0.0, -half),
        HANGING @ np.eye(3),
    )
    planner = robot.reach_planner(top, PICK_WAYS, load, loaded=False, daring=daring)
    reach = planner.find(robot.base_pose, top, effort=40, skip=attempt // 2)
    if reach is None:
        robot.failure = "pick: no reach"
        return None
    if not (yield from robot.drive_to(lambda _: reach.stage, daring)):
        robot.failure = "pick: no way"
        return None
    yield from robot.follow(reach.unfold)
    yield from robot.straight(reach.retreat)
    return reach


def _take(robot: Robot, reach: Reach, sighting: Sighting) -> Actions:
    """Come down with the suction on until something is held; True if it is."""
    yield from robot.settle(reach.heights[-1])
    down = reach.heights[::-1]
    below = down[-1] + (down[-1] - down[-2]) * (OVERSHOOT / RISE_STEP)
    ready = float(sighting.top[2]) + APPROACH_GAP
    references = robot.slowly(np.vstack([down, below])) + [below] * PATIENCE
    for reference in references:
        low = forward(robot.spec, robot.joints)[0][2] < ready
        yield robot.toward(reference, HOLD if low else LET_GO)
        if robot.holding:
            _remember(robot, sighting)
            return True
    robot.failure = "pick: no contact"
    return False


def _remember(robot: Robot, sighting: Sighting) -> None:
    """Note what hangs at the hand and how, and that it no longer stands where it stood."""
    position, rotation = forward(robot.spec, robot.joints)
    base, half = robot.base_pose, sighting.half_height
    cosine, sine = np.cos(base[2]), np.sin(base[2])
    dx, dy = sighting.top[:2] - base[:2]
    center = np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, sighting.top[2] - half])
    # The touch is the better measure of the height than the image.
    center[2] += float(np.clip(position[2] - sighting.top[2], -0.03, 0.03))
    kind = cylinder(sighting.radius, half)
    robot.load = Load(kind, rotation.T @ (center - position), rotation.T)
    robot.seen.forget(sighting.top, sighting.radius, sighting.support + 0.005, sighting.top[2])
