"""Floor map: what the head camera has seen of the floor since the episode began, as a second image.

The map is gathered from depth images and odometry alone, as an occupancy grid in the frame of the start, and
shown from above around the base. What left the view of the camera so stays in that of the policy. A base that
does not go where it is driven has bumped into something, which no camera need see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.render.camera import FAR, Camera, look_at
from rearrange.robot import RobotSpec
from rearrange.sim.base import SimState
from rearrange.tasks.sensors import gps_compass
from rearrange.threads import ALONE, Threads

FLOOR_MAP = "floor_map"  # key of the observation
CHANNELS = 3  # something stands there; floor was seen, the base has been there; the goal
CELL, CELLS = 0.1, 320  # of the grid [m], and how many along each side, the start in the middle
SPAN = 8.0  # side of the square that is shown, the base in its middle [m]
GOAL_RADIUS = 0.25  # of the disc that shows it [m]
LOW, HIGH = 0.06, 1.4  # [m], heights between which a point is in the base's way
BUMP = 0.35  # [m], from the base's middle to what it bumps into
BLIND_RADIUS = 1.0  # [m], around the base: what is nearer may be the arm or what it holds
UNKNOWN, FLOOR, BEEN, OBSTACLE = 0, 1, 2, 3  # what a cell of the grid tells
HALF, FULL = 128, 255


@cached_njit
def _cell(pose: Any, ahead: float, left: float) -> tuple[int, int]:
    """The cell of a place of the base frame [m]; it may lie outside of the grid."""
    x = pose[0] + pose[2] * ahead - pose[3] * left
    y = pose[1] + pose[3] * ahead + pose[2] * left
    return int(np.floor(x / CELL)) + CELLS // 2, int(np.floor(y / CELL)) + CELLS // 2


@cached_njit
def _add(grid: Any, depth: Any, farthest: float, eye: Any, rays: Any, pose: Any) -> None:
    """Write what a depth image shows into a grid.

    Args:
        grid: Changed [CELLS, CELLS] uint8; x, then y.
        depth: [H, W], in units of `farthest`.
        farthest: [m]
        eye: Of the camera, base frame [3], m.
        rays: One metre of depth along each pixel, base frame [H, W, 3].
        pose: Of the base, see gps_compass [4].
    """
    i, j = _cell(pose, 0.0, 0.0)
    if 0 <= i < CELLS and 0 <= j < CELLS:
        grid[i, j] = BEEN
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            away = depth[row, column] * farthest
            if away >= FAR - 0.01:
                continue
            ray = rays[row, column]
            ahead, left = eye[0] + away * ray[0], eye[1] + away * ray[1]
            up = eye[2] + away * ray[2]
            if up > HIGH or ahead * ahead + left * left < BLIND_RADIUS * BLIND_RADIUS:
                continue
            i, j = _cell(pose, ahead, left)
            if not (0 <= i < CELLS and 0 <= j < CELLS):
                continue
            if up > LOW:
                grid[i, j] = OBSTACLE
            elif grid[i, j] == UNKNOWN:
                grid[i, j] = FLOOR


@cached_njit
def _bump(grid: Any, pose: Any, push: float) -> None:
    """Write that something stands in the way of a base that was driven ahead (1) or back (-1), and did not go.

    Args:
        grid: Changed [CELLS, CELLS].
        pose: Of the base, see gps_compass [4].
        push: 0 writes nothing.
    """
    if push == 0.0:
        return
    for k in range(2):
        ahead = push * (BUMP + k * CELL)
        for side in range(-2, 3):
            left = side * CELL
            i, j = _cell(pose, ahead, left)
            if 0 <= i < CELLS and 0 <= j < CELLS:
                grid[i, j] = OBSTACLE


@cached_njit
def _show(grid: Any, pose: Any, goal: Any, out: Any) -> None:
    """Draw a grid as seen from above the base, which looks up, and the goal, at the edge if it is farther.

    Args:
        grid: [CELLS, CELLS].
        pose: Of the base, see gps_compass [4].
        goal: Base frame: ahead, to the left [2], m.
        out: Written [size, size, CHANNELS] uint8.
    """
    size = out.shape[0]
    pixel, half = SPAN / size, SPAN / 2
    shrink = min(1.0, (half - GOAL_RADIUS) / max(abs(goal[0]), abs(goal[1]), 1e-6))
    for row in range(size):
        ahead = half - (row + 0.5) * pixel
        for column in range(size):
            left = half - (column + 0.5) * pixel
            i, j = _cell(pose, ahead, left)
            told = grid[i, j] if 0 <= i < CELLS and 0 <= j < CELLS else UNKNOWN
            out[row, column, 0] = FULL if told == OBSTACLE else 0
            out[row, column, 1] = FULL if told == BEEN else HALF if told == FLOOR else 0
            off = (ahead - shrink * goal[0]) ** 2 + (left - shrink * goal[1]) ** 2
            out[row, column, 2] = FULL if off < GOAL_RADIUS**2 else 0


@cached_njit(nogil=True)
def _add_all(
    ids: Any, remember: Any, grids: Any, depths: Any, farthest: float, eye: Any, rays: Any,
    starts: Any, poses: Any, pushes: Any,
) -> None:  # fmt: skip
    """Add the images of some worlds and what was bumped into to their grids, where it is to be remembered."""
    for k in range(len(ids)):
        n = ids[k]
        if remember[n]:
            pose = gps_compass(starts[n], poses[n])
            _add(grids[n], depths[k, :, :, 0], farthest, eye, rays, pose)
            _bump(grids[n], pose, pushes[n])


@cached_njit(nogil=True)
def _show_all(ids: Any, grids: Any, starts: Any, poses: Any, goals: Any, out: Any) -> None:
    """Draw the grids of some worlds."""
    for k in range(len(ids)):
        n = ids[k]
        goal = geometry.to_base_frame(poses[n], goals[n])
        _show(grids[n], gps_compass(starts[n], poses[n]), goal, out[k])


class FloorMap:
    """Floor maps of N worlds.

    Attributes:
        grids: What is known [N, CELLS, CELLS] uint8.
    """

    def __init__(self, robot: RobotSpec, world_count: int) -> None:
        """Of worlds in which nothing was seen."""
        self._camera = robot.camera
        self._turn = look_at(robot.camera.position, robot.camera.target)
        self._rays = np.zeros((0, 0, 3))
        self.grids = np.zeros((world_count, CELLS, CELLS), np.uint8)

    @staticmethod
    def space(size: int) -> spaces.Box:
        """The space of a map that is as large as a depth image of so many pixels."""
        return spaces.Box(0, 255, (size, size, CHANNELS), np.uint8)

    def begin(self, i: int) -> None:
        """Forget what was seen in world i."""
        self.grids[i] = UNKNOWN

    def add(
        self,
        ids: np.ndarray,
        remember: np.ndarray,
        state: SimState,
        starts: np.ndarray,
        pushes: np.ndarray,
        depths: np.ndarray,
        unit: float,
        threads: Threads = ALONE,
    ) -> None:
        """Add depth images to the maps, and what the bases bumped into; the same again changes nothing.

        Args:
            ids: Of the K worlds of which there are images.
            remember: To which maps [N] bool.
            state: Of the worlds.
            starts: Base poses at the beginnings of the episodes [N, 3].
            pushes: 1 where a base was driven ahead and did not go, -1 likewise back, else 0 [N].
            depths: [K, H, W, 1].
            unit: What counts as 1 in them [m].
            threads: That share the work.
        """
        height, width = depths.shape[1:3]
        if self._rays.shape[:2] != (height, width):
            camera = Camera(height, width, self._camera.field_of_view)
            self._rays = camera.rays() @ self._turn.T
        eye, poses = np.array(self._camera.position), state.base_pose

        def add(some: slice) -> None:
            _add_all(
                ids[some], remember, self.grids, depths[some], unit, eye, self._rays, starts, poses, pushes
            )  # fmt: skip

        threads.rows(add, len(ids))

    def show(
        self,
        ids: np.ndarray,
        state: SimState,
        starts: np.ndarray,
        goals: np.ndarray,
        size: int,
        threads: Threads = ALONE,
    ) -> np.ndarray:
        """Pictures of K maps [K, size, size, CHANNELS] uint8, with places to go to [N, 3], world frame, m."""
        out = np.empty((len(ids), size, size, CHANNELS), np.uint8)

        def show(some: slice) -> None:
            _show_all(ids[some], self.grids, starts, state.base_pose, goals, out[some])

        threads.rows(show, len(ids))
        return out
