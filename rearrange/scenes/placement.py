"""Plane geometry for furnishing: rectangles that must not overlap, where a robot can stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from math import cos, sin

import numpy as np

from rearrange.caching import cached_njit

# A rectangle on the floor: centre x, y, half sizes, yaw.
Box2 = tuple[float, float, float, float, float]
CELL = 0.05  # [m]


def overlap(a: Box2, b: Box2, margin: float = 0.0) -> bool:
    """Whether two rectangles come closer than about `margin` (separating axes)."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    for first, second in ((a, b), (b, a)):
        c, s = cos(first[4]), sin(first[4])
        turn = second[4] - first[4]
        ct, st = abs(cos(turn)), abs(sin(turn))
        reach_x = first[2] + ct * second[2] + st * second[3] + margin
        reach_y = first[3] + st * second[2] + ct * second[3] + margin
        if abs(c * dx + s * dy) >= reach_x or abs(-s * dx + c * dy) >= reach_y:
            return False
    return True


def any_overlap(box: Box2, others: Sequence[Box2], margin: float = 0.0) -> bool:
    """Whether a rectangle overlaps one of the others; as `overlap` with a margin of at most 0."""
    x, y, half_x, half_y, yaw = box
    c, s = abs(cos(yaw)), abs(sin(yaw))
    reach_x, reach_y = c * half_x + s * half_y, s * half_x + c * half_y
    for other in others:
        other_x, other_y, along, across, turn = other
        if turn != 0.0:  # walls are not turned, and a circle around one holds half the apartment
            along = across = along + across
        if abs(other_x - x) > reach_x + along or abs(other_y - y) > reach_y + across:
            continue
        if overlap(box, other, margin):
            return True
    return False


def inside(box: Box2, bounds: tuple[float, float, float, float]) -> bool:
    """Whether the rectangle lies in the axis-aligned bounds."""
    x, y, half_x, half_y, yaw = box
    c, s = abs(cos(yaw)), abs(sin(yaw))
    reach_x, reach_y = c * half_x + s * half_y, s * half_x + c * half_y
    return (
        x - reach_x >= bounds[0]
        and y - reach_y >= bounds[1]
        and x + reach_x <= bounds[2]
        and y + reach_y <= bounds[3]
    )


class FloorGrid:
    """Where a disc can stand among obstacles.

    Attributes:
        radius: Of the disc [m].
        x: Middles of the cells along x [nx], m.
        y: Likewise along y [ny].
        free: Whether the disc can stand in the middle of a cell [nx, ny].
    """

    def __init__(self, size: tuple[float, float], obstacles: list[Box2], radius: float) -> None:
        """Of a floor from (0, 0) to `size` [m]."""
        nx, ny = int(size[0] / CELL), int(size[1] / CELL)
        self.radius = radius
        self.x = (np.arange(nx) + 0.5) * CELL
        self.y = (np.arange(ny) + 0.5) * CELL
        self.free = np.logical_and.outer(
            np.minimum(self.x, size[0] - self.x) > radius,
            np.minimum(self.y, size[1] - self.y) > radius,
        )
        for obstacle in obstacles:
            self.add(obstacle)

    def extended(self, obstacles: list[Box2]) -> FloorGrid:
        """A grid with more obstacles."""
        grid = copy(self)
        grid.free = self.free.copy()
        for obstacle in obstacles:
            grid.add(obstacle)
        return grid

    def add(self, box: Box2) -> None:
        """One more obstacle."""
        _block(self.free, self.x, self.y, box, self.radius)

    def main_component(self) -> np.ndarray:
        """The largest connected set of cells where the disc can stand [nx, ny]."""
        return _largest_component(self.free)

    def within(self, cells: np.ndarray, points: np.ndarray, limit: float) -> bool:
        """Whether one of the cells is so near [m] to each point [P, 2], to about half a cell."""
        return _all_near(cells, points, _offsets(limit))

    def count(self, cells: np.ndarray, rect: tuple[float, float, float, float]) -> int:
        """How many of the cells lie in a rectangle (x_min, y_min, x_max, y_max) [m]."""
        i0, j0 = self.x.searchsorted(rect[0], "right"), self.y.searchsorted(rect[1], "right")
        i1, j1 = self.x.searchsorted(rect[2], "left"), self.y.searchsorted(rect[3], "left")
        return int(np.count_nonzero(cells[i0:i1, j0:j1]))


@lru_cache(maxsize=8)
def _offsets(limit: float) -> np.ndarray:
    """Steps (i, j) to the cells within a distance [m], the farthest first [K, 2].

    What is wanted stands beside a piece of furniture: a step of the full length soon meets it.
    """
    reach = int(limit / CELL) + 1
    i, j = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    squares = i**2 + j**2
    near = np.sqrt(squares.astype(float)) * CELL <= limit
    order = np.argsort(-squares[near], kind="stable")
    return np.ascontiguousarray(np.stack([i[near], j[near]], axis=1)[order])


@cached_njit
def _block(free: np.ndarray, xs: np.ndarray, ys: np.ndarray, box: Box2, radius: float) -> None:
    """Clear the cells [nx, ny] at (xs [nx], ys [ny]) up to `radius` [m] from a rectangle."""
    x, y, half_x, half_y, yaw = box
    c, s = math.cos(yaw), math.sin(yaw)
    reach_x = abs(c) * half_x + abs(s) * half_y + radius + CELL
    reach_y = abs(s) * half_x + abs(c) * half_y + radius + CELL
    i0, i1 = np.searchsorted(xs, x - reach_x), np.searchsorted(xs, x + reach_x)
    j0, j1 = np.searchsorted(ys, y - reach_y), np.searchsorted(ys, y + reach_y)
    for i in range(i0, i1):
        dx = xs[i] - x
        for j in range(j0, j1):
            dy = ys[j] - y
            u = max(abs(c * dx + s * dy) - half_x, 0.0)
            v = max(abs(-s * dx + c * dy) - half_y, 0.0)
            if u <= radius and v <= radius and math.hypot(u, v) <= radius:
                free[i, j] = False


@cached_njit
def _root(parents: np.ndarray, member: int) -> int:
    """The first of the set that a member belongs to; each member of [N] points to an earlier one."""
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member


@cached_njit
def _largest_component(free: np.ndarray) -> np.ndarray:
    """The largest 4-connected set of free cells [nx, ny] bool; the first of equals.

    Stretches of cells along y are joined to those that they touch in the row before.
    """
    nx, ny = free.shape
    most = nx * ((ny + 1) // 2)
    rows, starts, ends = (
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
    )
    parents, sizes = np.empty(most, np.int32), np.zeros(most, np.int32)
    count = before = 0  # stretches; the first of the row before
    for i in range(nx):
        first, j = count, 0
        while j < ny:
            if not free[i, j]:
                j += 1
                continue
            rows[count], starts[count], parents[count] = i, j, count
            while j < ny and free[i, j]:
                j += 1
            ends[count] = j
            count += 1
        above = before
        for k in range(first, count):
            while above < first and ends[above] <= starts[k]:
                above += 1
            touching = above
            while touching < first and starts[touching] < ends[k]:
                a, b = _root(parents, touching), _root(parents, k)
                parents[max(a, b)] = min(a, b)
                touching += 1
        before = first
    largest = 0
    for k in range(count):
        sizes[_root(parents, k)] += ends[k] - starts[k]
    for k in range(count):
        if sizes[k] > sizes[largest]:
            largest = k
    cells = np.zeros((nx, ny), np.bool_)
    for k in range(count):
        if _root(parents, k) == largest:
            cells[rows[k], starts[k] : ends[k]] = True
    return cells


@cached_njit
def _all_near(cells: np.ndarray, points: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether each point [P, 2] (m) has one of the cells [nx, ny] at one of the offsets [K, 2] from its own."""
    nx, ny = cells.shape
    for index in range(len(points)):
        i = min(max(int(points[index, 0] / CELL), 0), nx - 1)
        j = min(max(int(points[index, 1] / CELL), 0), ny - 1)
        found = False
        for k in range(len(offsets)):
            ni, nj = i + offsets[k, 0], j + offsets[k, 1]
            if 0 <= ni < nx and 0 <= nj < ny and cells[ni, nj]:
                found = True
                break
        if not found:
            return False
    return True
