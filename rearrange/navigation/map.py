"""A top-down picture of an apartment: rooms, obstacles, paths, the robot and targets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from rearrange.navigation.occupancy import ROBOT_RADIUS, OccupancyGrid

Color = tuple[int, int, int]

FLOORS: tuple[Color, ...] = ((244, 238, 226), (230, 238, 242), (236, 242, 230), (243, 232, 236))
OUTSIDE: Color = (200, 200, 204)
OBSTACLE: Color = (112, 116, 124)
TIGHT = 0.88  # brightness of floor on which the robot does not fit
PATH: Color = (35, 105, 215)
ROBOT: Color = (20, 40, 90)
TARGET: Color = (214, 60, 40)
GOAL: Color = (30, 140, 60)


def map_pixel(
    grid: OccupancyGrid, pixels_per_metre: float, x: float, y: float
) -> tuple[float, float]:
    """Column and row of a world position (x, y) [m] in the picture that `draw_map` makes."""
    height = round(grid.clearance.shape[1] * grid.cell * pixels_per_metre)
    column, up = (x - grid.origin[0]) * pixels_per_metre, (y - grid.origin[1]) * pixels_per_metre
    return column, height - up


def draw_map(
    grid: OccupancyGrid,
    pixels_per_metre: float = 60.0,
    path: np.ndarray | None = None,
    robot: tuple[float, float, float] | None = None,
    targets: Sequence[tuple[float, float]] | np.ndarray = (),
    goals: Sequence[tuple[float, float]] | np.ndarray = (),
) -> np.ndarray:
    """Picture of the floor seen from above, north (+y) up.

    Args:
        grid: Floor of the apartment.
        pixels_per_metre: Scale.
        path: Way points to draw [K, 2], world frame, m.
        robot: Robot pose (x, y, yaw), m and rad.
        targets: World positions to mark with discs [T, 2], m.
        goals: World positions to mark with rings [G, 2], m.

    Returns:
        [H, W, 3] uint8.
    """
    scale = float(pixels_per_metre)
    width = round(grid.clearance.shape[0] * grid.cell * scale)
    height = round(grid.clearance.shape[1] * grid.cell * scale)
    image = Image.fromarray(_floor(grid, width, height, scale))
    draw = ImageDraw.Draw(image)

    def pixel(x: float, y: float) -> tuple[float, float]:
        return map_pixel(grid, scale, x, y)

    if path is not None and len(path) > 1:
        draw.line([pixel(x, y) for x, y in path], fill=PATH, width=max(2, round(0.05 * scale)))
    for x, y in targets:
        _disc(draw, pixel(x, y), 0.09 * scale, TARGET)
    for x, y in goals:
        column, row = pixel(x, y)
        radius = 0.14 * scale
        ring = (column - radius, row - radius, column + radius, row + radius)
        draw.ellipse(ring, outline=GOAL, width=max(2, round(0.05 * scale)))
    if robot is not None:
        x, y, yaw = robot
        _disc(draw, pixel(x, y), ROBOT_RADIUS * scale, ROBOT)
        nose = pixel(x + ROBOT_RADIUS * math.cos(yaw), y + ROBOT_RADIUS * math.sin(yaw))
        draw.line([pixel(x, y), nose], fill=(255, 255, 255), width=max(2, round(0.06 * scale)))
    return np.array(image)


def _disc(
    draw: ImageDraw.ImageDraw, center: tuple[float, float], radius: float, color: Color
) -> None:
    x, y = center
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


def _floor(grid: OccupancyGrid, width: int, height: int, scale: float) -> np.ndarray:
    """Background [height, width, 3] uint8: rooms, obstacles, and floor too tight for the robot."""
    x = grid.origin[0] + (np.arange(width) + 0.5) / scale
    y = grid.origin[1] + (height - np.arange(height) - 0.5) / scale
    picture = np.empty((height, width, 3), dtype=np.float64)
    picture[:] = OUTSIDE
    for index, (x_min, y_min, x_max, y_max) in enumerate(grid.apartment.rooms.values()):
        rows = ((y >= y_min) & (y <= y_max))[:, None]
        columns = ((x >= x_min) & (x <= x_max))[None, :]
        picture[rows & columns] = FLOORS[index % len(FLOORS)]
    ix = np.clip(((x - grid.origin[0]) / grid.cell).astype(int), 0, grid.clearance.shape[0] - 1)
    iy = np.clip(((y - grid.origin[1]) / grid.cell).astype(int), 0, grid.clearance.shape[1] - 1)
    clearance = grid.clearance[ix[None, :], iy[:, None]]
    island = grid.island[ix[None, :], iy[:, None]]
    picture[~island] *= TIGHT
    picture[clearance <= 0.0] = OBSTACLE
    return picture.astype(np.uint8)
