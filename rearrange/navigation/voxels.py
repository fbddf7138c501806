"""Columns of solid spans over a floor of triangles (numba), and on which of them an agent stands.

The rules are Recast's (rasterising, low obstacles, ledges, headroom), with exact heights in the place of
its voxels: a column is a cell of the floor, a span what is solid in it from one height to another. World
frame, z up, metres.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rearrange.caching import cached_njit

THIN = 1e-6  # share of a cell: what overlaps it by less only touches it
CORNERS = 12  # of a triangle that was cut to a cell, at most 7


class Columns(NamedTuple):
    """Spans of all columns, from the lowest up; those of cell c are starts[c] to starts[c + 1].

    Attributes:
        starts: [nx * ny + 1] int64.
        low: Lower end of each span [S], m.
        high: Upper end [S], m.
        walkable: Whether an agent can stand on it [S] bool.
    """

    starts: Any
    low: Any
    high: Any
    walkable: Any


@cached_njit
def _cut(points: Any, count: int, axis: int, value: float, sign: float, kept: Any) -> int:
    """Cut a polygon [count, 3] at a plane; write the part where sign * (x - value) >= 0, return its size."""
    number = 0
    for i in range(count):
        j = (i + 1) % count
        here = sign * (points[i, axis] - value)
        there = sign * (points[j, axis] - value)
        if here >= 0.0:
            for k in range(3):
                kept[number, k] = points[i, k]
            number += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            share = here / (here - there)
            for k in range(3):
                kept[number, k] = points[i, k] + share * (points[j, k] - points[i, k])
            number += 1
    return number


@cached_njit
def _touches(points: Any, count: int, axis: int, size: float, least: float) -> bool:
    """Whether a polygon is thinner than `least` along an axis though what it was cut from is not."""
    low, high = points[0, axis], points[0, axis]
    for i in range(1, count):
        low, high = min(low, points[i, axis]), max(high, points[i, axis])
    return high - low < least and size >= least


@cached_njit
def _rasterise(
    corners: Any, slopes: Any, origin: Any, cell: float, shape: Any, places: Any, low: Any, high: Any,
    walkable: Any,
) -> None:  # fmt: skip
    """Write for each cell that a triangle covers from where to where it does so.

    Args:
        corners: [T, 3, 3], m.
        slopes: Whether each is level enough to stand on [T] bool.
        origin: Lower corner of cell [0, 0], x and y, m.
        cell: Cell size [m].
        shape: nx, ny.
        places: Next free entry of each cell [nx * ny], counted up.
        low: Written, by entry; of no entries: they are only counted.
        high: Likewise.
        walkable: Likewise.
    """
    whole, strip = np.empty((CORNERS, 3)), np.empty((CORNERS, 3))
    part, rest = np.empty((CORNERS, 3)), np.empty((CORNERS, 3))
    least = THIN * cell
    for t in range(len(corners)):
        for i in range(3):
            for k in range(3):
                whole[i, k] = corners[t, i, k] - (origin[k] if k < 2 else 0.0)
        x_min, x_max = whole[:3, 0].min(), whole[:3, 0].max()
        y_min, y_max = whole[:3, 1].min(), whole[:3, 1].max()
        for ix in range(max(int(x_min / cell), 0), min(int(x_max / cell), shape[0] - 1) + 1):
            count = _cut(whole, 3, 0, ix * cell, 1.0, rest)
            count = _cut(rest, count, 0, (ix + 1) * cell, -1.0, strip)
            if count == 0 or _touches(strip, count, 0, x_max - x_min, least):
                continue
            first, last = strip[:count, 1].min(), strip[:count, 1].max()
            for iy in range(max(int(first / cell), 0), min(int(last / cell), shape[1] - 1) + 1):
                number = _cut(strip, count, 1, iy * cell, 1.0, rest)
                number = _cut(rest, number, 1, (iy + 1) * cell, -1.0, part)
                if number == 0 or _touches(part, number, 1, y_max - y_min, least):
                    continue
                c = ix * shape[1] + iy
                if len(low) > 0:
                    low[places[c]], high[places[c]] = part[:number, 2].min(), part[:number, 2].max()
                    walkable[places[c]] = slopes[t]
                places[c] += 1


@cached_njit
def _merge(starts: Any, low: Any, high: Any, walkable: Any, climb: float) -> Any:
    """Sort the spans of each column and join those that touch, in place; returns the new starts.

    One can stand on joined spans if one can on the upper, or on one that ends less than `climb` below it.
    """
    merged = np.zeros_like(starts)
    free = 0
    for c in range(len(starts) - 1):
        merged[c] = free
        first, last = starts[c], starts[c + 1]
        order = first + np.argsort(low[first:last])
        lows, highs, stands = low[order], high[order], walkable[order]
        for n in range(last - first):
            if n > 0 and lows[n] <= high[free - 1]:
                if abs(highs[n] - high[free - 1]) <= climb:
                    walkable[free - 1] = walkable[free - 1] or stands[n]
                elif highs[n] > high[free - 1]:
                    walkable[free - 1] = stands[n]
                high[free - 1] = max(high[free - 1], highs[n])
                continue
            low[free], high[free], walkable[free] = lows[n], highs[n], stands[n]
            free += 1
    merged[-1] = free
    return merged


@cached_njit
def _ceiling(starts: Any, low: Any, c: int, s: int) -> float:
    """Where the room above span s of column c ends."""
    return low[s + 1] if s + 1 < starts[c + 1] else math.inf


@cached_njit
def _is_ledge(
    columns: Columns, shape: Any, ix: int, iy: int, s: int, height: float, climb: float
) -> bool:
    """Whether one falls or climbs more than `climb` beside a span."""
    starts, low, high, _ = columns
    floor = high[s]
    top = _ceiling(starts, low, ix * shape[1] + iy, s)
    drop, lowest, highest = math.inf, floor, floor
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        jx, jy = ix + dx, iy + dy
        if not (0 <= jx < shape[0] and 0 <= jy < shape[1]):
            return True
        c = jx * shape[1] + jy
        first, last = starts[c], starts[c + 1]
        end = low[first] if first < last else math.inf
        if min(top, end) - floor > height:  # nothing is below
            drop = -math.inf
        for n in range(first, last):
            end = _ceiling(starts, low, c, n)
            if min(top, end) - max(floor, high[n]) > height:
                step = high[n] - floor
                drop = min(drop, step)
                if abs(step) <= climb:
                    lowest, highest = min(lowest, high[n]), max(highest, high[n])
    return drop < -climb or highest - lowest > climb


@cached_njit
def _filter(columns: Columns, shape: Any, height: float, climb: float) -> None:
    """Correct on which spans one stands, as Recast does, in its order."""
    starts, low, high, walkable = columns
    for c in range(len(starts) - 1):
        below = False
        for s in range(starts[c], starts[c + 1]):
            here = walkable[s]
            if not here and below and high[s] - high[s - 1] <= climb:
                walkable[s] = True  # a kerb, or what lies about
            below = here
    ledges = np.zeros(len(walkable), np.bool_)
    for ix in range(shape[0]):
        for iy in range(shape[1]):
            c = ix * shape[1] + iy
            for s in range(starts[c], starts[c + 1]):
                if walkable[s]:
                    ledges[s] = _is_ledge(columns, shape, ix, iy, s, height, climb)
    for c in range(len(starts) - 1):
        for s in range(starts[c], starts[c + 1]):
            roomy = _ceiling(starts, low, c, s) - high[s] >= height
            walkable[s] = walkable[s] and roomy and not ledges[s]


def columns_of(
    corners: np.ndarray,
    origin: tuple[float, float],
    shape: tuple[int, int],
    cell: float,
    height: float,
    climb: float,
    slope: float,
) -> Columns:
    """The columns over a floor of triangles.

    Args:
        corners: Of the triangles [T, 3, 3], counterclockwise as seen from outside, m.
        origin: Lower corner of cell [0, 0] [m].
        shape: Cells along x and y.
        cell: Cell size [m].
        height: Room that an agent needs above the floor [m].
        climb: Highest step that it takes [m].
        slope: Steepest floor on which it stands [rad].
    """
    corners = np.ascontiguousarray(corners, np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    level = normals[:, 2] > math.cos(slope) * np.linalg.norm(normals, axis=1)
    base = np.array(origin)
    places = np.zeros(shape[0] * shape[1], np.int64)
    none = np.empty(0)
    _rasterise(corners, level, base, cell, shape, places, none, none, np.empty(0, np.bool_))
    starts = np.concatenate([[0], np.cumsum(places)])
    low, high = np.empty(starts[-1]), np.empty(starts[-1])
    walkable = np.empty(starts[-1], np.bool_)
    _rasterise(corners, level, base, cell, shape, starts[:-1].copy(), low, high, walkable)
    starts = _merge(starts, low, high, walkable, climb)
    end = int(starts[-1])
    columns = Columns(starts, low[:end].copy(), high[:end].copy(), walkable[:end].copy())
    _filter(columns, shape, height, climb)
    return columns
