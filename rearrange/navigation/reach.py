"""Standing places from which the arm reaches something."""

from __future__ import annotations

import numpy as np

from rearrange.navigation.occupancy import OccupancyGrid

NO_DOORS = np.empty((0, 6))


def standing_region(
    grid: OccupancyGrid, point: np.ndarray, within: float, doors: np.ndarray = NO_DOORS
) -> np.ndarray:
    """Cells of the robot's island that are near to a point and not cut off from it.

    Args:
        grid: Floor of the building.
        point: World x and y [m].
        within: Distance [m]; where no cell is that near, or all are cut off, the nearest one counts.
        doors: What cuts off beside walls and tall furniture [M, 6], as of `footprints_of`.

    Returns:
        [nx, ny] bool, at least one cell.
    """
    low = grid.cell_of(point[0] - within, point[1] - within)
    high = grid.cell_of(point[0] + within, point[1] + within)
    part = slice(low[0], high[0] + 1), slice(low[1], high[1] + 1)
    cells = np.argwhere(grid.island[part]) + low
    centres = grid.center_of(cells)
    near = np.linalg.norm(centres - point, axis=1) <= within
    cells, centres = cells[near], centres[near]
    between = np.concatenate([grid.tall_footprints, doors])
    sizes = np.hypot(between[:, 2] + between[:, 5], between[:, 3] + between[:, 5])
    between = between[np.linalg.norm(between[:, :2] - point, axis=1) <= within + sizes]
    cells = cells[~cut_off(between, point, centres)]
    if not len(cells):
        cells = np.array([grid.cell_of(*grid.nearest_navigable(*point))])
    region = np.zeros_like(grid.island)
    region[cells[:, 0], cells[:, 1]] = True
    return region


def cut_off(footprints: np.ndarray, start: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Whether straight lines from one point run through one of some rectangles.

    Args:
        footprints: [M, 6] as of `footprints_of`; discs count as the squares around them.
        start: World x and y [m].
        ends: World x and y [N, 2], m.

    Returns:
        [N] bool.
    """
    c, s = np.cos(footprints[:, 4]), np.sin(footprints[:, 4])
    half = footprints[:, 2:4] + footprints[:, 5:6]

    def local(points: np.ndarray) -> np.ndarray:  # in every rectangle's own frame [..., M, 2]
        x = points[..., None, 0] - footprints[:, 0]
        y = points[..., None, 1] - footprints[:, 1]
        return np.stack([c * x + s * y, c * y - s * x], axis=-1)

    first = local(start)
    steps = local(ends) - first
    steps = np.where(np.abs(steps) < 1e-12, 1e-12, steps)
    enters = np.minimum((-half - first) / steps, (half - first) / steps).max(axis=-1)
    leaves = np.maximum((-half - first) / steps, (half - first) / steps).min(axis=-1)
    return ((leaves >= np.maximum(enters, 0.0)) & (enters <= 1.0)).any(axis=-1)
