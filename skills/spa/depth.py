"""From a depth image to points, without those of the robot itself.

Base frame: x forward, y left, z up, origin on the floor under the robot; metres.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from rearrange.caching import cached_njit
from rearrange.render.camera import FAR, Camera, look_at
from rearrange.robot import HeadCamera, RobotSpec
from rearrange.robot.kinematics import forward
from skills.oracle.collision import place_spheres, planning_of
from skills.spa.observed import CAMERA_SIZE

SELF_MARGIN = 0.03  # [m], around the arm
BODY_MARGIN = 0.02  # [m], around the base: nothing else can be there
# Whatever is held lies within this half ball at the suction tip [m]: the largest object's far corner,
# and how far its side can stick out behind the tip when the hand is tilted.
LOAD_REACH, LOAD_BEHIND = 0.30, 0.15


class Eye(NamedTuple):
    """A robot's camera.

    Attributes:
        position: Base frame [3], m.
        turn: Base from camera [3, 3]; columns right, up, backward.
        focal: Focal length [pixels].
        rays: Direction of each pixel, one metre of depth long, base frame [H, W, 3].
    """

    position: np.ndarray
    turn: np.ndarray
    focal: float
    rays: np.ndarray


@cache
def eye_of(camera: HeadCamera) -> Eye:
    """A camera as images are read by it."""
    turn = look_at(camera.position, camera.target)
    focal = 0.5 * CAMERA_SIZE / math.tan(math.radians(camera.field_of_view) / 2)
    rays = Camera(CAMERA_SIZE, CAMERA_SIZE, camera.field_of_view).rays() @ turn.T
    return Eye(np.array(camera.position), turn, focal, rays)


def points_of(depth: np.ndarray, eye: Eye) -> np.ndarray:
    """Points of a depth image [H, W] (m) that hit anything, base frame [P, 3]."""
    hit = depth < FAR - 0.01
    return eye.position + depth[hit][:, None] * eye.rays[hit]


def is_self(robot: RobotSpec, points: np.ndarray, joints: np.ndarray, holding: bool) -> np.ndarray:
    """Which points are of the robot or of what it holds, by its kinematics.

    Args:
        robot: The robot.
        points: Base frame [P, 3], m.
        joints: Arm joints [J], rad.
        holding: Whether something is at the suction tip.

    Returns:
        [P] bool.
    """
    arm = planning_of(robot).spheres
    centers = place_spheres(robot, joints, arm)
    own = _within(points, centers, arm[:, 4] + SELF_MARGIN)
    own |= np.hypot(points[:, 0], points[:, 1]) < robot.base.radius + BODY_MARGIN
    if holding:
        own |= is_load(robot, points, joints)
    return own


def is_load(robot: RobotSpec, points: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """Which points [P, 3] (base frame, m) lie where something held could be [P] bool."""
    tip, rotation = forward(robot, joints)
    offset = points - tip
    ahead = offset @ rotation[:, 0] > -LOAD_BEHIND
    return ahead & (np.linalg.norm(offset, axis=1) < LOAD_REACH)


def to_start_frame(points: np.ndarray, base_pose: np.ndarray) -> np.ndarray:
    """Points [P, 3] of the base frame in the frame of a base pose x, y, yaw [3]."""
    x, y, yaw = base_pose
    cosine, sine = math.cos(yaw), math.sin(yaw)
    moved = points.copy()
    moved[:, 0] = x + cosine * points[:, 0] - sine * points[:, 1]
    moved[:, 1] = y + sine * points[:, 0] + cosine * points[:, 1]
    return moved


@cached_njit
def _within(points: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Which points [P, 3] lie in any of the spheres [S, 3], [S]."""
    inside = np.zeros(len(points), dtype=np.bool_)
    reach = 0.0
    for s in range(len(centers)):
        reach = max(reach, centers[s, 0] + radii[s])
    for p in range(len(points)):
        if points[p, 0] > reach:
            continue
        for s in range(len(centers)):
            dx = points[p, 0] - centers[s, 0]
            dy = points[p, 1] - centers[s, 1]
            dz = points[p, 2] - centers[s, 2]
            if dx * dx + dy * dy + dz * dz < radii[s] * radii[s]:
                inside[p] = True
                break
    return inside
