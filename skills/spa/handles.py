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
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.cabinet import DRAWERS, HANDLE_DEPTH
from rearrange.scenes.fridge import FRIDGE_DOOR
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import furniture_boxes, placed_boxes

DOOR, DRAWER = FRIDGE_DOOR, DRAWERS[0]  # whose models stand for every door and upper drawer
HEIGHTS = {True: (0.62, 1.65), False: (-0.06, 0.15)}  # [m]; of drawers, from the coordinate
STANDS_OUT = (0.026, 0.05)  # [m], of a handle's face before the plane; worktops stand out by 0.02
AHEAD = {True: (0.05, 0.55), False: (0.0, 0.40)}  # [m], of the plane before the coordinate
ASIDE = {True: 0.75, False: 0.40}  # [m], of plane and handle from the coordinate
LENGTH = {True: (0.25, 0.60), False: (0.12, 0.35)}  # [m], of a handle
GRAIN = 0.01  # [m], to which points are thinned out
ANGLE_STEP = math.radians(1.5)
LARGEST_ANGLE = math.radians(75.0)  # between the plane's normal and the direction to the robot
LEAST_ON_PLANE, LEAST_ON_HANDLE = 150, 8  # thinned points
BELOW_DRAWER = (0.14, 0.60)  # [m], heights of the fronts below the upper drawers
FREEZER = (0.08, 0.54)  # [m], heights of what is under the fridge's door
HINGE_SETBACK, HALF_PANEL = 0.025, 0.025  # [m], of the hinge behind the front; of the door
LEAST_OPENING = 0.25  # [rad], from which on a door is told from the front
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
    part = DOOR if is_door else DRAWER
    yaw = math.atan2(handle.outward[1], handle.outward[0]) - (opening if is_door else 0.0)
    there = Fixture(part, ArticulatedPose((0.0, 0.0, 0.0), yaw), APARTMENT).handle(opening)
    x, y = (float(value) for value in handle.center[:2] - there[:2])
    return Fixture(part, ArticulatedPose((x, y, 0.0), yaw), APARTMENT)


def furniture(fixture: Fixture, opening: float) -> np.ndarray:
    """Model of the fridge or the cabinet with one part opened by so much, that part last [B, 8]."""
    piece = fixture.scene.furniture_of(fixture.joint)
    shut = (0.0,) * len(piece.parts)
    still = placed_boxes(fixture.frame, furniture_boxes(fixture.scene, piece, shut))
    closed = fixture.boxes(0.0)
    rows = [row for row in np.array(still) if np.abs(closed - row).max(axis=1).min() > 1e-6]
    return np.vstack([*rows, fixture.boxes(opening)])


def drawer_opening(points: np.ndarray, handle: Handle) -> float:
    """How far a drawer stands out [m], from its handle and the fronts of the drawers below it."""
    below = points[(points[:, 2] > BELOW_DRAWER[0]) & (points[:, 2] < BELOW_DRAWER[1])]
    offset = below[:, :2] - handle.center[:2]
    aside = np.abs(offset @ np.array([-handle.outward[1], handle.outward[0]]))
    behind = -(offset @ handle.outward)[aside < ASIDE[False]] - HANDLE_DEPTH
    behind = behind[(behind > -GRAIN) & (behind < DRAWER.range[1] + GRAIN)]
    if len(behind) < LEAST_ON_HANDLE:
        return DRAWER.range[1]
    counts, edges = np.histogram(behind, np.arange(-GRAIN, DRAWER.range[1] + 2 * GRAIN, GRAIN))
    return max(float(edges[int(counts.argmax())] + 0.5 * GRAIN), 0.0)


def find_door(
    points: np.ndarray, told: np.ndarray, robot: np.ndarray
) -> tuple[Fixture, float] | None:
    """The fridge and how far its door is open [rad], None if they are not seen.

    The freezer under the door shows the plane of the front; the door is the upright panel that
    stands out from it, and where their lines meet is the hinge.

    Args:
        points: Start frame [P, 3], m.
        told: Coordinate of what is inside [3], m.
        robot: Base pose [3].
    """
    near = np.hypot(*(points[:, :2] - told[:2]).T) < 1.5 * ASIDE[True]
    points = thinned(points[near])
    low = points[(points[:, 2] > FREEZER[0]) & (points[:, 2] < FREEZER[1])]
    outward, level = front_plane(low[:, :2] - told[:2], robot[:2] - told[:2], is_door=True)
    if outward is None:
        return None
    frame = np.column_stack([outward, [-outward[1], outward[0]]])
    panel = points[(points[:, 2] > FREEZER[1] + 0.1) & (points[:, 2] < HEIGHTS[True][1])]
    places = (panel[:, :2] - told[:2]) @ frame - (level, 0.0)
    places = places[(places[:, 0] > 0.1) & (places[:, 0] < 0.66)]
    line = _panel_line(places, (robot[:2] - told[:2]) @ frame - (level, 0.0))
    if line is None:
        return None
    opening, hinge_aside = line
    yaw = math.atan2(outward[1], outward[0])
    model = Fixture(DOOR, ArticulatedPose((0.0, 0.0, 0.0), yaw), APARTMENT)
    hinge = told[:2] + frame @ (level - HINGE_SETBACK, hinge_aside)
    x, y = (float(value) for value in hinge - model.hinge)
    return Fixture(DOOR, ArticulatedPose((x, y, 0.0), yaw), APARTMENT), opening


def _panel_line(places: np.ndarray, robot: np.ndarray) -> tuple[float, float] | None:
    """Opening [rad] of a door and where its hinge is along the front [m], by a Hough transform.

    Args:
        places: Points before the front [P, 2]: distance from it, and to the left as it faces [m].
        robot: The robot, likewise [2].
    """
    best, found = LEAST_ON_PLANE, None
    for opening in np.arange(LEAST_OPENING, DOOR.range[1], 0.5 * ANGLE_STEP):
        cosine, sine = math.cos(opening), math.sin(opening)
        if sine < 0.2:
            continue
        middles = places[:, 1] + (places[:, 0] + HINGE_SETBACK) * cosine / sine
        counts, edges = np.histogram(middles, np.arange(-1.2, 1.2, GRAIN))
        k = int(counts.argmax())
        if counts[k] > best:
            middle = float(edges[k] + 0.5 * GRAIN)
            # The face that is seen is half a panel off the hinge, towards the robot.
            side = (robot[0] + HINGE_SETBACK) * cosine + (robot[1] - middle) * sine
            best = int(counts[k])
            found = float(opening), middle - math.copysign(HALF_PANEL, side) / sine
    return found
