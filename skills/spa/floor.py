"""Drives over the floor that was seen instead of over the true apartment."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import ndimage

from rearrange.navigation import OccupancyGrid
from rearrange.robot import RobotSpec
from skills.oracle.base_planner import BASE_MARGIN, BasePlanner, Floor
from skills.oracle.collision import place_spheres, planning_of
from skills.spa.voxels import CELL, EXTENT, VoxelMap

BASE_HEIGHTS = (0.05, 1.5)  # [m], between which the base can meet something
BORDER = 1.5  # [m] of unknown floor around what is known
TIGHT = 0.26  # [m], clearance from which a robot that stands there counts as standing free


class SeenGrid(OccupancyGrid):
    """Clearance of the floor that was seen; unknown floor is free."""

    def __init__(
        self, clearance: np.ndarray, origin: tuple[float, float], robot: np.ndarray
    ) -> None:
        """Take a clearance field [nx, ny] (m) and what can be reached from the robot [2]."""
        self.apartment: Any = SimpleNamespace(name="what was seen")
        self.cell, self.origin, self.clearance = CELL, origin, clearance
        self._robot = robot

    def navigable(self, radius: float = 0.3) -> np.ndarray:
        """Cells where a disc of this radius [m] fits and to which the robot can get [nx, ny] bool."""
        free = self.clearance >= radius
        labels, count = ndimage.label(free)  # pyright: ignore[reportGeneralTypeIssues]
        if count == 0:
            return free
        ix, iy = self.cell_of(float(self._robot[0]), float(self._robot[1]))
        if labels[ix, iy] == 0:
            cells = np.argwhere(free)
            ix, iy = cells[((cells - (ix, iy)) ** 2).sum(axis=1).argmin()]
        return labels == labels[ix, iy]

    @property
    def island(self) -> np.ndarray:
        """Cells to which the robot can get [nx, ny] bool."""
        if not hasattr(self, "_island"):
            self._island = self.navigable()
        return self._island


class SeenBasePlanner(BasePlanner):
    """Plans drives over a voxel map."""

    def __init__(
        self,
        robot: RobotSpec,
        seen: VoxelMap,
        pose: np.ndarray,
        target: np.ndarray,
        joints: np.ndarray,
        spheres: np.ndarray,
        daring: bool = False,
    ) -> None:
        """Take a snapshot of the map.

        Args:
            robot: Who drives.
            seen: The map.
            pose: Of the base, x, y, yaw [3].
            target: Where the drive leads [2+]; belongs to the floor that is looked at.
            joints: Arm posture during the drive [J], rad.
            spheres: Arm and load, see skills.oracle.collision.
            daring: The base goes under what hangs over it, such as an open fridge door, as long as
                the trunk has room; else it keeps its distance from everything below BASE_HEIGHTS[1].
        """
        self.robot, self.seen = robot, seen
        model = planning_of(robot)
        window = seen.known([pose, target], BORDER)
        origin = (window[0].start * CELL - EXTENT, window[1].start * CELL - EXTENT)
        heights = BASE_HEIGHTS if not daring else (BASE_HEIGHTS[0], model.layers[0][1])
        solid = seen.footprint(window, *heights) | seen.bumps[window]
        clearance = distances(solid)
        _free_robot(clearance, pose, origin)
        self.grid = SeenGrid(clearance, origin, pose[:2])
        centers = place_spheres(robot, np.asarray(joints, float), spheres)
        radii = spheres[:, 4]
        low, high = (centers[:, 2] - radii).min(), (centers[:, 2] + radii).max()
        band = distances(seen.footprint(window, low, high))
        discs = np.column_stack([centers[:, :2], radii])
        opened, body = np.zeros((1, 1, 1), np.float32), np.zeros((0, 4))
        if daring:
            low, high, parts = model.layers[-1]
            opened = distances(seen.footprint(window, low, high))[None]
            body = np.array([(0, *disc) for disc in parts])
        radius = robot.base.radius + BASE_MARGIN
        self.floor = Floor(clearance, band, *origin, CELL, discs, opened, body, radius)


def distances(solid: np.ndarray) -> np.ndarray:
    """Distance of every cell centre to the nearest solid cell's [nx, ny] float32, m."""
    if not solid.any():
        return np.full(solid.shape, 10.0, np.float32)
    found = np.asarray(ndimage.distance_transform_edt(~solid))
    return np.ascontiguousarray(found * CELL, dtype=np.float32)


def _free_robot(clearance: np.ndarray, robot: np.ndarray, origin: tuple[float, float]) -> None:
    """Where the robot stands there is room for it, whatever the cells' coarseness says."""
    ix, iy = int((robot[0] - origin[0]) / CELL), int((robot[1] - origin[1]) / CELL)
    around = clearance[max(ix - 1, 0) : ix + 2, max(iy - 1, 0) : iy + 2]
    if around.size and around.min() >= TIGHT:
        np.maximum(around, 0.304, out=around)
