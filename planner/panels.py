"""The side panel of the videos: what the robot sees, where it went, and how far the plan is."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from planner.interactions import SkillCall
from rearrange.episodes import Episode, spec_of
from rearrange.navigation import ROBOT_RADIUS, OccupancyGrid, draw_map
from rearrange.render import colour_depth
from rearrange.render.sheet import font

Picture = NDArray[np.uint8]
Color = tuple[int, int, int]

BACKGROUND: Color = (24, 27, 33)
TEXT: Color = (232, 234, 238)
FAINT: Color = (132, 138, 150)
DONE: Color = (102, 204, 122)
NOW: Color = (255, 196, 84)
FAILED: Color = (232, 96, 84)
ROBOT: Color = (20, 40, 90)
PATH: Color = (35, 105, 215)
START: Color = (214, 60, 40)
GOAL: Color = (40, 150, 70)

FARTHEST = 5.0  # [m], of the depth panel
SMALL = 14  # font; the README's GIF shows the panel at three quarters


def depth_panel(depth: NDArray[np.float32], size: int) -> Picture:
    """Depth image [H, W] in colour, as a square [size, size, 3]."""
    picture = Image.fromarray(colour_depth(depth, 0.0, FARTHEST))
    return np.asarray(picture.resize((size, size), Image.Resampling.NEAREST))


class MapPanel:
    """The apartment from above, with where the robot has been."""

    def __init__(self, grid: OccupancyGrid, width: int, height: int) -> None:
        extent = np.asarray(grid.clearance.shape) * grid.cell
        self._scale = float(min(width / extent[0], height / extent[1]))
        self._origin = grid.origin
        self._floor = Image.fromarray(draw_map(grid, pixels_per_metre=self._scale))
        self._trail: list[tuple[float, float]] = []

    def draw(
        self,
        base_pose: tuple[float, float, float],
        start: Sequence[float] | None,
        goal: Sequence[float] | None,
    ) -> Picture:
        """The map now; the robot's position is added to its trail.

        Args:
            base_pose: x, y, yaw.
            start: Where the current object stood, or None.
            goal: Where it shall go, or None.
        """
        x, y, yaw = base_pose
        self._trail.append(self._pixel(x, y))
        image = self._floor.copy()
        draw = ImageDraw.Draw(image)
        if len(self._trail) > 1:
            draw.line(self._trail, fill=PATH, width=2)
        if start is not None:
            self._disc(draw, start, 0.13, START, None)
        if goal is not None:
            self._disc(draw, goal, 0.17, None, GOAL)
        self._disc(draw, (x, y), ROBOT_RADIUS, ROBOT, (255, 255, 255))
        nose = self._pixel(x + ROBOT_RADIUS * math.cos(yaw), y + ROBOT_RADIUS * math.sin(yaw))
        draw.line([self._pixel(x, y), nose], fill=(255, 255, 255), width=2)
        return np.asarray(image)

    def _pixel(self, x: float, y: float) -> tuple[float, float]:
        column = (x - self._origin[0]) * self._scale
        return column, self._floor.height - (y - self._origin[1]) * self._scale

    def _disc(
        self,
        draw: ImageDraw.ImageDraw,
        center: Sequence[float],
        radius: float,
        fill: Color | None,
        outline: Color | None,
    ) -> None:
        column, row = self._pixel(center[0], center[1])
        r = max(radius * self._scale, 3.0)
        box = (column - r, row - r, column + r, row + r)
        draw.ellipse(box, fill=fill, outline=outline, width=1 if fill else 3)


def draw_plan(
    draw: ImageDraw.ImageDraw,
    episode: Episode,
    calls: Sequence[SkillCall],
    plan_index: int,
    failed: bool,
    missed: Collection[int],
    top: int,
    left: int,
    right: int,
) -> None:
    """One line per target, with a dot for each of its plan steps.

    Args:
        draw: The panel.
        episode: Names objects and goals.
        calls: The plan.
        plan_index: The step that is being done; len(calls) once all are done.
        failed: The step `plan_index` ended the episode.
        missed: Steps that ended otherwise than the plan assumes.
        top: Row of the first line [pixels].
        left: Left edge [pixels].
        right: Right edge [pixels].
    """
    for line, steps in enumerate(_steps_of_targets(calls).values()):
        row = top + 22 * line
        current = plan_index in steps
        past = FAILED if any(step in missed for step in steps) else DONE
        colour = TEXT if current else past if plan_index > steps[-1] else FAINT
        room = right - left - 11 * len(steps)
        name = line_title(episode, [calls[step] for step in steps], room)
        draw.text((left, row - 1), name, font=font(SMALL), fill=colour)
        for dot, step in enumerate(steps):
            x = right - 11 * (len(steps) - dot) + 2
            fill = DONE if step < plan_index else None
            if step == plan_index:
                fill = FAILED if failed else NOW
            elif step in missed:
                fill = FAILED
            draw.ellipse((x, row + 4, x + 7, row + 11), fill=fill, outline=fill or FAINT)


def line_title(episode: Episode, calls: Sequence[SkillCall], room: int) -> str:
    """Title of a target's steps, shortened to the room there is [pixels]."""
    receptacle = calls[0].receptacle
    if receptacle is not None and all(c.interacts and c.receptacle == receptacle for c in calls):
        return spec_of(episode).title(receptacle)  # the training of a skill that opens or closes
    target = episode.targets[calls[0].argument.target_index]
    name = spec_of(episode).objects[target.slot].title
    full = f"{name} to {spec_of(episode).title(target.goal_receptacle)}"
    return full if target.goal != target.start and font(SMALL).getlength(full) <= room else name


def _steps_of_targets(calls: Sequence[SkillCall]) -> dict[int, list[int]]:
    """Target -> its plan steps, in the order of the plan."""
    steps: dict[int, list[int]] = {}
    for index, call in enumerate(calls):
        steps.setdefault(call.argument.target_index, []).append(index)
    return steps
