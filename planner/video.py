"""Videos of episodes, as in the VER paper's supplement.

A third-person view follows the robot; beside it the head camera's depth, the map and the plan. The
object to be picked is boxed in white, a translucent ghost stands where it shall go, a handle that
is to be used next is boxed in amber, and a grey sphere marks where Navigate is sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from planner.interactions import OBJECT_AT_DISTANCE, held_slot
from planner.labels import REARM, WAIT, label_of
from planner.panels import (
    BACKGROUND,
    DONE,
    FAILED,
    FAINT,
    FARTHEST,
    NOW,
    SMALL,
    TEXT,
    Color,
    MapPanel,
    Picture,
    depth_panel,
    draw_plan,
)
from planner.record import Execution, Moment, missed_steps
from rearrange.env import RearrangeEnv
from rearrange.episodes import spec_of
from rearrange.render import VideoWriter, View, draw_box, draw_ghost_box, draw_ghost_sphere
from rearrange.render.chase import SCENE, ChaseView
from rearrange.render.sheet import font
from rearrange.sim.mujoco import MujocoSimulator
from skills.registry import effect_of

FPS = 30
STRIDE = 3  # every third step of a plan is drawn: three times real time
PANEL_WIDTH = 280
MARGIN = 10
DEPTH_SIZE = 176
MAP_HEIGHT = 168
GHOST = (120, 220, 140)
SPHERE = (165, 168, 176)
HANDLE_BOX = (0.07, 0.07, 0.07)  # half sizes [m]; turned handles fit too
LAST_FRAMES = 45  # how long the result stands still


class EpisodeVideo:
    """Writes one episode to an mp4, as an observer of the executive and a context manager."""

    def __init__(
        self,
        path: Path,
        world: RearrangeEnv,
        title: str,
        sources: Mapping[str, str] | None = None,
        stride: int = STRIDE,
        fps: int = FPS,
    ) -> None:
        """Prepare the video of the episode that the world was just reset to.

        Args:
            path: The mp4; it appears once it is complete.
            world: The world.
            title: Name of the task, for people.
            sources: Skill -> `Skill.source`, for the captions; what is left out is not told.
            stride: Steps between two pictures.
            fps: Pictures per second; with FPS, the film is `stride` times as fast as real time.
        """
        if not isinstance(world.simulator, MujocoSimulator) or world.simulator.worlds[0] is None:
            raise ValueError("videos are drawn from the MuJoCo simulator after a reset")
        self.path = path
        self._title = title
        self._sources = sources or {}
        self._stride = stride
        self._speed = f"{stride * fps / FPS:g}x speed"
        apartment = world.simulator.worlds[0]
        self._writer = VideoWriter(path, fps, quality=26)
        self._chase = ChaseView(apartment.model)
        self._map = MapPanel(apartment.grid, PANEL_WIDTH - 2 * MARGIN, MAP_HEIGHT)
        self._last: tuple[RearrangeEnv, Moment] | None = None

    def __enter__(self) -> EpisodeVideo:
        self._writer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.__exit__(kind, error, trace)

    def observe(self, world: RearrangeEnv, moment: Moment) -> None:
        """Draws the first step and every `stride`-th after it."""
        self._last = (world, moment)
        if (world.elapsed_steps - 1) % self._stride == 0:
            self._writer.write(self.frame(world, moment))

    def finish(self, execution: Execution) -> None:
        """Lets the last picture stand with the result on it."""
        if self._last is None:
            return
        picture = self.frame(*self._last, execution)
        for _ in range(LAST_FRAMES):
            self._writer.write(picture)

    def frame(
        self, world: RearrangeEnv, moment: Moment, execution: Execution | None = None
    ) -> Picture:
        """One picture [540, 960, 3]."""
        scene = self._scene(world, moment)
        canvas = Image.new("RGB", (SCENE.width + PANEL_WIDTH, SCENE.height), BACKGROUND)
        canvas.paste(Image.fromarray(scene), (0, 0))
        self._caption(canvas, world, moment, execution)
        self._panel(canvas, world, moment, execution)
        return np.asarray(canvas)

    def _scene(self, world: RearrangeEnv, moment: Moment) -> Picture:
        simulator = world.simulator
        assert isinstance(simulator, MujocoSimulator)
        data = simulator.data[0]
        assert data is not None
        x, y, yaw = (float(v) for v in world.state.base_pose[0])
        picture, view = self._chase.draw(data, (x, y, yaw))
        self._mark(picture, view, world, moment)
        return picture

    def _mark(self, picture: Picture, view: View, world: RearrangeEnv, moment: Moment) -> None:
        """Boxes, ghost and sphere of what is being done."""
        target = world.episode.targets[_target_index(moment)]
        kind = spec_of(world.episode).objects[target.slot]
        radius, height = kind.footprint_radius, kind.half_height
        state = world.state
        if target.goal != target.start:
            draw_ghost_box(picture, view, target.goal, (radius, radius, height), GHOST)
        handle = handle_of(world, moment)
        if handle is not None:
            draw_box(picture, view, handle, HANDLE_BOX, None, NOW, hidden=0.35)
        if effect_of(moment.skill) == "arrives" and moment.argument is not None:
            above = np.add(moment.argument.position, (0.0, 0.0, 0.35))
            draw_ghost_sphere(picture, view, above if handle is None else handle, 0.12, SPHERE, 0.8)
        center = state.object_position[0, target.slot]
        placed = target.goal != target.start and (
            math.dist(center, target.goal) < OBJECT_AT_DISTANCE
        )
        if held_slot(state) != target.slot and not placed:
            draw_box(picture, view, center, (radius + 0.02, radius + 0.02, height + 0.02), None,
                     hidden=0.35)  # fmt: skip

    def _caption(
        self, canvas: Image.Image, world: RearrangeEnv, moment: Moment, execution: Execution | None
    ) -> None:
        draw = ImageDraw.Draw(canvas, "RGBA")
        draw.rectangle((0, SCENE.height - 44, SCENE.width, SCENE.height), fill=(12, 14, 18, 190))
        row = SCENE.height - 33
        if execution is not None:  # needs the whole line
            text, colour = result_text(execution)
            draw.text((16, row), text, font=font(19), fill=colour)
            return
        text = caption(world, moment)
        draw.text((16, row), text, font=font(19), fill=TEXT)
        if moment.skill in self._sources:
            end = 16 + font(19).getlength(text) + 12
            kind = kind_of(self._sources[moment.skill])
            draw.text((end, row + 3), kind, font=font(14), fill=FAINT)
        clock = f"step {world.elapsed_steps}, {self._speed}"
        draw.text((SCENE.width - 16, row + 3), clock, font=font(14), fill=FAINT, anchor="ra")

    def _panel(
        self, canvas: Image.Image, world: RearrangeEnv, moment: Moment, execution: Execution | None
    ) -> None:
        draw = ImageDraw.Draw(canvas)
        left, right = SCENE.width + MARGIN, SCENE.width + PANEL_WIDTH - MARGIN
        draw.text((left, 8), self._title, font=font(17), fill=TEXT)
        depth = depth_panel(world.simulator.render_depth()[0], DEPTH_SIZE)
        canvas.paste(Image.fromarray(depth), (left + (right - left - DEPTH_SIZE) // 2, 34))
        top = 34 + DEPTH_SIZE + 3
        said = f"head camera, depth 0 to {FARTHEST:g} m"
        draw.text(((left + right) // 2, top), said, font=font(SMALL), fill=FAINT, anchor="ma")
        target = world.episode.targets[_target_index(moment)]
        x, y, yaw = (float(v) for v in world.state.base_pose[0])
        goal = target.goal if target.goal != target.start else None
        chart = Image.fromarray(self._map.draw((x, y, yaw), target.start, goal))
        top += 20
        canvas.paste(chart, (left + (right - left - chart.width) // 2, top))
        plan_index, failed = progress(moment, execution)
        draw_plan(
            draw,
            world.episode,
            moment.calls,
            plan_index,
            failed,
            missed=moment.missed if execution is None else missed_steps(execution.hand_offs),
            top=top + MAP_HEIGHT + MARGIN + 6,
            left=left,
            right=right,
        )


def progress(moment: Moment, execution: Execution | None) -> tuple[int, bool]:
    """The step of the plan that is being done, and whether it has failed; in the end the next if it has not."""
    if execution is None:
        return moment.plan_index, False
    failed = execution.failure is not None
    if execution.hand_offs:  # none of a skill's own task
        failed &= execution.hand_offs[-1].deviation is not None
    return moment.plan_index + (not failed), failed


def result_text(execution: Execution) -> tuple[str, Color]:
    """Describe the episode's end, for example "Failed, pick: time-out: 7 of 10 interactions"."""
    text, colour = "Success", DONE
    if execution.failure is not None:
        skill, colon, cause = execution.failure.partition(":")
        text, colour = f"Failed, {label_of(skill).title}{colon}{cause}", FAILED
    count = len(execution.interactions)
    if count > 1:
        text += f": {sum(result.once for result in execution.interactions)} of {count} interactions"
    return text, colour


def _target_index(moment: Moment) -> int:
    return moment.calls[moment.plan_index].argument.target_index


def kind_of(source: str) -> str:
    """Return a skill's source for captions: a checkpoint is "learned", the rest is as it is."""
    return "learned" if source.endswith(".safetensors") else source


def handle_of(world: RearrangeEnv, moment: Moment) -> NDArray[np.float64] | None:
    """Position of the handle that the plan's current step is about [3], m; None without one."""
    joint = moment.calls[moment.plan_index].argument.joint
    if joint is None or moment.skill in (REARM, WAIT):
        return None
    return world.state.handle_position[0, spec_of(world.episode).index(joint)]


def caption(world: RearrangeEnv, moment: Moment) -> str:
    """Describe the current step and its number, for example "3/20  driving to table 1"."""
    return f"{moment.plan_index + 1}/{len(moment.calls)}  {doing(world, moment)}"


def doing(world: RearrangeEnv, moment: Moment) -> str:
    """Describe the current step, for example "driving to table 1"."""
    call = moment.calls[moment.plan_index]
    verb, scene = label_of(moment.skill).verb, spec_of(world.episode)
    if moment.argument is None or moment.skill == REARM:
        return verb
    if call.receptacle is not None:
        return f"{verb} the {scene.title(call.receptacle)}"
    target = world.episode.targets[call.argument.target_index]
    if call.argument.kind == "object":
        return f"{verb} the {scene.objects[target.slot].title}"
    where = scene.title(target.goal_receptacle)
    article = "" if where[-1].isdigit() else "the "  # the sofa, but table 1
    return f"{verb} {article}{where}"
