"""Storeys of a building of which only triangles are known: where an agent can go, and how high that is.

A storey has one height at each place, so that all that is known of flat floors goes for it, too. It is
grown from its level over steps that the agent can take, what is nearer to the level first: so it holds
stairs and what they lead to, as far as that is not above or below the storey itself. Of each storey the
connected regions are told apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from rearrange.caching import cached_njit
from rearrange.errors import UserError
from rearrange.navigation.heap import pop, push
from rearrange.navigation.occupancy import CELL_SIZE, OccupancyGrid
from rearrange.navigation.voxels import Columns, columns_of

MOST_CELLS = 40_000_000  # of the rectangle around a building: 316 m x 316 m
BIN = 0.1  # [m], of heights that are counted together
LEAST_AREA = 1.0  # [m2] of a region, and of what a storey adds to those before it
MOST_STOREYS = 32
BLOCKED = -1


@dataclass(frozen=True)
class Walker:
    """Who goes over the floor; numbers but the first two are Recast's usual ones in Habitat.

    Attributes:
        radius: [m].
        height: Room needed above the floor [m].
        climb: Highest step [m].
        slope: Steepest floor [deg].
    """

    radius: float
    height: float
    climb: float = 0.2
    slope: float = 45.0


@dataclass(frozen=True, eq=False)
class Storey:
    """A region that a walker gets around in, on one storey.

    Attributes:
        grid: Clearance; what is not of the region is an obstacle.
        heights: Of the floor [nx, ny] float32, m; beside the floor that of the nearest place on it.
        cells: Indices of the cells where the walker fits [C, 2].
        level: From which it was grown [m].
        covered: Share of the cells over which there is something, a ceiling say.
    """

    grid: OccupancyGrid
    heights: np.ndarray
    cells: np.ndarray
    level: float
    covered: float

    @property
    def area(self) -> float:
        """Where the walker's middle can be [m2]."""
        return len(self.cells) * self.grid.cell**2

    @property
    def places(self) -> np.ndarray:
        """Centres of the cells, with their heights [C, 3], m."""
        floor = self.heights[self.cells[:, 0], self.cells[:, 1]]
        return np.column_stack([self.grid.center_of(self.cells), floor])


def storeys_of(name: str, corners: np.ndarray, walker: Walker) -> list[Storey]:
    """Find the storeys of a building, those with the largest area first found first.

    Args:
        name: For messages.
        corners: Of its triangles [T, 3, 3], counterclockwise as seen from outside, z up, m.
        walker: Who goes there.

    Raises:
        UserError: There is no floor where the walker fits, or the building is too large.
    """
    low, high = corners.reshape(-1, 3).min(axis=0)[:2], corners.reshape(-1, 3).max(axis=0)[:2]
    # Walls lie within cells
    origin = (float(low[0]) - 1.5 * CELL_SIZE, float(low[1]) - 1.5 * CELL_SIZE)
    nx, ny = (int(n) for n in np.ceil((high - low) / CELL_SIZE + 3.0))
    if nx * ny > MOST_CELLS:
        raise UserError(
            f"{name}: {nx * CELL_SIZE:.0f} m x {ny * CELL_SIZE:.0f} m is too large: lengths must be in "
            "metres, and stray triangles far off cut away"
        )
    columns = columns_of(
        corners, origin, (nx, ny), CELL_SIZE, walker.height, walker.climb,
        math.radians(walker.slope),
    )  # fmt: skip
    storeys: list[Storey] = []
    covered = ~columns.walkable
    for _ in range(MOST_STOREYS):
        level = _level(columns.high[~covered])
        if level is None:
            break
        seeds = np.flatnonzero(~covered & (np.abs(columns.high - level) <= walker.climb))
        sheet = _grow(columns, (nx, ny), level, seeds, walker.height, walker.climb)
        storeys += _regions(name, columns, sheet, covered, origin, walker, level)
        covered[sheet[sheet >= 0]] = True
        covered[seeds] = True
    if not storeys:
        raise UserError(
            f"{name}: expected a floor of {LEAST_AREA:g} m2 or more for an agent of radius "
            f"{walker.radius:g} m and height {walker.height:g} m, found none: is z up in the file? (else its "
            "stage_config.json must say so), and are lengths in metres?"
        )
    return storeys


def _level(heights: np.ndarray) -> float | None:
    """The height that most of some cells have [m]; None where they are too few for a storey."""
    if len(heights) * CELL_SIZE**2 < LEAST_AREA:
        return None
    bins = np.floor(heights / BIN).astype(np.int64)
    counts = np.bincount(bins - bins.min())
    best = int(counts.argmax()) + bins.min()
    return float(np.median(heights[bins == best]))


def _regions(
    name: str,
    columns: Columns,
    sheet: np.ndarray,
    covered: np.ndarray,
    origin: tuple[float, float],
    walker: Walker,
    level: float,
) -> list[Storey]:
    """Connected regions of a sheet, large ones first, without those that add little to what is covered."""
    free = sheet >= 0
    away = CELL_SIZE * np.asarray(ndimage.distance_transform_edt(np.pad(free, 1)))[1:-1, 1:-1]
    labels, count = ndimage.label(free & (away >= walker.radius))  # pyright: ignore[reportGeneralTypeIssues]
    new = free & ~covered[sheet]
    added = np.bincount(labels[new], minlength=count + 1) * CELL_SIZE**2
    added[0] = 0.0
    ends = columns.starts[1:][np.diff(columns.starts) > 0] - 1
    roofed = np.ones(len(columns.high), bool)
    roofed[ends] = False  # the highest span of a column
    found = []
    for label in np.argsort(-added).tolist():
        if added[label] < LEAST_AREA:
            break
        # What the walker's middle cannot get to, but its rim can, belongs to the region.
        near = CELL_SIZE * np.asarray(ndimage.distance_transform_edt(labels != label))
        own = free & (near <= walker.radius + 2.0 * CELL_SIZE)
        grid = OccupancyGrid.from_floor(name, origin, own)
        grid.clearance += np.float32(
            0.5 * CELL_SIZE
        )  # an obstacle begins anywhere within its first cell
        cells = np.argwhere(labels == label) + 1  # the grid has a border
        covered_share = float(roofed[sheet[labels == label]].mean())
        heights = _heights(columns.high, sheet, own)
        found.append(Storey(grid, heights, cells, level, covered_share))
    return found


def _heights(high: np.ndarray, sheet: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Heights of a region, with a border of one cell [nx + 2, ny + 2] float32, m."""
    beside = np.pad(~own, 1, constant_values=True)
    nearest = np.asarray(
        ndimage.distance_transform_edt(beside, return_distances=False, return_indices=True)
    )
    heights = np.pad(np.where(own, high[sheet], 0.0), 1)
    return heights[nearest[0], nearest[1]].astype(np.float32)


@cached_njit
def _fits(sheet: np.ndarray, high: np.ndarray, ix: int, iy: int, s: int, climb: float) -> bool:
    """Whether a span differs by no more than a step from those of the sheet beside it."""
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        jx, jy = ix + dx, iy + dy
        if 0 <= jx < sheet.shape[0] and 0 <= jy < sheet.shape[1]:
            beside = sheet[jx, jy]
            if beside >= 0 and abs(high[beside] - high[s]) > climb:
                return False
    return True


@cached_njit
def _grow(
    columns: Columns, shape: tuple[int, int], level: float, seeds: np.ndarray, height: float, climb: float
) -> np.ndarray:  # fmt: skip
    """One span for each column, or BLOCKED [nx, ny]: grown from some spans, those near the level first."""
    starts, low, high, walkable = columns
    sheet = np.full(shape, BLOCKED)
    most = len(seeds) + 4 * len(high)
    keys, spans = np.empty(most), np.empty(most, np.int64)
    heap = np.empty(most, np.int64)
    size = entry = 0
    for s in seeds:
        keys[entry], spans[entry] = abs(high[s] - level), s
        size = push(heap, size, keys, entry)
        entry += 1
    while size > 0:
        top = pop(heap, size, keys)
        size -= 1
        s = spans[top]
        c = np.searchsorted(starts, s, side="right") - 1
        ix, iy = c // shape[1], c % shape[1]
        if sheet[ix, iy] != BLOCKED or not _fits(sheet, high, ix, iy, s, climb):
            continue
        sheet[ix, iy] = s
        end = low[s + 1] if s + 1 < starts[c + 1] else math.inf
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            jx, jy = ix + dx, iy + dy
            if not (0 <= jx < shape[0] and 0 <= jy < shape[1]) or sheet[jx, jy] != BLOCKED:
                continue
            beside = jx * shape[1] + jy
            for n in range(starts[beside], starts[beside + 1]):
                room = low[n + 1] if n + 1 < starts[beside + 1] else math.inf
                if not walkable[n] or abs(high[n] - high[s]) > climb:
                    continue
                if min(end, room) - max(high[s], high[n]) >= height:
                    keys[entry] = max(keys[top], abs(high[n] - level))
                    spans[entry] = n
                    size = push(heap, size, keys, entry)
                    entry += 1
    return sheet
