"""Plane geometry for furnishing: rectangles that must not overlap, where a robot can stand."""

from __future__ import annotations

from copy import copy
from math import cos, sin

import numpy as np
from scipy import ndimage

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


def corners(box: Box2) -> np.ndarray:
    """The four corners [4, 2]."""
    x, y, hx, hy, yaw = box
    c, s = cos(yaw), sin(yaw)
    local = np.array([(hx, hy), (-hx, hy), (-hx, -hy), (hx, -hy)])
    return local @ np.array([(c, s), (-s, c)]) + (x, y)


def inside(box: Box2, bounds: tuple[float, float, float, float]) -> bool:
    """Whether the rectangle lies in the axis-aligned bounds."""
    points = corners(box)
    low, high = points.min(axis=0), points.max(axis=0)
    return bool(
        low[0] >= bounds[0]
        and low[1] >= bounds[1]
        and high[0] <= bounds[2]
        and high[1] <= bounds[3]
    )


class FloorGrid:
    """Distance from every cell of the floor to the nearest obstacle, up to 0.6 m."""

    FAR = 0.6

    def __init__(self, size: tuple[float, float], obstacles: list[Box2]) -> None:
        self.size = size
        nx, ny = int(size[0] / CELL), int(size[1] / CELL)
        self.x = (np.arange(nx) + 0.5) * CELL
        self.y = (np.arange(ny) + 0.5) * CELL
        to_walls = np.minimum(
            np.minimum(self.x, size[0] - self.x)[:, None],
            np.minimum(self.y, size[1] - self.y)[None, :],
        )
        self.distance = np.minimum(to_walls, self.FAR)
        for obstacle in obstacles:
            self.add(obstacle)

    def extended(self, obstacles: list[Box2]) -> FloorGrid:
        """A grid with more obstacles."""
        grid = copy(self)
        grid.distance = self.distance.copy()
        for obstacle in obstacles:
            grid.add(obstacle)
        return grid

    def add(self, box: Box2) -> None:
        """One more obstacle."""
        points = corners(box)
        low, high = points.min(axis=0) - self.FAR, points.max(axis=0) + self.FAR
        i0, i1 = np.searchsorted(self.x, (low[0], high[0]))
        j0, j1 = np.searchsorted(self.y, (low[1], high[1]))
        if i0 >= i1 or j0 >= j1:
            return
        dx, dy = (self.x[i0:i1] - box[0])[:, None], (self.y[j0:j1] - box[1])[None, :]
        c, s = cos(box[4]), sin(box[4])
        u = np.maximum(np.abs(c * dx + s * dy) - box[2], 0.0)
        v = np.maximum(np.abs(-s * dx + c * dy) - box[3], 0.0)
        window = self.distance[i0:i1, j0:j1]
        np.minimum(window, np.hypot(u, v), out=window)

    def main_component(self, radius: float) -> np.ndarray:
        """The largest connected set of cells where a disc of that radius can stand [nx, ny]."""
        labels: np.ndarray = ndimage.label(self.distance > radius)[0]  # type: ignore[index]
        if not labels.any():
            return np.zeros_like(self.distance, dtype=bool)
        sizes = np.bincount(labels.ravel())
        sizes[0] = 0
        return labels == int(sizes.argmax())

    def nearest(self, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Distance from each point [P, 2] to the nearest of the cells, to about half a cell [P]."""
        if not cells.any():
            return np.full(len(points), np.inf)
        distance = np.asarray(ndimage.distance_transform_edt(~cells))
        i = np.clip((points[:, 0] / CELL).astype(int), 0, len(self.x) - 1)
        j = np.clip((points[:, 1] / CELL).astype(int), 0, len(self.y) - 1)
        return distance[i, j] * CELL
