"""Geodesic distance over the floor, and shortest paths along it.

Distances come from second-order fast marching on the grid of cells where the robot fits, started
from exact distances in the part of a small disc around each goal that the goal sees. World frame,
metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.heap import pop, push
from rearrange.navigation.occupancy import ROBOT_RADIUS, OccupancyGrid
from rearrange.navigation.sight import TOLERANCE, sees

EXACT_RADIUS = 0.5  # [m], distances up to here are set by line of sight


@dataclass(frozen=True)
class DistanceField:
    """Geodesic distance to the nearest goal.

    Attributes:
        grid: Grid that the field lies on.
        radius: Radius of the disc that moves [m].
        distance: [nx, ny] float64, m; infinite where no goal can be reached from.
        goals: Goals, after moving those where the disc does not fit to the nearest cell where it
        does [G, 2], m.
    """

    grid: OccupancyGrid
    radius: float
    distance: np.ndarray
    goals: np.ndarray

    def at(self, x: float, y: float) -> float:
        """Distance from (x, y) to the nearest goal [m]; infinite if there is no way."""
        return sample_distance(self.distance, *self.grid.origin, self.grid.cell, x, y)


def distance_field(
    grid: OccupancyGrid,
    goals: np.ndarray | tuple[float, float],
    radius: float = ROBOT_RADIUS,
) -> DistanceField:
    """Geodesic distance from everywhere to the nearest of some goals.

    Args:
        grid: Floor of the apartment.
        goals: World positions [G, 2] or [2], m. Where the disc does not fit, the nearest cell of
        the
            largest navigable island stands in.
        radius: Radius of the disc that moves [m].
    """
    island = grid.island if radius == ROBOT_RADIUS else grid.navigable(radius)
    points = np.array(goals, dtype=np.float64).reshape(-1, 2)
    for index, (x, y) in enumerate(points):
        if not island[grid.cell_of(x, y)] or not grid.is_free(x, y, radius - TOLERANCE):
            points[index] = grid.nearest_navigable(x, y, island)
    distance = _march(
        grid.passable(radius), grid.clearance, *grid.origin, grid.cell, points, radius
    )
    return DistanceField(grid, radius, distance, points)


def distance_over(
    free: np.ndarray, sources: np.ndarray, cell: float, farthest: float = math.inf
) -> np.ndarray:
    """Distance over free cells to the nearest source, for a map that is not a building's.

    Args:
        free: Cells that can be crossed [nx, ny] bool.
        sources: Cells to which distances are measured [nx, ny] bool; those not free are left out.
        cell: Cell size [m].
        farthest: Distance at which the wave ends [m].

    Returns:
        [nx, ny] float64, m; infinite where no source can be reached from, or it is too far.
    """
    exact = sources & free
    distance = np.where(exact, 0.0, math.inf)
    _propagate(free, exact, distance, cell, farthest)
    return distance


def region_field(
    grid: OccupancyGrid, region: np.ndarray, farthest: float = math.inf
) -> DistanceField:
    """Geodesic distance to a region [nx, ny] bool of the robot's island, from where it is not farther [m]."""
    distance = distance_over(grid.passable(), region, grid.cell, farthest)
    return DistanceField(grid, ROBOT_RADIUS, distance, grid.center_of(np.argwhere(region)))


@cached_njit
def sample_distance(
    distance: np.ndarray, origin_x: float, origin_y: float, cell: float, x: float, y: float
) -> float:
    """Bilinear if all four corners are reachable, else the best way over a corner."""
    u = min(max((x - origin_x) / cell - 0.5, 0.0), distance.shape[0] - 1.001)
    v = min(max((y - origin_y) / cell - 0.5, 0.0), distance.shape[1] - 1.001)
    ix, iy = int(u), int(v)
    a, b = u - ix, v - iy
    value = 0.0
    around = math.inf
    for jx in range(2):
        for jy in range(2):
            corner = distance[ix + jx, iy + jy]
            weight = (a if jx else 1.0 - a) * (b if jy else 1.0 - b)
            value += weight * corner if weight > 0.0 else 0.0
            around = min(around, corner + cell * math.hypot(a - jx, b - jy))
    return value if np.isfinite(value) else around


@cached_njit
def _upwind(distance: np.ndarray, done: np.ndarray, ix: int, iy: int, axis: int) -> tuple:
    """Best neighbour along an axis: (value, second value or infinity behind it)."""
    best, behind = math.inf, math.inf
    for sign in (-1, 1):
        jx, jy = (ix + sign, iy) if axis == 0 else (ix, iy + sign)
        if not (0 <= jx < distance.shape[0] and 0 <= jy < distance.shape[1] and done[jx, jy]):
            continue
        if distance[jx, jy] >= best:
            continue
        best, behind = distance[jx, jy], math.inf
        kx, ky = (jx + sign, jy) if axis == 0 else (jx, jy + sign)
        inside = 0 <= kx < distance.shape[0] and 0 <= ky < distance.shape[1]
        if inside and done[kx, ky] and distance[kx, ky] <= best:
            behind = distance[kx, ky]
    return best, behind


@cached_njit
def _solve_eikonal(distance: np.ndarray, done: np.ndarray, ix: int, iy: int, cell: float) -> float:
    """Arrival at a cell from its finished neighbours, of second order where two lie in a row."""
    first, first_behind = _upwind(distance, done, ix, iy, 0)
    second, second_behind = _upwind(distance, done, ix, iy, 1)
    result = min(first, second) + cell
    quadratic, linear, constant = 0.0, 0.0, -cell * cell
    highest = 0.0
    for value, behind in ((first, first_behind), (second, second_behind)):
        if value == math.inf:
            return result
        scale = 1.0
        if behind < math.inf:
            value, scale = (4.0 * value - behind) / 3.0, 2.25
        quadratic += scale
        linear -= 2.0 * scale * value
        constant += scale * value * value
        highest = max(highest, value)
    root = linear * linear - 4.0 * quadratic * constant
    if root < 0.0:
        return result
    solution = (-linear + math.sqrt(root)) / (2.0 * quadratic)
    return solution if max(first, second) <= solution else result


@cached_njit
def _propagate(
    free: np.ndarray, exact: np.ndarray, distance: np.ndarray, cell: float, farthest: float
) -> None:
    """Extend finite distances [nx, ny] to connected free cells, nearest first, and end at the farthest [m]."""
    columns = free.shape[1]
    keys = np.empty(8 * free.size)
    cells = np.empty(8 * free.size, dtype=np.int64)
    heap = np.empty(8 * free.size, dtype=np.int64)
    done = np.zeros(free.shape, dtype=np.bool_)
    size = entry = 0
    for ix in range(free.shape[0]):
        for iy in range(columns):
            if exact[ix, iy]:
                keys[entry], cells[entry] = distance[ix, iy], ix * columns + iy
                size = push(heap, size, keys, entry)
                entry += 1
    while size > 0:
        top = pop(heap, size, keys)
        size -= 1
        if keys[top] > farthest:
            break
        ix, iy = cells[top] // columns, cells[top] % columns
        if done[ix, iy]:
            continue
        done[ix, iy] = True
        for jx, jy in ((ix - 1, iy), (ix + 1, iy), (ix, iy - 1), (ix, iy + 1)):
            if not (0 <= jx < free.shape[0] and 0 <= jy < columns):
                continue
            if not free[jx, jy] or done[jx, jy] or exact[jx, jy]:
                continue
            arrival = _solve_eikonal(distance, done, jx, jy, cell)
            if arrival < distance[jx, jy]:
                distance[jx, jy] = arrival
                keys[entry], cells[entry] = arrival, jx * columns + jy
                size = push(heap, size, keys, entry)
                entry += 1


@cached_njit
def _march(
    free: np.ndarray,
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    goals: np.ndarray,
    radius: float,
) -> np.ndarray:
    """Fast marching over the free cells [nx, ny] from goals [G, 2]; distances [nx, ny], m."""
    distance = np.full(free.shape, math.inf)
    reach = math.ceil(EXACT_RADIUS / cell) + 1
    for index in range(len(goals)):
        gx, gy = goals[index]
        cx, cy = int((gx - origin_x) / cell), int((gy - origin_y) / cell)
        for ix in range(max(cx - reach, 0), min(cx + reach + 1, free.shape[0])):
            for iy in range(max(cy - reach, 0), min(cy + reach + 1, free.shape[1])):
                x, y = origin_x + (ix + 0.5) * cell, origin_y + (iy + 0.5) * cell
                away = math.hypot(x - gx, y - gy)
                if not free[ix, iy] or away > EXACT_RADIUS or away >= distance[ix, iy]:
                    continue
                if sees(clearance, origin_x, origin_y, cell, gx, gy, x, y, radius - TOLERANCE):
                    distance[ix, iy] = away
    exact = distance < math.inf
    _propagate(free, exact, distance, cell, math.inf)
    return distance
