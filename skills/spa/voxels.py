"""What the robot has seen of an apartment: a voxel map in its start frame.

Unknown space counts as free. Voxels that are seen through lose their hits again, so that what was
moved away disappears from the map.
"""

from __future__ import annotations

import math

import numpy as np

from rearrange.caching import cached_njit
from skills.spa.depth import Eye
from skills.spa.observed import CAMERA_SIZE

CELL = 0.05  # [m], edge of a voxel
EXTENT = 15.0  # [m], the map reaches this far from the start to every side
LAYERS = 36  # up to 1.8 m
MOST_HITS = 4  # looks that see through a voxel before it is free again
CARVE_NEAR, CARVE_FAR = 0.35, 4.5  # [m], depths between which voxels may be cleared
CARVE_MARGIN = 0.08  # [m] behind the voxel's centre that must be seen
FLOOR_LAYER = 1  # the lowest that the base meets: from 0.05 m up
SHRINK = 0.01  # [m] that boxes lose on each side: voxels are larger than what is in them
MODEL_MARGIN = 0.04  # [m], around models, where voxels give way to them
SAME_TOP = 0.015  # [m] of height by which voxels of one box may differ


class VoxelMap:
    """Occupied voxels, with the height of the highest point in each.

    Attributes:
        hits: How surely a voxel is occupied [X, Y, Z] uint8; 0: free or unknown.
        tops: Height of the highest point in the voxel over its floor [X, Y, Z] uint8, CELL / 255.
        bumps: Columns in which the base met something that it had not seen [X, Y] bool.
    """

    def __init__(self) -> None:
        """An empty map."""
        count = round(2 * EXTENT / CELL)
        self.hits = np.zeros((count, count, LAYERS), np.uint8)
        self.tops = np.zeros((count, count, LAYERS), np.uint8)
        self.bumps = np.zeros((count, count), bool)
        self._low = np.array([count // 2, count // 2])  # known part of the map, in columns
        self._high = self._low + 1

    def add(self, points: np.ndarray) -> None:
        """Mark points [P, 3], start frame, m."""
        bounds = _insert(self.hits, self.tops, points)
        if bounds[1, 0] >= 0:
            self._low = np.minimum(self._low, bounds[0])
            self._high = np.maximum(self._high, bounds[1] + 1)

    def carve(self, depth: np.ndarray, base_pose: np.ndarray, eye: Eye) -> None:
        """Weaken the voxels that a depth image [H, W] (m) taken at a base pose sees through."""
        _carve(self.hits, depth, base_pose, eye.position, eye.turn, eye.focal)

    def bump(self, x: float, y: float) -> None:
        """Mark a place that the base could not enter, start frame [m]."""
        ix, iy = column_of(x), column_of(y)
        if 0 <= ix < len(self.bumps) and 0 <= iy < len(self.bumps):
            self.bumps[ix, iy] = True

    def forget(self, center: np.ndarray, radius: float, low: float, high: float) -> None:
        """Clear an upright cylinder around a place [2] between two heights, m."""
        window = columns_around(center, radius)
        xs, ys = (
            (np.arange(part.start, part.stop) + 0.5) * CELL - EXTENT - c
            for part, c in zip(window, center[:2], strict=True)
        )
        inside = np.hypot(xs[:, None], ys[None, :]) < radius + 0.5 * CELL
        layers = slice(max(int(low / CELL), 0), math.ceil(min(high / CELL, LAYERS)))
        self.hits[(*window, layers)][inside] = 0

    def known(self, points: list[np.ndarray], margin: float) -> tuple[slice, slice]:
        """Columns of the known part and of some places [2], with a margin around them [m]."""
        places = np.array([[column_of(p[0]), column_of(p[1])] for p in points])
        extra = round(margin / CELL)
        low = np.minimum(self._low, places.min(axis=0)) - extra
        high = np.maximum(self._high, places.max(axis=0) + 1) + extra
        count = len(self.bumps)
        low, high = np.clip(low, 0, count), np.clip(high, 0, count)
        return slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1]))

    def footprint(self, window: tuple[slice, slice], low: float, high: float) -> np.ndarray:
        """Columns in a window with anything between two heights [m] [x, y] bool."""
        layers = slice(max(int(low / CELL), FLOOR_LAYER), min(math.ceil(high / CELL), LAYERS))
        return np.asarray(self.hits[(*window, layers)].any(axis=2))

    def occupied(self, points: np.ndarray) -> np.ndarray:
        """Whether there is something at points [P, 3] [P] bool; what is outside the map is free."""
        cells = np.floor((points + np.array([EXTENT, EXTENT, 0.0])) / CELL).astype(int)
        inside = ((cells >= 0) & (cells < self.hits.shape)).all(axis=1)
        found = np.zeros(len(points), bool)
        found[inside] = self.hits[tuple(cells[inside].T)] > 0
        return found

    def boxes(
        self, center: np.ndarray, reach: float, models: np.ndarray, shrink: float = SHRINK
    ) -> np.ndarray:
        """Occupied voxels within a horizontal distance of a place, merged into upright boxes.

        Args:
            center: Start frame [2+], m.
            reach: Half the width of the square that is looked at [m].
            models: Boxes of what was recognised [M, 8]: they replace the voxels at their surfaces,
                which are coarser than the few centimetres by which a handle stands out.
            shrink: What the boxes lose on each side [m].

        Returns:
            Rows as in skills.oracle.obstacles.Obstacles.boxes, the models last [B, 8].
        """
        window = columns_around(center, reach)
        occupied = self.hits[window] > 0
        occupied[:, :, 0] = False  # the floor
        if len(models):
            first = (window[0].start, window[1].start, 0)
            cells = np.argwhere(occupied)
            places = (cells + first + 0.5) * CELL - (EXTENT, EXTENT, 0.0)
            occupied[tuple(cells[in_boxes(places, models, MODEL_MARGIN)].T)] = False
        rows = _merge(occupied, self.tops[window], window[0].start, window[1].start)
        rows[:, 3:5] = np.maximum(rows[:, 3:5] - shrink, 0.002)
        return np.vstack([rows, models])


def in_boxes(points: np.ndarray, boxes: np.ndarray, margin: float) -> np.ndarray:
    """Which points [P, 3] lie in any of the boxes [B, 8] or within a margin of one [m] [P] bool."""
    inside = np.zeros(len(points), bool)
    for x, y, z, half_x, half_y, half_z, cosine, sine in boxes:
        dx, dy = points[:, 0] - x, points[:, 1] - y
        inside |= (
            (np.abs(cosine * dx + sine * dy) < half_x + margin)
            & (np.abs(cosine * dy - sine * dx) < half_y + margin)
            & (np.abs(points[:, 2] - z) < half_z + margin)
        )
    return inside


def column_of(coordinate: float) -> int:
    """Index of the column at a coordinate of the start frame [m]."""
    return math.floor((coordinate + EXTENT) / CELL)


def columns_around(center: np.ndarray, reach: float) -> tuple[slice, slice]:
    """Columns of a square around a place [2], cut at the map's border."""
    count = round(2 * EXTENT / CELL)
    sides = [
        slice(
            min(max(column_of(c - reach), 0), count - 1),
            min(max(column_of(c + reach) + 1, 1), count),
        )
        for c in (float(center[0]), float(center[1]))
    ]
    return sides[0], sides[1]


@cached_njit
def _insert(hits: np.ndarray, tops: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Mark points [P, 3]; returns the first and last column touched [2, 2], -1 if none."""
    bounds = np.array([[hits.shape[0], hits.shape[1]], [-1, -1]])
    for p in range(len(points)):
        ix = math.floor((points[p, 0] + EXTENT) / CELL)
        iy = math.floor((points[p, 1] + EXTENT) / CELL)
        height = points[p, 2] / CELL
        iz = max(math.floor(height), 0)
        if not (0 <= ix < hits.shape[0] and 0 <= iy < hits.shape[1] and iz < hits.shape[2]):
            continue
        top = min(max(int(255.0 * (height - iz) + 0.5), 0), 255)
        if hits[ix, iy, iz] == 0 or top > tops[ix, iy, iz]:
            tops[ix, iy, iz] = top
        hits[ix, iy, iz] = MOST_HITS
        bounds[0, 0], bounds[0, 1] = min(bounds[0, 0], ix), min(bounds[0, 1], iy)
        bounds[1, 0], bounds[1, 1] = max(bounds[1, 0], ix), max(bounds[1, 1], iy)
    return bounds


@cached_njit
def _carve(
    hits: np.ndarray,
    depth: np.ndarray,
    pose: np.ndarray,
    eye: np.ndarray,
    turn: np.ndarray,
    focal: float,
) -> None:
    """Take a hit from every voxel behind all of whose pixels the image sees on."""
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    reach = int(CARVE_FAR / CELL)
    cx = math.floor((pose[0] + EXTENT) / CELL)
    cy = math.floor((pose[1] + EXTENT) / CELL)
    half = 0.5 * CAMERA_SIZE
    for ix in range(max(cx - reach, 0), min(cx + reach, hits.shape[0])):
        for iy in range(max(cy - reach, 0), min(cy + reach, hits.shape[1])):
            dx, dy = (ix + 0.5) * CELL - EXTENT - pose[0], (iy + 0.5) * CELL - EXTENT - pose[1]
            bx, by = cosine * dx + sine * dy - eye[0], cosine * dy - sine * dx - eye[1]
            if bx < 0.1:
                continue
            for iz in range(hits.shape[2]):
                if hits[ix, iy, iz] == 0:
                    continue
                bz = (iz + 0.5) * CELL - eye[2]
                ahead = -(bx * turn[0, 2] + by * turn[1, 2] + bz * turn[2, 2])
                if ahead < CARVE_NEAR or ahead > CARVE_FAR:
                    continue
                right = bx * turn[0, 0] + by * turn[1, 0] + bz * turn[2, 0]
                up = bx * turn[0, 1] + by * turn[1, 1] + bz * turn[2, 1]
                u, v = half + focal * right / ahead, half - focal * up / ahead
                around = math.ceil(0.9 * CELL * focal / ahead)
                j0, j1 = int(u) - around, int(u) + around + 1
                i0, i1 = int(v) - around, int(v) + around + 1
                if i0 < 0 or j0 < 0 or i1 > CAMERA_SIZE or j1 > CAMERA_SIZE:
                    continue
                if depth[i0:i1, j0:j1].min() > ahead + CARVE_MARGIN:
                    hits[ix, iy, iz] -= 1


@cached_njit
def _fits(
    left: np.ndarray, tops: np.ndarray, ix: int, iy: int, iz: int, ez: int, top: int, same: int
) -> bool:
    """Whether a column's voxels from iz to ez are all there, end there, and are equally high."""
    for k in range(iz, ez):
        if not left[ix, iy, k]:
            return False
    if ez < left.shape[2] and left[ix, iy, ez]:
        return False
    return abs(int(tops[ix, iy, ez - 1]) - top) <= same


@cached_njit
def _merge(occupied: np.ndarray, tops: np.ndarray, first_x: int, first_y: int) -> np.ndarray:
    """Greedy merging of voxels [X, Y, Z] into boxes [B, 8]: upwards, then along x, then along y."""
    left = occupied.copy()
    rows = np.empty((np.sum(occupied), 8))
    count = 0
    same = int(255 * SAME_TOP / CELL)
    nx, ny, nz = left.shape
    for ix in range(nx):
        for iy in range(ny):
            for iz in range(nz):
                if not left[ix, iy, iz]:
                    continue
                ez = iz + 1
                while ez < nz and left[ix, iy, ez]:
                    ez += 1
                top = int(tops[ix, iy, ez - 1])
                ex = ix + 1
                while ex < nx and _fits(left, tops, ex, iy, iz, ez, top, same):
                    ex += 1
                ey = iy + 1
                while ey < ny:
                    row = True
                    for kx in range(ix, ex):
                        if not _fits(left, tops, kx, ey, iz, ez, top, same):
                            row = False
                            break
                    if not row:
                        break
                    ey += 1
                highest = 0
                for kx in range(ix, ex):
                    for ky in range(iy, ey):
                        highest = max(highest, int(tops[kx, ky, ez - 1]))
                        left[kx, ky, iz:ez] = False
                low, high = iz * CELL, (ez - 1 + highest / 255.0) * CELL
                rows[count, 0] = (first_x + 0.5 * (ix + ex)) * CELL - EXTENT
                rows[count, 1] = (first_y + 0.5 * (iy + ey)) * CELL - EXTENT
                rows[count, 2] = 0.5 * (low + high)
                rows[count, 3] = 0.5 * (ex - ix) * CELL
                rows[count, 4] = 0.5 * (ey - iy) * CELL
                rows[count, 5] = max(0.5 * (high - low), 0.005)
                rows[count, 6], rows[count, 7] = 1.0, 0.0
                count += 1
    return rows[:count].copy()
