"""Motion of the base against the clearance of the floor."""

from __future__ import annotations

import math

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.occupancy import ROBOT_RADIUS, OccupancyGrid, interpolate

SLOPE_STEP = 0.02  # [m], half the distance over which the clearance gradient is taken


SUB_STEP = 0.01  # [m], longest piece of a base motion that is checked at once
# Along which `room` looks both ways: so close that a wall's clearance errs by 2 % of a cell at most
AXES = tuple((math.cos(k * math.pi / 8), math.sin(k * math.pi / 8)) for k in range(8))


def room_at(grid: OccupancyGrid, x: float, y: float) -> float:
    """Clearance at (x, y), world frame, as `clamp_base_motion` counts it [m]; see `room`."""
    return room(grid.clearance, *grid.origin, grid.cell, x, y, math.inf)


def clamp_base_motion(
    grid: OccupancyGrid,
    x: float,
    y: float,
    dx: float,
    dy: float,
    radius: float = ROBOT_RADIUS,
    slide: bool = True,
) -> tuple[float, float, bool]:
    """Move a disc in small pieces as far as the clearance lets it (`room`).

    A disc that starts free stays free. One that starts too near to an obstacle may only gain
    clearance.

    Args:
        grid: Floor of the apartment.
        x: Start, world frame [m].
        y: Start, world frame [m].
        dx: Wanted motion, world frame [m].
        dy: Wanted motion, world frame [m].
        radius: Radius of the disc [m].
        slide: Glide along obstacles instead of stopping at them.

    Returns:
        New x and y [m], and whether the motion was cut or deflected.
    """
    origin_x, origin_y = grid.origin
    return clamp_kernel(grid.clearance, origin_x, origin_y, grid.cell, x, y, dx, dy, radius, slide)


@cached_njit("float64(float32[:, ::1], float64, float64, float64, float64, float64, float64)")
def room(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    x: float,
    y: float,
    least: float,
) -> float:
    """Clearance at (x, y) [m], also midway between two obstacles; -1 outside.

    There interpolation cuts the ridge off, up to half a cell: discs got stuck in gaps that were wide enough.
    A cell to either side of a ridge it is exact. No clearance is larger than another plus the way to it, and
    along the normal of the nearest obstacle it is just that large.

    Args:
        clearance: Field [nx, ny], m.
        origin_x: Of the field, world frame [m].
        origin_y: Likewise.
        cell: Cell size [m].
        x: World frame [m].
        y: World frame [m].
        least: As much is enough: where it is interpolated, that is told [m].
    """
    there = interpolate(clearance, origin_x, origin_y, cell, x, y)
    if there >= least:
        return there
    most = math.inf
    for east, north in AXES:
        ahead = interpolate(clearance, origin_x, origin_y, cell, x + cell * east, y + cell * north)
        behind = interpolate(clearance, origin_x, origin_y, cell, x - cell * east, y - cell * north)
        most = min(most, ahead + cell, behind + cell)
    return max(there, most)


@cached_njit(
    "UniTuple(float64, 3)(float32[:, ::1], float64, float64, float64, float64, float64, float64,"
    " float64, float64)"
)
def _glide(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    x: float,
    y: float,
    step_x: float,
    step_y: float,
    least: float,
) -> tuple[float, float, float]:
    """One step along the tangent of the nearest obstacle.

    Removes the part of the step that points down the clearance gradient, then steps back out of
    the obstacle if clearance is still below `least` [m].

    Returns:
        New x and y, and the clearance there [m].
    """
    nose_x, nose_y = x + step_x, y + step_y
    east = interpolate(clearance, origin_x, origin_y, cell, nose_x + SLOPE_STEP, nose_y)
    west = interpolate(clearance, origin_x, origin_y, cell, nose_x - SLOPE_STEP, nose_y)
    north = interpolate(clearance, origin_x, origin_y, cell, nose_x, nose_y + SLOPE_STEP)
    south = interpolate(clearance, origin_x, origin_y, cell, nose_x, nose_y - SLOPE_STEP)
    normal_x, normal_y = east - west, north - south
    norm = math.sqrt(normal_x * normal_x + normal_y * normal_y)
    if norm < 1e-9:
        return x, y, -1.0
    normal_x, normal_y = normal_x / norm, normal_y / norm
    inward = min(step_x * normal_x + step_y * normal_y, 0.0)
    new_x, new_y = nose_x - inward * normal_x, nose_y - inward * normal_y
    there = room(clearance, origin_x, origin_y, cell, new_x, new_y, least)
    lack = least - there
    if lack > 0.0:
        push = min(1.5 * lack + 1e-4, SUB_STEP)
        new_x, new_y = new_x + push * normal_x, new_y + push * normal_y
        there = room(clearance, origin_x, origin_y, cell, new_x, new_y, least)
    return new_x, new_y, there


@cached_njit(
    "Tuple((float64, float64, boolean))(float32[:, ::1], float64, float64, float64, float64,"
    " float64, float64, float64, float64, boolean)"
)
def clamp_kernel(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    x: float,
    y: float,
    dx: float,
    dy: float,
    radius: float,
    slide: bool,
) -> tuple[float, float, bool]:
    """Kernel of `clamp_base_motion`."""
    length = math.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return x, y, False
    count = math.ceil(length / SUB_STEP)
    step_x, step_y = dx / count, dy / count
    here = room(clearance, origin_x, origin_y, cell, x, y, radius)
    blocked = False
    for _ in range(count):
        there = room(clearance, origin_x, origin_y, cell, x + step_x, y + step_y, radius)
        if there >= radius or there > here:
            x, y, here = x + step_x, y + step_y, there
            continue
        blocked = True
        if not slide:
            break
        new_x, new_y, there = _glide(
            clearance, origin_x, origin_y, cell, x, y, step_x, step_y, min(radius, here)
        )
        if there >= radius or there > here:
            x, y, here = new_x, new_y, there
        else:
            break
    return x, y, blocked
