"""Shortest paths along the floor, down a field of distances."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.geodesic import DistanceField
from rearrange.navigation.occupancy import interpolate
from rearrange.navigation.sight import TOLERANCE, sees


def shortest_path(field: DistanceField, start: tuple[float, float]) -> np.ndarray:
    """Any-angle shortest path from a start to the nearest goal.

    Steps downhill over the cells of the field, then keeps only the corners that lines of sight
    need.

    Args:
        field: Distances to the goals.
        start: World position [2], m.

    Returns:
        Way points [K, 2] (m) from start to goal, both included; [0, 2] if there is no way.
    """
    grid = field.grid
    geometry = (*grid.origin, grid.cell)
    cells = _descend(field.distance, *_start_cell(field, start))
    if len(cells) == 0:
        return np.empty((0, 2))
    points = grid.center_of(cells)
    end = points[-1]
    goal = field.goals[((field.goals - end) ** 2).sum(axis=1).argmin()]
    _push_off(grid.clearance, *geometry, points, field.radius)
    points = np.vstack([np.array(start, dtype=np.float64), points, goal])
    points = _pull_string(grid.clearance, *geometry, points, field.radius - TOLERANCE)
    return _pull_string(grid.clearance, *geometry, _densify(points), field.radius - TOLERANCE)


def path_length(path: np.ndarray) -> float:
    """Length [m] of way points [K, 2]."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _start_cell(field: DistanceField, start: tuple[float, float]) -> tuple[int, int]:
    """The reachable cell around the start from which the way is shortest."""
    ix, iy = field.grid.cell_of(*start)
    low_x, low_y = max(ix - 2, 0), max(iy - 2, 0)
    window = field.distance[low_x : ix + 3, low_y : iy + 3]
    cells = np.argwhere(np.isfinite(window)) + np.array([low_x, low_y])
    if len(cells) == 0:
        return ix, iy
    away = np.linalg.norm(field.grid.center_of(cells) - np.asarray(start), axis=1)
    cost = field.distance[cells[:, 0], cells[:, 1]] + 3.0 * away
    best = cells[cost.argmin()]
    return int(best[0]), int(best[1])


def _densify(points: np.ndarray) -> np.ndarray:
    """The same polyline with points at most 0.1 m apart, to cut corners again."""
    pieces = []
    for first, second in pairwise(points):
        count = max(1, math.ceil(float(np.linalg.norm(second - first)) / 0.1))
        pieces.append(first + (second - first) * np.arange(count)[:, None] / count)
    return np.vstack([*pieces, points[-1:]])


@cached_njit
def _push_off(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    points: np.ndarray,
    radius: float,
) -> None:
    """Move points [K, 2] that are too near to obstacles up the clearance gradient, in place."""
    step = 0.5 * cell
    for index in range(len(points)):
        for _ in range(3):
            x, y = points[index]
            lack = radius - interpolate(clearance, origin_x, origin_y, cell, x, y)
            if lack <= 0.0:
                break
            east = interpolate(clearance, origin_x, origin_y, cell, x + step, y)
            west = interpolate(clearance, origin_x, origin_y, cell, x - step, y)
            north = interpolate(clearance, origin_x, origin_y, cell, x, y + step)
            south = interpolate(clearance, origin_x, origin_y, cell, x, y - step)
            norm = math.hypot(east - west, north - south) + 1e-9
            points[index, 0] += lack * (east - west) / norm
            points[index, 1] += lack * (north - south) / norm


@cached_njit
def _pull_string(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    points: np.ndarray,
    radius: float,
) -> np.ndarray:
    """Greedily skip way points [K, 2] that a line of sight makes needless."""
    kept = [0]
    here = 0
    while here < len(points) - 1:
        further = len(points) - 1
        while further > here + 1:
            x0, y0 = points[here]
            x1, y1 = points[further]
            if sees(clearance, origin_x, origin_y, cell, x0, y0, x1, y1, radius):
                break
            further -= 1
        here = further
        kept.append(here)
    result = np.empty((len(kept), 2))
    for index in range(len(kept)):
        result[index] = points[kept[index]]
    return result


@cached_njit
def _descend(distance: np.ndarray, ix: int, iy: int) -> np.ndarray:
    """Cells [K, 2] of steepest descent over eight neighbours, from (ix, iy) to a goal."""
    path = np.empty((distance.size, 2), dtype=np.int64)
    count = 0
    if not np.isfinite(distance[ix, iy]):
        return path[:0]
    while count < len(path):
        path[count] = ix, iy
        count += 1
        best, best_x, best_y = 0.0, ix, iy
        for jx in range(max(ix - 1, 0), min(ix + 2, distance.shape[0])):
            for jy in range(max(iy - 1, 0), min(iy + 2, distance.shape[1])):
                drop = distance[ix, iy] - distance[jx, jy]
                if jx != ix and jy != iy:
                    if not (np.isfinite(distance[ix, jy]) and np.isfinite(distance[jx, iy])):
                        continue
                    drop /= math.sqrt(2.0)
                if drop > best:
                    best, best_x, best_y = drop, jx, jy
        if best <= 0.0:
            break
        ix, iy = best_x, best_y
    return path[:count]
