"""Occupancy grid: a clearance field over an apartment's floor, and motion against it.

World frame, metres, radians. Fields are indexed [ix, iy] and sampled at cell centres; between
centres they are interpolated bilinearly. Clearance is the signed distance to the nearest obstacle
(negative inside), computed from the primitives themselves instead of from a raster, so it is
exact at every cell centre outside obstacles.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import cached_property
from typing import cast

import numpy as np
from scipy import ndimage

from rearrange.caching import cached_njit
from rearrange.navigation.footprints import (
    Building,
    Floor,
    footprints_of,
    tall_footprints_of,
)

CELL_SIZE = 0.05  # [m]
ROBOT_RADIUS = 0.3  # [m], habitat-lab's agent radius
MARGIN = 0.3  # [m], border of cells around the apartment's bounds
SLACK = 0.5  # cells
POSE_ATTEMPTS = 100  # cells that are tried for a free pose
TILE = 8  # cells, side of what is looked at together when clearance is computed


class OccupancyGrid:
    """Clearance of every floor cell of one apartment, all doors and drawers closed.

    Attributes:
        apartment: What was rasterised.
        cell: Cell size [m].
        origin: World position of the lower corner of cell [0, 0] (x, y) [m].
        clearance: Signed distance to the nearest obstacle or to the outside [nx, ny], float32, m.
    """

    cell = CELL_SIZE

    def __init__(self, apartment: Building) -> None:
        """Compute the clearance field of an apartment, or of another building."""
        x_min, y_min, x_max, y_max = apartment.bounds
        self.apartment = apartment
        self.origin = (float(x_min - MARGIN), float(y_min - MARGIN))
        shape = (
            math.ceil((x_max - x_min + 2 * MARGIN) / self.cell),
            math.ceil((y_max - y_min + 2 * MARGIN) / self.cell),
        )
        self.clearance = clearance_field(
            shape, self.origin, self.cell, np.array(apartment.bounds), footprints_of(apartment)
        )

    @classmethod
    def from_floor(cls, name: str, origin: tuple[float, float], free: np.ndarray) -> OccupancyGrid:
        """Grid from a free-space mask (accurate to about one cell).

        Args:
            name: For messages.
            origin: World position of the lower corner of cell [0, 0] (x, y) [m].
            free: Whether nothing stands in a cell [nx, ny].
        """
        free, cell = np.pad(free, 1), cls.cell
        origin = (origin[0] - cell, origin[1] - cell)
        end = (origin[0] + free.shape[0] * cell, origin[1] + free.shape[1] * cell)
        grid = cls.__new__(cls)
        grid.apartment, grid.origin = Floor(name, (*origin, *end)), origin
        # From centre to centre; the obstacle begins half a cell before its centre
        inside, outside = (
            np.asarray(ndimage.distance_transform_edt(mask)) for mask in (free, ~free)
        )
        grid.clearance = (cell * (inside - outside - 0.5 * np.where(free, 1, -1))).astype(
            np.float32
        )
        return grid

    def with_obstacles(self, footprints: np.ndarray) -> OccupancyGrid:
        """The same floor with more on it: footprints [M, 6] as of `footprints_of`, an open door's e.g."""
        grid = copy.copy(self)
        for name in ("island", "island_cells", "_robot_passable"):
            vars(grid).pop(name, None)
        far = np.array([-math.inf, -math.inf, math.inf, math.inf])
        added = clearance_field(self.clearance.shape, self.origin, self.cell, far, footprints)
        grid.clearance = np.minimum(self.clearance, added)
        return grid

    def clearance_at(self, x: float, y: float) -> float:
        """Interpolated signed distance to the nearest obstacle [m]; negative outside the grid."""
        return interpolate(self.clearance, *self.origin, self.cell, float(x), float(y))

    def is_free(self, x: float, y: float, radius: float = ROBOT_RADIUS) -> bool:
        """True if a disc of this radius [m] at (x, y) touches nothing."""
        return self.clearance_at(x, y) >= radius

    def cell_of(self, x: float, y: float) -> tuple[int, int]:
        """Indices of the cell that contains (x, y), clipped to the grid."""
        ix = int((x - self.origin[0]) / self.cell)
        iy = int((y - self.origin[1]) / self.cell)
        return (
            min(max(ix, 0), self.clearance.shape[0] - 1),
            min(max(iy, 0), self.clearance.shape[1] - 1),
        )

    def center_of(self, cells: np.ndarray) -> np.ndarray:
        """World positions [..., 2] (m) of cell centres given as indices [..., 2]."""
        return np.asarray(self.origin) + (np.asarray(cells) + 0.5) * self.cell

    def navigable(self, radius: float = ROBOT_RADIUS) -> np.ndarray:
        """Largest connected set of cells where a disc of this radius [m] fits [nx, ny] bool."""
        return _largest_component(self.clearance >= radius)

    def passable(self, radius: float = ROBOT_RADIUS) -> np.ndarray:
        """Cells over which a way of a disc of this radius [m] may lead [nx, ny] bool.

        Taking only cells whose centre is free would thicken every obstacle by half a cell on average
        and lengthen the way around corners by 1 to 2 %. So cells next to a free one count from SLACK
        cells less on.
        """
        if radius == ROBOT_RADIUS:
            return self._robot_passable
        return _passable(self.clearance, self.cell, radius)

    @cached_property
    def _robot_passable(self) -> np.ndarray:
        return _passable(self.clearance, self.cell, ROBOT_RADIUS)

    @cached_property
    def island(self) -> np.ndarray:
        """Largest connected set of cells where the robot fits [nx, ny] bool."""
        return self.navigable(ROBOT_RADIUS)

    @cached_property
    def island_cells(self) -> np.ndarray:
        """Indices of the island's cells [N, 2]."""
        return np.argwhere(self.island).astype(np.int16)  # there are many, of each apartment

    @cached_property
    def tall_footprints(self) -> np.ndarray:
        """Footprints [M, 6] of walls and of furniture behind which an arm gets at nothing."""
        return tall_footprints_of(self.apartment)

    def on_island(self, x: float, y: float) -> bool:
        """True if the robot fits at (x, y) and can drive from there to most of the apartment."""
        return self.is_free(x, y) and bool(self.island[self.cell_of(x, y)])

    def nearest_navigable(
        self, x: float, y: float, island: np.ndarray | None = None
    ) -> tuple[float, float]:
        """Centre (m) of the navigable cell that is nearest to (x, y) in a straight line.

        Args:
            x: World x [m].
            y: World y [m].
            island: Cells to choose from [nx, ny] bool; None for those of the robot.
        """
        cells = self.island_cells if island is None else np.argwhere(island)
        if len(cells) == 0:
            raise ValueError(f"{self.apartment.name} has no navigable cell")
        centers = self.center_of(cells)
        nearest = centers[((centers - (x, y)) ** 2).sum(axis=1).argmin()]
        return float(nearest[0]), float(nearest[1])

    def sample_pose(self, generator: np.random.Generator) -> tuple[float, float, float]:
        """A free pose (x, y, yaw), uniform over the island and all headings.

        Raises:
            ValueError: No free pose within POSE_ATTEMPTS.
        """
        pose = self._sample(generator, self.island_cells)
        if pose is None:
            raise ValueError(f"{self.apartment.name} has no free pose")
        return (*pose, float(generator.uniform(-math.pi, math.pi)))

    def sample_pose_near(
        self,
        generator: np.random.Generator,
        point: Sequence[float],
        max_distance: float = 2.0,
        yaw_noise: float = math.radians(30.0),
        region: np.ndarray | None = None,
        among: np.ndarray | None = None,
    ) -> tuple[float, float, float] | None:
        """A free pose within a distance of a point, facing it up to Gaussian noise.

        With a region it is one from which the robot gets there within the circle: behind a wall is not near.
        So has habitat-sim's `get_random_navigable_point_near`, which visits connected polygons.

        Args:
            generator: Source of randomness.
            point: World position to face (x, y) [m].
            max_distance: Largest horizontal distance [m].
            yaw_noise: Standard deviation of the heading [rad].
            region: Cells of the island to get to [nx, ny] bool; None: it need not get anywhere.
            among: Cells to stand in [nx, ny] bool; None: any.

        Returns:
            (x, y, yaw), or None if no free pose lies that near.
        """
        offsets = self.center_of(self.island_cells) - np.asarray(point)
        reach = max_distance + self.cell
        cells = self.island_cells[(offsets**2).sum(axis=1) <= reach**2]
        if region is not None and len(cells):
            cells = cells[_connected(cells, region)]
        if among is not None:
            cells = cells[among[cells[:, 0], cells[:, 1]]]
        found = self._sample(generator, cells, point, max_distance)
        if found is None:
            return None
        heading = math.atan2(point[1] - found[1], point[0] - found[0])
        yaw = heading + float(generator.normal(0.0, yaw_noise)) if yaw_noise > 0 else heading
        return (*found, math.remainder(yaw, 2 * math.pi))

    def _sample(
        self,
        generator: np.random.Generator,
        cells: np.ndarray,
        point: Sequence[float] | None = None,
        max_distance: float = math.inf,
    ) -> tuple[float, float] | None:
        """A free position, uniform over the cells' area, at most so far from the point."""
        for _ in range(POSE_ATTEMPTS if len(cells) else 0):
            cell = cells[generator.integers(len(cells))] + generator.uniform(-0.5, 0.5, 2)
            x, y = (float(value) for value in self.center_of(cell))
            far = point is not None and math.dist((x, y), point) > max_distance
            if not far and self.is_free(x, y):
                return x, y
        return None


def _passable(clearance: np.ndarray, cell: float, radius: float) -> np.ndarray:
    free = clearance >= radius
    beside = np.asarray(ndimage.binary_dilation(free, np.ones((3, 3))), dtype=bool)
    return free | (beside & (clearance >= radius - SLACK * cell))


def _connected(cells: np.ndarray, region: np.ndarray) -> np.ndarray:
    """Whether cells [N, 2] are connected, over cells among them, with one that is in a region [N] bool."""
    first = cells.min(axis=0)
    near = np.zeros(cells.max(axis=0) - first + 1, bool)
    ix, iy = (cells - first).T
    near[ix, iy] = True
    found, count = cast(tuple[np.ndarray, int], ndimage.label(near))
    labels = found[ix, iy]
    reaches = np.zeros(count + 1, bool)
    reaches[labels[region[cells[:, 0], cells[:, 1]]]] = True
    return reaches[labels]


def _largest_component(mask: np.ndarray) -> np.ndarray:
    """Largest 4-connected component of a mask [nx, ny] bool."""
    labels, count = ndimage.label(mask)  # pyright: ignore[reportGeneralTypeIssues]
    if count == 0:
        return np.zeros_like(mask)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    return labels == sizes.argmax()


@cached_njit
def _signed_distance(
    footprints: np.ndarray, turns: np.ndarray, row: int, x: float, y: float, least: float
) -> float:
    """Distance from (x, y) to a footprint of [M, 6], or `least` if that is smaller [m].

    Args:
        footprints: See `footprints_of`.
        turns: Cosine and sine of their yaws [M, 2].
        row: Which footprint.
        x: World frame [m].
        y: World frame [m].
        least: Of those before it [m].
    """
    dx, dy = x - footprints[row, 0], y - footprints[row, 1]
    cosine, sine, radius = turns[row, 0], turns[row, 1], footprints[row, 5]
    u = abs(cosine * dx + sine * dy) - footprints[row, 2]
    v = abs(cosine * dy - sine * dx) - footprints[row, 3]
    longer = max(u, v)
    if longer - radius >= least:
        return least
    if min(u, v) <= 0.0:
        return longer - radius
    return min(least, math.hypot(u, v) - radius)


@cached_njit
def clearance_field(
    shape: tuple[int, int],
    origin: tuple[float, float],
    cell: float,
    bounds: np.ndarray,
    footprints: np.ndarray,
) -> np.ndarray:
    """Signed distances [nx, ny] (m) to footprints [M, 6] and to the outside of the bounds.

    In tiles: a footprint that is farther from the middle of a tile than the nearest by more than the
    tile's diagonal is nowhere the nearest in it, since distances change by at most what one moves.
    """
    field = np.empty(shape, dtype=np.float32)
    count = len(footprints)
    turns, middle = np.empty((count, 2)), np.empty(count)
    near = np.empty(count, np.int64)
    for row in range(count):
        turns[row, 0], turns[row, 1] = math.cos(footprints[row, 4]), math.sin(footprints[row, 4])
    diagonal = math.sqrt(2.0) * TILE * cell + 1e-6  # and what rounding does
    for tile_x in range(0, shape[0], TILE):
        for tile_y in range(0, shape[1], TILE):
            x = origin[0] + (tile_x + 0.5 * TILE) * cell
            y = origin[1] + (tile_y + 0.5 * TILE) * cell
            least = math.inf
            for row in range(count):
                limit = least + diagonal
                middle[row] = _signed_distance(footprints, turns, row, x, y, limit)
                least = min(least, middle[row])
            kept = 0
            for row in range(count):
                if middle[row] < least + diagonal:
                    near[kept] = row
                    kept += 1
            for ix in range(tile_x, min(tile_x + TILE, shape[0])):
                x = origin[0] + (ix + 0.5) * cell
                for iy in range(tile_y, min(tile_y + TILE, shape[1])):
                    y = origin[1] + (iy + 0.5) * cell
                    best = min(x - bounds[0], bounds[2] - x, y - bounds[1], bounds[3] - y)
                    for k in range(kept):
                        best = _signed_distance(footprints, turns, near[k], x, y, best)
                    field[ix, iy] = best
    return field


@cached_njit("float64(float32[:, ::1], float64, float64, float64, float64, float64)")
def interpolate(
    field: np.ndarray, origin_x: float, origin_y: float, cell: float, x: float, y: float
) -> float:
    """Bilinear value of a field [nx, ny] at (x, y); -1 outside the outermost cell centres."""
    u = (x - origin_x) / cell - 0.5
    v = (y - origin_y) / cell - 0.5
    if not (u >= 0.0 and v >= 0.0 and u < field.shape[0] - 1 and v < field.shape[1] - 1):
        return -1.0
    ix, iy = int(u), int(v)
    u -= ix
    v -= iy
    low = field[ix, iy] * (1.0 - v) + field[ix, iy + 1] * v
    high = field[ix + 1, iy] * (1.0 - v) + field[ix + 1, iy + 1] * v
    return low * (1.0 - u) + high * u
