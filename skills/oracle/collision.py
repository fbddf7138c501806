"""The arm and its load as spheres, and their distance to obstacles.

The arm's are in `PlanningModel`. A held object is a set of small spheres on its surface. Spheres are rows
(frame, x, y, z, radius): frames are the links, the gripper and the end effector (kinematics.link_frames).
"""

from __future__ import annotations

import math

import numpy as np

from rearrange.caching import cached_njit
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import frames_kernel, link_frames
from rearrange.robot.planning import PlanningModel
from rearrange.scenes.objects import ObjectKind, ObjectPart

LOAD_RADIUS = 0.008  # [m]


def planning_of(robot: RobotSpec) -> PlanningModel:
    """What is known of a robot for planning; UserError where nothing is."""
    if robot.planning is None:
        raise UserError(
            f"robot '{robot.name}' has no planning model, which oracles and sense-plan-act skills need: "
            "set RobotSpec.planning, or take policies"
        )
    return robot.planning


def load_spheres(
    robot: RobotSpec, kind: ObjectKind, position: np.ndarray, rotation: np.ndarray
) -> np.ndarray:
    """Spheres [S, 5] on the surface of a held object.

    Args:
        robot: Who holds it.
        kind: What is held.
        position: Its centre in the end-effector frame [3], m.
        rotation: End effector from object [3, 3].
    """
    points = np.vstack([_surface_points(part) for part in kind.parts if part.collides])
    spheres = np.empty((len(points), 5))
    spheres[:, 0] = len(robot.joints) + 1
    spheres[:, 1:4] = position + points @ rotation.T
    spheres[:, 4] = LOAD_RADIUS
    return spheres


def _surface_points(part: ObjectPart) -> np.ndarray:
    """Points LOAD_RADIUS under the surface of a primitive, in the object's frame [P, 3], m."""
    if part.kind == "box":
        grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
        points = grid[np.abs(grid).sum(axis=1) >= 2] * (np.array(part.size) - LOAD_RADIUS)
    else:
        radius = part.size[0] - LOAD_RADIUS
        half = (part.size[1] if part.kind == "cylinder" else part.size[0]) - LOAD_RADIUS
        levels = (-half, 0.0, half) if half > 0.02 else (-half, half)
        angles = np.arange(8) * (math.pi / 4)
        points = np.array(
            [(radius * math.cos(a), radius * math.sin(a), z) for z in levels for a in angles]
            + [(0.0, 0.0, -half)]
        )
    return points + np.array([0.0, 0.0, part.height])


def place_spheres(robot: RobotSpec, joints: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    """Centres [S, 3] of spheres in the base frame, m."""
    positions, rotations = link_frames(robot, joints)
    return _place(positions, rotations, spheres)


def arm_clearance(
    robot: RobotSpec,
    joints: np.ndarray,
    base_pose: np.ndarray,
    spheres: np.ndarray,
    boxes: np.ndarray,
    cylinders: np.ndarray,
) -> float:
    """Smallest distance between the spheres and the obstacles or the robot's own body [m].

    Args:
        robot: Whose arm.
        joints: Joint angles [J], rad.
        base_pose: x, y, yaw [3].
        spheres: Rows of frame, offset and radius [S, 5].
        boxes: As in Obstacles [B, 8].
        cylinders: As in Obstacles [C, 5].
    """
    world = (np.asarray(base_pose), spheres, boxes, cylinders)
    return _clearance(np.asarray(joints), robot.chain, planning_of(robot).body, *world, -1.0)


@cached_njit
def _place(positions: np.ndarray, rotations: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    centers = np.empty((len(spheres), 3))
    for s in range(len(spheres)):
        frame = int(spheres[s, 0])
        for row in range(3):
            value = positions[frame, row]
            for column in range(3):
                value += rotations[frame, row, column] * spheres[s, 1 + column]
            centers[s, row] = value
    return centers


@cached_njit
def _box_distance(x: float, y: float, z: float, hx: float, hy: float, hz: float) -> float:
    """Signed distance of a point to a box around the origin [m]."""
    u, v, w = abs(x) - hx, abs(y) - hy, abs(z) - hz
    a, b, c = max(u, 0.0), max(v, 0.0), max(w, 0.0)
    return math.sqrt(a * a + b * b + c * c) + min(max(u, v, w), 0.0)


@cached_njit
def _cylinder_distance(x: float, y: float, z: float, radius: float, half: float) -> float:
    """Signed distance of a point to an upright cylinder around the origin [m]."""
    u, w = math.sqrt(x * x + y * y) - radius, abs(z) - half
    a, c = max(u, 0.0), max(w, 0.0)
    return math.sqrt(a * a + c * c) + min(max(u, w), 0.0)


@cached_njit
def _clearance(
    joints: np.ndarray,
    chain: np.ndarray,
    body: np.ndarray,
    base_pose: np.ndarray,
    spheres: np.ndarray,
    boxes: np.ndarray,
    cylinders: np.ndarray,
    enough: float,
) -> float:
    """As arm_clearance; returns early once it falls below `enough` [m].

    Of the robot it takes `RobotSpec.chain` and `PlanningModel.body`.
    """
    positions, rotations = frames_kernel(joints, chain)
    centers = _place(positions, rotations, spheres)
    cosine, sine = math.cos(base_pose[2]), math.sin(base_pose[2])
    best = 10.0
    for s in range(len(spheres) - 1, -1, -1):
        bx, by, z = centers[s]
        radius = spheres[s, 4]
        best = min(best, z - radius)
        if spheres[s, 0] >= body[11]:
            near = _box_distance(bx - body[0], by - body[1], z - body[2], body[3], body[4], body[5])
            under = _cylinder_distance(bx - body[6], by - body[7], z - body[8], body[9], body[10])
            best = min(best, near - radius, under - radius)
        x = base_pose[0] + cosine * bx - sine * by
        y = base_pose[1] + sine * bx + cosine * by
        for k in range(len(boxes)):
            dx, dy, dz = x - boxes[k, 0], y - boxes[k, 1], z - boxes[k, 2]
            if abs(dz) > boxes[k, 5] + best + radius:
                continue
            u = boxes[k, 6] * dx + boxes[k, 7] * dy
            v = boxes[k, 6] * dy - boxes[k, 7] * dx
            best = min(
                best, _box_distance(u, v, dz, boxes[k, 3], boxes[k, 4], boxes[k, 5]) - radius
            )
        for k in range(len(cylinders)):
            dx, dy, dz = x - cylinders[k, 0], y - cylinders[k, 1], z - cylinders[k, 2]
            best = min(
                best, _cylinder_distance(dx, dy, dz, cylinders[k, 3], cylinders[k, 4]) - radius
            )
        if best < enough:
            return best
    return best
