"""Drives that push a door shut with the arm at rest, by a search that moves the door along.

The arm keeps one posture; where it meets the outer face of the door, the door turns out of its
way. The state of the hybrid A* search is therefore the base pose and the angle of the door.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation import OccupancyGrid
from rearrange.navigation.heap import pop, push
from rearrange.robot import RobotSpec, kinematics
from skills.oracle.base_planner import BasePlanner, Floor, _advance, _slack, _unroll, _wrap
from skills.oracle.collision import place_spheres, planning_of
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import Obstacles

STEPS = 2  # actions of a motion primitive
# Motion primitives: number of actions, forward [m] and turn [rad] of each.
PRIMITIVES = np.array(
    [
        (STEPS, 0.06, 0.0),
        (STEPS, 0.05, 0.05),
        (STEPS, 0.05, -0.05),
        (STEPS, 0.0, 0.075),
        (STEPS, 0.0, -0.075),
        (STEPS, -0.06, 0.0),
        (STEPS, -0.05, 0.05),
        (STEPS, -0.05, -0.05),
    ]
)
HEADINGS = 36
POSITION_BIN = 0.06  # [m]
ANGLE_BINS = 12
AREA = 2.2  # [m], the search stays this near to the hinge
NODES = 150_000
# Door in its frame: origin in the hinge, x outwards, the panel along -y (along y if it opens clockwise) [m].
FACE = 0.025  # outer and inner face of the panel
NEAREST = 0.15  # to the hinge that the panel may be pushed
AIM = (0.07, -0.5)  # where the search wants the tip while the door is not pushed
MARGINS = (0.015, 0.0, -0.015)  # [m], what must not touch the door; less where the start has less
DONE = 0.02  # [rad]
PUSH_STEP = 0.03  # [rad per action] of the door
NUDGE = 0.05  # [rad], by which the robot may stand in the door's way at the start
GENTLE = 4  # parts into which the first push is cut
GREED = 1.5


class Door(NamedTuple):
    """What the search needs of robot and door.

    Attributes:
        x: Hinge, world frame [m].
        y: Likewise [m].
        yaw: Direction in which the closed door faces [rad].
        sense: See rearrange.scenes.spec.Door.
        width: Of the panel [m].
        handle: Where along the panel it is, with air, and how far it stands out [m].
        spheres: Parts of the robot, base frame: x, y, radius, 1 if it may push [S, 4].
        tip: Tip of the hand, base frame [2], m.
        margin: What must not touch the door keeps this far from it [m].
        farthest: How far from the hinge the door may be pushed [m].
    """

    x: float
    y: float
    yaw: float
    sense: float
    width: float
    handle: tuple[float, float, float]
    spheres: np.ndarray
    tip: np.ndarray
    margin: float
    farthest: float


def plan_sweep(
    robot: RobotSpec,
    grid: OccupancyGrid,
    fixture: Fixture,
    obstacles: Obstacles,
    opening: float,
    start: np.ndarray,
    joints: np.ndarray,
    spheres: np.ndarray,
    farthest: float,
) -> np.ndarray | None:
    """Base actions (forward [m], turn [rad]) [K, 2] that close the door, or None.

    Args:
        robot: Who sweeps.
        grid: Floor of the apartment.
        fixture: The door.
        obstacles: Everything solid.
        opening: Of the door [rad].
        start: Base pose [3].
        joints: Posture of the arm [J], rad.
        spheres: Arm and load, see collision.py.
        farthest: How far from the hinge the door may be pushed [m].
    """
    model, still = planning_of(robot), fixture.without(obstacles, opening)
    floor = BasePlanner(robot, grid, still, joints, spheres).floor
    centers = place_spheres(robot, np.asarray(joints, float), spheres)
    high = (centers[:, 2] + spheres[:, 4] > fixture.door.lower_edge) & (spheres[:, 0] >= 1)
    pushing = (spheres[:, 0] >= model.first_pushing_link).astype(float)
    parts = np.column_stack([centers[:, :2], spheres[:, 4], pushing])[high]
    torso = np.array([(*disc, 0.0) for disc in model.trunk])
    tip = kinematics.forward(robot, joints)[0][:2]
    hinge = (float(fixture.hinge[0]), float(fixture.hinge[1]), float(fixture.frame.yaw))
    panel = (fixture.door.sense, fixture.door.width, fixture.door.handle_span)
    pose, angle = np.asarray(start, float).copy(), float(opening)
    for margin in MARGINS:
        door = Door(*hinge, *panel, np.vstack([parts, torso]), tip.copy(), margin, farthest)
        if push_door(door, pose, angle) < angle - NUDGE:
            continue
        actions = _search(floor, door, pose, angle, NODES)
        return None if actions is None else _slowed(door, pose, angle, actions)
    return None


def _slowed(door: Door, start: np.ndarray, opening: float, actions: np.ndarray) -> np.ndarray:
    """The same drive [K, 2] with actions that move the door cut into parts."""
    pose, angle, pushing, result = start.copy(), opening, 0, []
    for forward, turn in actions:
        _advance(pose, forward, turn)
        pushed = max(push_door(door, pose, angle), 0.0)
        parts = math.ceil((angle - pushed) / PUSH_STEP)
        # A door at rest resists: it is taken along gently.
        parts = max(parts, GENTLE - pushing) if parts else 1
        pushing += pushed < angle
        result += [(forward / parts, turn / parts)] * parts
        angle = pushed
    return np.array(result).reshape(-1, 2)


@cached_njit
def push_door(door: Door, pose: np.ndarray, angle: float) -> float:
    """Angle of the door with the robot at a pose [rad]; -1 where it meets the door wrongly."""
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    for s in range(len(door.spheres)):
        bx, by, radius, pushes = door.spheres[s]
        dx = pose[0] + cosine * bx - sine * by - door.x
        dy = pose[1] + sine * bx + cosine * by - door.y
        distance = math.hypot(dx, dy)
        if distance > door.width + radius + door.margin:
            continue
        bearing = door.sense * (math.atan2(dy, dx) - door.yaw)
        out = distance * math.cos(bearing - angle)
        along = -distance * math.sin(bearing - angle)
        if along < -radius:
            continue
        face = door.handle[2] if door.handle[0] < along < door.handle[1] else FACE
        wide = radius if pushes > 0.0 else radius + door.margin
        if out > face + wide or out < -FACE - radius - door.margin:
            continue
        if out < FACE and along > door.width:  # beside the edge
            if math.hypot(along - door.width, max(abs(out) - FACE, 0.0)) < radius + door.margin:
                return -1.0
            continue
        if along > door.width and math.hypot(along - door.width, out - FACE) > wide:
            continue
        if out < 0.0 or pushes == 0.0 or not NEAREST < along < door.farthest:
            return -1.0
        # Turn the door until its face is a radius away.
        turned = _wrap(bearing) + math.acos(min((face + radius) / distance, 1.0))
        angle = max(min(angle, turned), 0.0)
    return angle


@cached_njit
def _remaining(door: Door, pose: np.ndarray, angle: float) -> float:
    """Estimate of the actions that are left."""
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    x = pose[0] + cosine * door.tip[0] - sine * door.tip[1]
    y = pose[1] + sine * door.tip[0] + cosine * door.tip[1]
    turn, aside = door.yaw + door.sense * angle, door.sense * AIM[1]
    aim_x = door.x + math.cos(turn) * AIM[0] - math.sin(turn) * aside
    aim_y = door.y + math.sin(turn) * AIM[0] + math.cos(turn) * aside
    return (math.hypot(x - aim_x, y - aim_y) + 0.5 * angle) / 0.06


@cached_njit
def _search(
    floor: Floor, door: Door, start: np.ndarray, opening: float, limit: int
) -> np.ndarray | None:
    """Weighted hybrid A*; actions [K, 2] or None."""
    base, arm = _slack(floor, start[0], start[1], start[2])
    base_least, arm_least = min(0.0, base - 1e-3), min(0.0, arm - 1e-3)
    size = int(2 * AREA / POSITION_BIN) + 1
    closed = np.zeros((size, size, HEADINGS, ANGLE_BINS), dtype=np.bool_)
    poses, angles = np.empty((limit, 3)), np.empty(limit)
    parents, moves = np.full(limit, -1), np.zeros(limit, dtype=np.int64)
    costs, keys = np.zeros(limit), np.zeros(limit)
    heap = np.empty(limit, dtype=np.int64)
    poses[0], angles[0], heap[0] = start, opening, 0
    waiting, count = 1, 1
    pose = start.copy()
    while waiting > 0:
        node = pop(heap, waiting, keys)
        waiting -= 1
        if angles[node] <= DONE:
            return _unroll(PRIMITIVES, parents, moves, node, np.empty((0, 2)))
        row = int((poses[node, 0] - door.x + AREA) / POSITION_BIN)
        column = int((poses[node, 1] - door.y + AREA) / POSITION_BIN)
        heading = int((poses[node, 2] + math.pi) / (2 * math.pi) * HEADINGS) % HEADINGS
        angle_bin = min(int(angles[node] / 2.4 * ANGLE_BINS), ANGLE_BINS - 1)
        if node > 0 and not (0 <= row < size and 0 <= column < size):
            continue
        if 0 <= row < size and 0 <= column < size:
            if closed[row, column, heading, angle_bin]:
                continue
            closed[row, column, heading, angle_bin] = True
        for move in range(len(PRIMITIVES)):
            pose[:], angle = poses[node], angles[node]
            for _ in range(STEPS):
                _advance(pose, PRIMITIVES[move, 1], PRIMITIVES[move, 2])
                base, arm = _slack(floor, pose[0], pose[1], pose[2])
                angle = push_door(door, pose, angle)
                if base < base_least or arm < arm_least or angle < 0.0:
                    angle = -1.0
                    break
            if angle < 0.0:
                continue
            if count >= limit:
                return None
            poses[count], angles[count], parents[count], moves[count] = pose, angle, node, move
            costs[count] = costs[node] + STEPS + (0.2 if move != moves[node] else 0.0)
            keys[count] = costs[count] + GREED * _remaining(door, pose, angle)
            waiting = push(heap, waiting, keys, count)
            count += 1
    return None
