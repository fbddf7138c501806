"""The sheet of one episode: third-person picture, depth image, map, facts, and later moments.

Not imported by `rearrange.render`, since simulators import that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, spec_of
from rearrange.navigation import distance_field, draw_map, map_pixel, path_length, shortest_path
from rearrange.render import (
    Camera,
    GeomTable,
    RgbOptions,
    View,
    colour_depth,
    draw_box,
    draw_ghost_box,
    draw_ghost_sphere,
    look_from,
    render_depth,
    render_rgb,
)
from rearrange.render.sheet import FAINT, Sheet, Tag, draw_tags
from rearrange.scenes.apartment import CEILING_GROUP
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import household_names

WHITE, GREEN, GREY, AMBER = (255, 255, 255), (120, 220, 140), (190, 193, 200), (255, 196, 84)
RED, BLUE, NAVY = (214, 60, 40), (35, 105, 215), (20, 40, 90)  # as on the map
SCENE = Camera(height=600, width=800, horizontal_fov=62.0)
SKETCH = Camera(height=75, width=100, horizontal_fov=62.0)  # tells what is hidden
SMALL = Camera(height=310, width=414, horizontal_fov=62.0)
DEPTH_SIZE, MAP_SIZE = 288, (460, 286)
MARGIN, HEADER, LINE = 16, 60, 21
FARTHEST_DEPTH = 5.0  # [m], what is farther is dark
LATER_MOMENTS = 3
HOLD = 10  # steps that a random action lasts
AZIMUTHS, SHOULDER = 12, 0.5  # directions of view that are tried; past the robot's shoulder [rad]


@dataclass(frozen=True)
class Subject:
    """What a sheet is about; all of it as the episode starts.

    Attributes:
        task: Name of the task.
        episode: The episode.
        goals: Index of target -> its goal [m], for targets that shall go somewhere else.
        navigation: Where Navigate is sent first [m], or None.
        handle: Place in SceneSpec.parts of the handle to be used, or None.
    """

    task: str
    episode: Episode
    goals: dict[int, tuple[float, float, float]]
    navigation: tuple[float, float, float] | None
    handle: int | None

    @classmethod
    def of(cls, task: str, episode: Episode) -> Subject:
        """Read it off an episode."""
        moved = {k: t.goal for k, t in enumerate(episode.targets) if t.goal != t.start}
        joint, navigation = episode.target_joint, None
        if task in ("navigate", *household_names()) and episode.targets:
            first = episode.targets[0]
            navigation = first.start if episode.held_slot is None else first.goal
        if task == "navigate" and episode.held_slot is None:
            moved = {}  # it ends at the object
        handle = None if joint is None else spec_of(episode).index(joint)
        return cls(task, episode, moved, navigation, handle)


class Painter:
    """Draws one running episode; the camera stands still while it runs."""

    def __init__(self, world: RearrangeEnv, subject: Subject) -> None:
        """Choose a view that holds robot, targets and goals."""
        self._world, self._subject = world, subject
        episode = subject.episode
        x, y, yaw = episode.base_pose
        robot = np.array([(x, y, 0.0), (x, y, 1.2)])
        free = episode.held_slot is None
        wanted = [*(target.start for target in episode.targets if free), *subject.goals.values()]
        if subject.handle is not None:
            wanted.append(tuple(world.state.handle_position[0, subject.handle].tolist()))
        self._points = np.vstack([robot, np.array(wanted).reshape(-1, 3)])
        ahead = self._points[2:, :2].mean(axis=0) - (x, y)
        heading = math.atan2(ahead[1], ahead[0]) if np.hypot(*ahead) > 0.3 else yaw
        spread = float(np.ptp(self._points[:, :2], axis=0).max())
        # The farther things lie apart, the steeper, so that furniture does not hide the floor.
        self._elevation = math.radians(min(38.0 + 4.0 * spread, 62.0))
        turns = np.linspace(-math.pi, math.pi, AZIMUTHS, endpoint=False) + SHOULDER
        costs = [self._cost(heading + turn) + 0.3 * abs(turn) for turn in turns]
        self._azimuth = heading + float(turns[int(np.argmin(costs))])

    def _cost(self, azimuth: float) -> float:
        """How badly one sees from there: targets that are hidden, and the distance in 10 m."""
        data = running(self._world)[1]
        eye, rotation, table = self._look(SKETCH, azimuth)
        pose = data.geom_xpos, data.geom_xmat
        depth = render_depth(table, *pose, SKETCH, eye, rotation, far=50.0)
        pixels, away = View(SKETCH, eye, rotation, depth).project(self._points[2:])
        columns, rows = np.rint(pixels).astype(int).T
        hidden = (
            depth[rows, columns] < away - 0.12
        )  # the nearest part of a thing is before its middle
        return float(hidden.sum() + np.linalg.norm(eye - self._points.mean(axis=0)) / 10.0)

    def _look(self, camera: Camera, azimuth: float) -> tuple[np.ndarray, np.ndarray, GeomTable]:
        """Position and rotation of a camera, and what it shall see."""
        world, data = running(self._world)
        points = np.vstack([self._points, [(*self._world.state.base_pose[0, :2], 0.5)]])
        eye, rotation = look_from(camera, points, azimuth, self._elevation, nearest=3.2)
        walls = _walls_between(world.model, data, eye, points)
        return eye, rotation, GeomTable.from_model(world.model, (CEILING_GROUP,), walls)

    def picture(self, camera: Camera, tagged: bool) -> np.ndarray:
        """The robot and what it is asked for, now [H, W, 3]."""
        data = running(self._world)[1]
        eye, rotation, table = self._look(camera, self._azimuth)
        depth = np.empty((camera.height, camera.width), np.float32)
        x, y, z = self._points.mean(axis=0).tolist()
        light = RgbOptions(clip_above=2.0, cut_walls=True, focus=(x, y, z))
        pose = data.geom_xpos, data.geom_xmat
        image = render_rgb(table, *pose, camera, eye, rotation, light, depth)
        tags = self._mark(image, View(camera, eye, rotation, depth))
        return draw_tags(image, tags) if tagged else image

    def _mark(self, image: np.ndarray, view: View) -> list[Tag]:
        """Boxes, ghosts and sphere; returns a tag for each."""
        subject, state, tags = self._subject, self._world.state, []

        def tag(text: str, point: Any, plate: tuple[int, int, int]) -> None:
            (column, row), depth = view.project(point)
            if depth > 0.0:
                tags.append(Tag(text, (float(column), float(row)), plate))

        for k, target in enumerate(subject.episode.targets):
            kind = spec_of(subject.episode).objects[target.slot]
            radius, height = kind.footprint_radius, kind.half_height
            if k in subject.goals:
                half = (radius, radius, height)
                draw_ghost_box(image, view, target.goal, half, GREEN)
                draw_box(image, view, target.goal, half, None, GREEN, 1, hidden=0.5)
                tag(f"goal {k + 1}", target.goal, GREEN)
            center = state.object_position[0, target.slot]
            half = (radius + 0.02, radius + 0.02, height + 0.02)
            draw_box(image, view, center, half, None, WHITE, hidden=0.45)
            tag(f"{k + 1} {kind.title}", center, WHITE)
        if subject.navigation is not None:
            above = np.add(subject.navigation, (0.0, 0.0, 0.35))
            draw_ghost_sphere(image, view, above, 0.12, GREY, 0.85)
            tag("drive here", above, GREY)
        if subject.handle is not None:
            handle = state.handle_position[0, subject.handle]
            draw_box(image, view, handle, (0.07, 0.07, 0.07), None, AMBER, hidden=0.5)
            tag("handle", handle, AMBER)
        return tags

    def depth(self, size: int) -> np.ndarray:
        """What the head camera sees now, in colour [size, size, 3]."""
        image = colour_depth(self._world.simulator.render_depth(128)[0], 0.0, FARTHEST_DEPTH)
        return np.asarray(Image.fromarray(image).resize((size, size), Image.Resampling.NEAREST))

    def map(self, width: int, height: int) -> tuple[np.ndarray, str]:
        """The map at the start [<= height, <= width, 3] and the length of the path on it."""
        episode, grid = self._subject.episode, running(self._world)[0].grid
        extent = np.asarray(grid.clearance.shape) * grid.cell
        scale = float(min(width / extent[0], height / extent[1]))
        path, told = self._path()
        starts = [] if episode.held_slot is not None else [t.start[:2] for t in episode.targets]
        goals = {k: goal[:2] for k, goal in self._subject.goals.items()}
        image = draw_map(grid, scale, path, episode.base_pose, starts, list(goals.values()))
        tags = [
            Tag(str(k + 1), map_pixel(grid, scale, *place), WHITE) for k, place in enumerate(starts)
        ]
        tags += [
            Tag(str(k + 1), map_pixel(grid, scale, *place), GREEN) for k, place in goals.items()
        ]
        return draw_tags(image, tags, size=11), told

    def _path(self) -> tuple[np.ndarray, str]:
        """Shortest way from the robot to what it does first [K, 2], m, and how long it is."""
        grid, subject = running(self._world)[0].grid, self._subject
        x, y, _ = subject.episode.base_pose
        first = subject.episode.targets[0]
        place = subject.navigation or (
            first.start if subject.episode.held_slot is None else first.goal
        )
        path = shortest_path(distance_field(grid, (place[0], place[1])), (x, y))
        if len(path) == 0:
            return path, "no path"
        return path, f"shortest path {path_length(path):.1f} m"


def running(world: RearrangeEnv) -> tuple[ApartmentModel, mujoco.MjData]:
    """Compiled apartment and state of the running episode."""
    simulator = world.simulator
    assert isinstance(simulator, MujocoSimulator)
    apartment, data = simulator.worlds[0], simulator.data[0]
    assert apartment is not None
    assert data is not None
    return apartment, data


def _walls_between(
    model: mujoco.MjModel, data: mujoco.MjData, eye: np.ndarray, points: np.ndarray
) -> list[int]:
    """Geoms of walls that hide one of some points [P, 3] from the eye."""
    walls = np.flatnonzero(model.geom_group == RgbOptions.wall_group)
    axes = data.geom_xmat[walls].reshape(-1, 3, 3)
    half = model.geom_size[walls][:, None]
    start = np.einsum("bij,bi->bj", axes, eye - data.geom_xpos[walls])[:, None]
    along = np.einsum("bij,pi->bpj", axes, points - eye)
    along = np.where(np.abs(along) < 1e-9, 1e-9, along)
    first, second = (-half - start) / along, (half - start) / along
    enter = np.minimum(first, second).max(axis=-1)
    leave = np.maximum(first, second).min(axis=-1)
    return walls[((enter < leave) & (leave > 0.0) & (enter < 1.0)).any(axis=1)].tolist()


def facts(subject: Subject) -> list[str]:
    """What the episode asks for and how it starts, line by line."""
    episode, lines = subject.episode, []
    for k, target in enumerate(episode.targets):
        name = f"{k + 1}  {spec_of(episode).objects[target.slot].title} (slot {target.slot})"
        where = (
            "in the hand" if target.slot == episode.held_slot else f"on {target.start_receptacle}"
        )
        line = f"{name}: {where} {_numbers(target.start)}"
        if k in subject.goals:
            line += f"  to {target.goal_receptacle} {_numbers(target.goal)}"
        lines.append(line)
    if episode.target_joint is not None:
        start = episode.articulated.get(episode.target_joint, 0.0)
        verb = "close" if subject.task.startswith("close") else "open"
        lines.append(f"handle: {episode.target_joint}, to {verb}; it starts at {start:.3f}")
    ajar = {k: v for k, v in episode.articulated.items() if v > 1e-3 and k != episode.target_joint}
    for joint, value in ajar.items():
        lines.append(f"open at the start: {joint} at {value:.3f}")
    x, y, yaw = episode.base_pose
    lines.append(
        f"base at the start: ({x:.2f}, {y:.2f}) m, heading {math.degrees(yaw):.0f} degrees"
    )
    lines.append(f"arm joints at the start: {_numbers(episode.arm_joints)} (rad, of slides m)")
    lines.append(f"{len(episode.objects)} objects stand in the apartment")
    return lines


def _numbers(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.2f}" for value in values) + ")"


def contact_sheet(world: RearrangeEnv, task: str, steps: int, actions: str, seed: int) -> Sheet:
    """The sheet of the episode that the world was just reset to; it is run on by `steps` steps.

    Args:
        world: The world.
        task: Name of its task.
        steps: How many steps later the last picture is taken; 0 for the start alone.
        actions: "random" or "zero".
        seed: Of the random actions.
    """
    subject = Subject.of(task, world.episode)
    painter = Painter(world, subject)
    lines = facts(subject)
    later = LATER_MOMENTS if steps else 0
    text_top = HEADER + SCENE.height + MARGIN
    strip_top = text_top + LINE * len(lines) + 2 * MARGIN
    strip_height = SMALL.height + 18 + MARGIN if later else 0
    width = 3 * MARGIN + SCENE.width + MAP_SIZE[0]
    sheet = Sheet(width, strip_top + strip_height)
    episode = subject.episode
    sheet.text(task.replace("_", " "), MARGIN, 10, 24)
    name = f"episode {episode.episode_id or 'sampled'}, layout {episode.layout}, "
    name += f"variation {episode.variation}"
    sheet.text(name, MARGIN + sheet.width_of(task, 24) + 24, 18, 15, FAINT)
    sheet.put(painter.picture(SCENE, tagged=True), MARGIN, HEADER)
    _right_column(sheet, painter, subject)
    for row, line in enumerate(lines):
        sheet.text(line, MARGIN, text_top + LINE * row)
    for k in range(later):
        wanted = steps * (k + 1) // later
        ended = run_on(world, wanted, actions, seed)
        told = f"after {world.elapsed_steps} steps of {actions} actions"
        told += ", where the episode ended" if ended else ""
        left = MARGIN + k * (SMALL.width + MARGIN)
        image = painter.picture(SMALL, tagged=False)
        inset = painter.depth(SMALL.height // 3)
        image[-len(inset) :, -len(inset) :] = inset
        sheet.put(image, left, strip_top + 18, told)
        if ended:
            break
    return sheet


def _right_column(sheet: Sheet, painter: Painter, subject: Subject) -> None:
    """Depth image, legend and map."""
    left = 2 * MARGIN + SCENE.width
    sheet.put(
        painter.depth(DEPTH_SIZE), left, HEADER, f"head camera: depth, 0 to {FARTHEST_DEPTH:.0f} m"
    )
    legend = [(WHITE, "target object"), (GREEN, "its goal"), (GREY, "where to drive"),
              (AMBER, "handle to be used"), (NAVY, "robot (map)"), (RED, "objects (map)"),
              (BLUE, "shortest path")]  # fmt: skip
    shown = {WHITE: True, GREEN: bool(subject.goals), GREY: subject.navigation is not None,
             AMBER: subject.handle is not None}  # fmt: skip
    rows = [(colour, text) for colour, text in legend if shown.get(colour, True)]
    for row, (colour, text) in enumerate(rows):
        sheet.swatch(left + DEPTH_SIZE + 12, HEADER + 4 + LINE * row, colour, text)
    image, told = painter.map(*MAP_SIZE)
    sheet.put(image, left, HEADER + DEPTH_SIZE + 26, f"map, {told} to what is done first")


def run_on(world: RearrangeEnv, until: int, actions: str, seed: int) -> bool:
    """Step until so many steps are done; True if the episode ended. Stop is never called.

    Args:
        world: The world.
        until: Steps since the episode began.
        actions: "zero", or "random", where each lasts HOLD steps so that it leads somewhere.
        seed: Of the random actions.
    """
    names = np.array(world.task.action_names(world.robot))
    while world.elapsed_steps < until:
        rng = np.random.default_rng([seed, world.elapsed_steps // HOLD])
        action = rng.uniform(-1.0, 1.0, len(names)) * (actions == "random")
        action[names == "stop"] = -1.0
        _, _, terminated, truncated, _ = world.step(action.astype(np.float32))
        if terminated or truncated:
            return True
    return False
