"""The numba kernels that draw where an episode begins."""

from __future__ import annotations

import math

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.geodesic import sample_distance
from rearrange.navigation.occupancy import interpolate

STRAIGHT = 1.1  # starts whose difficulty ratio is below this are kept only now and then


@cached_njit
def draw_points(
    rng: np.random.Generator, cells: np.ndarray, clearance: np.ndarray, island: np.ndarray,
    origin_x: float, origin_y: float, cell: float, radius: float, count: int,
) -> np.ndarray:  # fmt: skip
    """Points where a disc fits, uniform over the area of an island [<= count, 2], m; in the order drawn.

    Args:
        rng: From which is drawn what NumPy itself would draw.
        cells: Centres of the island's cells [C, 2], m.
        clearance: [nx, ny] float32, m.
        island: Cells that count [nx, ny] bool.
        origin_x: Of the grid [m].
        origin_y: Likewise.
        cell: Its cell size [m].
        radius: Of the disc [m].
        count: How many are drawn.
    """
    points, kept = np.empty((count, 2)), 0
    chosen = np.empty(count, np.int64)
    for k in range(count):
        chosen[k] = rng.integers(0, len(cells))
    for k in range(count):
        x = cells[chosen[k], 0] + (rng.random() - 0.5) * cell
        y = cells[chosen[k], 1] + (rng.random() - 0.5) * cell
        fits = interpolate(clearance, origin_x, origin_y, cell, x, y) >= radius
        if fits and island[int((x - origin_x) / cell), int((y - origin_y) / cell)]:
            points[kept, 0], points[kept, 1] = x, y
            kept += 1
    return points[:kept]


@cached_njit
def draw_start(
    rng: np.random.Generator, cells: np.ndarray, clearance: np.ndarray, island: np.ndarray,
    origin_x: float, origin_y: float, cell: float, radius: float, count: int, field: np.ndarray,
    goal_x: float, goal_y: float, nearest: float, farthest: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """A start of PointNav: x, y [m], yaw [rad] and geodesic distance to the goal [m]; NaN if none will do.

    A ratio is geodesic by Euclidean distance. Starts with one below STRAIGHT are kept with a probability of
    20 (ratio - 0.98)^2, as by Habitat's generator.

    Args:
        rng: As for `draw_points`, like all up to `count`.
        cells: See there.
        clearance: See there.
        island: See there.
        origin_x: See there.
        origin_y: See there.
        cell: See there.
        radius: See there.
        count: Candidates, of which the first that will do is taken.
        field: Geodesic distance to the goal [nx, ny] float32, m.
        goal_x: Of the goal [m].
        goal_y: Likewise.
        nearest: Shortest distance of a start [m].
        farthest: Longest [m].
    """
    points = draw_points(rng, cells, clearance, island, origin_x, origin_y, cell, radius, count)
    chances = np.empty(len(points))
    for k in range(len(points)):
        chances[k] = rng.random()
    yaw = -math.pi + 2.0 * math.pi * rng.random()
    for k in range(len(points)):
        x, y = points[k, 0], points[k, 1]
        way = sample_distance(field, origin_x, origin_y, cell, x, y)
        if not nearest <= way <= farthest:
            continue
        straight = math.sqrt((x - goal_x) * (x - goal_x) + (y - goal_y) * (y - goal_y))
        # A goal at the very start has no ratio; `nearest` is above zero
        ratio = way / straight if straight > 0.0 else math.inf
        more = ratio - 0.98
        if ratio >= STRAIGHT or chances[k] < 20.0 * (more * more):
            return x, y, yaw, way
    return math.nan, math.nan, yaw, math.nan
