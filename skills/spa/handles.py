"""Finding the handle of a drawer or of the fridge's door in a point cloud.

A handle is what stands out from the vertical plane between the robot and the coordinate of what is
inside. Of the furniture the robot knows the model (sizes, hinge), not where it stands: the model
is laid onto the handle and plane that were seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rearrange.scenes.apartment import ArticulatedPose
from skills.oracle.fixtures import DOOR, Fixture
from skills.oracle.obstacles import _cabinet_boxes, _fridge_boxes, _placed

DRAWER = "drawer_right_top"  # whose model stands for every upper drawer
HEIGHTS = {True: (0.62, 1.65), False: (-0.06, 0.15)}  # [m]; of drawers, from the coordinate
STANDS_OUT = (0.026, 0.05)  # [m], of a handle's face before the plane; worktops stand out by 0.02
AHEAD = {True: (0.05, 0.55), False: (0.0, 0.40)}  # [m], of the plane before the coordinate
ASIDE = {True: 0.75, False: 0.40}  # [m], of plane and handle from the coordinate
LENGTH = {True: (0.25, 0.60), False: (0.12, 0.35)}  # [m], of a handle
GRAIN = 0.01  # [m], to which points are thinned out
ANGLE_STEP = math.radians(1.5)
LARGEST_ANGLE = math.radians(75.0)  # between the plane's normal and the direction to the robot
LEAST_ON_PLANE, LEAST_ON_HANDLE = 150, 8  # thinned points
SAME_CLUSTER = 0.05  # [m], gap within one handle


@dataclass(frozen=True)
class Handle:
    """A handle that was seen.

    Attributes:
        center: Middle of its outer face [3], start frame, m.
        outward: Normal of the plane that it stands out from [2].
    """

    center: np.ndarray
    outward: np.ndarray


def find_handle(
    points: np.ndarray, told: np.ndarray, robot: np.ndarray, is_door: bool
) -> Handle | None:
    """The handle to what is at a coordinate, None if none is seen.

    Args:
        points: Start frame [P, 3], m.
        told: Coordinate of what is inside [3], m.
        robot: Base pose [3].
        is_door: Upright handle of a door, or a drawer's that lies across.
    """
    low, high = HEIGHTS[is_door] if is_door else np.add(HEIGHTS[is_door], told[2])
    near = np.hypot(*(points[:, :2] - told[:2]).T) < ASIDE[is_door] + 0.2
    points = thinned(points[near & (points[:, 2] > low) & (points[:, 2] < high)])
    if len(points) < LEAST_ON_PLANE:
        return None
    outward, level = front_plane(points[:, :2] - told[:2], robot[:2] - told[:2], is_door)
    if outward is None:
        return None
    offset = points[:, :2] - told[:2]
    along = np.array([-outward[1], outward[0]])
    before, aside = offset @ outward - level, offset @ along
    out = (before > STANDS_OUT[0]) & (before < STANDS_OUT[1]) & (np.abs(aside) < ASIDE[is_door])
    if out.sum() < LEAST_ON_HANDLE:
        return None
    foot = told[:2] + level * outward  # of the coordinate on the plane
    return _best_cluster(points[out], aside[out], before[out], (foot, outward), is_door)


def thinned(points: np.ndarray) -> np.ndarray:
    """One point [Q, 3] per cube of GRAIN, so that what is near does not count more."""
    _, first = np.unique(np.floor(points / GRAIN).astype(np.int64), axis=0, return_index=True)
    return points[first]


def front_plane(
    offsets: np.ndarray, to_robot: np.ndarray, is_door: bool
) -> tuple[np.ndarray | None, float]:
    """The vertical plane with most points before the coordinate and towards the robot.

    Args:
        offsets: Points relative to the coordinate [P, 2], m.
        to_robot: Robot relative to the coordinate [2], m.
        is_door: See find_handle.

    Returns:
        Its normal [2] (None if there is no plane) and its distance from the coordinate [m].
    """
    facing = math.atan2(to_robot[1], to_robot[0])
    best, outward, level = 0, None, 0.0
    for angle in np.arange(-LARGEST_ANGLE, LARGEST_ANGLE, ANGLE_STEP):
        normal = np.array([math.cos(facing + angle), math.sin(facing + angle)])
        ahead = offsets @ normal
        aside = np.abs(offsets @ np.array([-normal[1], normal[0]]))
        inside = (ahead > AHEAD[is_door][0]) & (ahead < AHEAD[is_door][1])
        ahead = ahead[inside & (aside < ASIDE[is_door])]
        if len(ahead) <= best:
            continue
        counts, edges = np.histogram(ahead, np.arange(AHEAD[is_door][0], AHEAD[is_door][1], GRAIN))
        k = int(counts.argmax())
        if counts[k] > best:
            best, outward, level = int(counts[k]), normal, float(edges[k] + 0.5 * GRAIN)
    if outward is None or best < LEAST_ON_PLANE:
        return None, 0.0
    for _ in range(3):  # least squares on what lies near the plane
        inliers = offsets[np.abs(offsets @ outward - level) < 1.5 * GRAIN]
        inliers = inliers[np.hypot(*inliers.T) < ASIDE[is_door] + 0.2]
        middle = inliers.mean(axis=0)
        normal = np.linalg.svd(inliers - middle, full_matrices=False)[2][1]
        outward = normal if normal @ outward > 0 else -normal
        level = float(np.median(inliers @ outward))
    return outward, level


def _best_cluster(
    points: np.ndarray,
    aside: np.ndarray,
    before: np.ndarray,
    plane: tuple[np.ndarray, np.ndarray],
    is_door: bool,
) -> Handle | None:
    """Of what stands out of the plane, the piece shaped like a handle nearest to the coordinate."""
    foot, outward = plane
    along = np.array([-outward[1], outward[0]])
    order = np.argsort(aside)
    pieces = np.split(order, np.flatnonzero(np.diff(aside[order]) > SAME_CLUSTER) + 1)
    best, least = None, math.inf
    for piece in pieces:
        extent = np.ptp(points[piece, 2]) if is_door else np.ptp(aside[piece])
        if len(piece) < LEAST_ON_HANDLE or not LENGTH[is_door][0] < extent < LENGTH[is_door][1]:
            continue
        middle = 0.5 * (aside[piece].min() + aside[piece].max())
        height = 0.5 * (points[piece, 2].min() + points[piece, 2].max())
        face = float(np.percentile(before[piece], 90))
        if abs(middle) < least:
            place = foot + face * outward + middle * along
            best, least = Handle(np.array([*place, height]), outward), abs(middle)
    return best


def fixture_at(handle: Handle, is_door: bool, opening: float = 0.0) -> Fixture:
    """The model laid onto a handle, which is that of a part opened by so much [m or rad]."""
    joint = DOOR if is_door else DRAWER
    yaw = math.atan2(handle.outward[1], handle.outward[0]) - (opening if is_door else 0.0)
    there = Fixture(joint, ArticulatedPose((0.0, 0.0, 0.0), yaw)).handle(opening)
    x, y = (float(value) for value in handle.center[:2] - there[:2])
    return Fixture(joint, ArticulatedPose((x, y, 0.0), yaw))


def furniture(fixture: Fixture, opening: float) -> np.ndarray:
    """Model of the fridge or the cabinet with one part opened by so much, that part last [B, 8]."""
    if fixture.is_door:
        still = _placed(fixture.frame, _fridge_boxes(0.0))
    else:
        still = _placed(fixture.frame, _cabinet_boxes((0.0, 0.0, 0.0, 0.0)))
    closed = fixture.boxes(0.0)
    rows = [row for row in np.array(still) if np.abs(closed - row).max(axis=1).min() > 1e-6]
    return np.vstack([*rows, fixture.boxes(opening)])
