"""Episodes of navigation tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from nav.scene import Places, Point, load_scene
from rearrange.episodes.checking import WHERE
from rearrange.episodes.fields import FieldChecker
from rearrange.errors import UserError

Pose = tuple[float, float, float]
FULL_TURN = 2.0 * math.pi  # [rad]


@dataclass(frozen=True)
class SceneMesh:
    """A scene of Habitat's in the place of a building: a mesh with a floor at any height.

    Attributes:
        file: Of the scene (.glb).
        dataset: Config file of the scene dataset that it is of; "" for none.
        start_height: Of the floor at the start [m].
        goal_height: Of the floor at the goal [m].
    """

    file: str
    dataset: str = ""
    start_height: float = 0.0
    goal_height: float = 0.0


@dataclass(frozen=True)
class NavEpisode:
    """Start and goal of an agent.

    Attributes:
        episode_id: How files and errors call it.
        building: Name of the building, see `nav.buildings`.
        start: x, y [m] and yaw [rad], world frame.
        goal: x, y of the goal [m], world frame; None where the task has none.
        radius: Of the goal [m], as files tell it. Success is judged by the task's distance, as
            Habitat does.
        geodesic_distance: From start to goal [m], as files tell it; None where it is not known.
        category: What is looked for, one of nav.categories.CATEGORIES; None where nothing is.
        view_points: From where it is seen, as files tell them; None: worked out from the building.
        mesh: The scene, where it is one of Habitat's; points of `view_points` then have heights, too.
    """

    episode_id: str
    building: str
    start: Pose
    goal: Point | None = None
    radius: float | None = None
    geodesic_distance: float | None = None
    category: str | None = None
    view_points: Places | None = None
    mesh: SceneMesh | None = None


def check_episode(episode: Any, radius: float) -> None:
    """Raise a UserError, which names the field, unless an agent can begin an episode that a caller made.

    Args:
        episode: What shall be a NavEpisode.
        radius: Of the agent [m], which must fit at the start and at the goal.
    """
    if not isinstance(episode, NavEpisode):
        raise UserError(f"{WHERE}: expected a NavEpisode, found {type(episode).__name__}")
    _check_types(episode, FieldChecker(WHERE))
    if episode.mesh is not None:
        return  # the engine knows the floor; the task refuses a start that has no way to its goal
    scene = load_scene(episode.building, radius)
    places = {"start": episode.start[:2], "goal": episode.goal}
    for name, point in places.items():
        if point is not None and not scene.is_free(*point):
            raise UserError(
                f"episode '{episode.episode_id}': {name}: expected a place in {scene.name} where a "
                f"disc of {scene.radius:g} m fits and from where it gets on, found {list(point)}"
            )


def _check_types(episode: NavEpisode, fields: FieldChecker) -> None:
    """Raise a UserError that names the first field which is not of the type that it shall have."""
    for name in ("episode_id", "building"):
        value = getattr(episode, name)
        if not isinstance(value, str) or not value.isprintable():
            fields.fail(name, "printable characters", value)
    if not _are_numbers(episode.start, 3):
        fields.fail("start", "a tuple of 3 finite numbers", episode.start)
    if abs(episode.start[2]) > FULL_TURN:
        fields.fail("start", "a yaw from -2 pi to 2 pi", episode.start)
    if episode.goal is not None and not _are_numbers(episode.goal, 2):
        fields.fail("goal", "a tuple of 2 finite numbers", episode.goal)
    for name in ("radius", "geodesic_distance"):
        value = getattr(episode, name)
        if value is not None and not _are_numbers((value,), 1):
            fields.fail(name, "None or a finite number", value)
    for name, kind in (("category", str), ("mesh", SceneMesh)):
        value = getattr(episode, name)
        if value is not None and not isinstance(value, kind):
            fields.fail(name, f"None or a {kind.__name__}", value)
    places, size = episode.view_points, 2 if episode.mesh is None else 3
    if places is not None and not (isinstance(places, Places) and _are_points(places.points, size)):
        fields.fail("view_points", f"Places with an array [G, {size}] of finite numbers", places)


def _are_numbers(value: Any, size: int) -> bool:
    """Return whether a value is a tuple of so many finite numbers."""
    right = isinstance(value, tuple) and len(value) == size
    return right and all(isinstance(x, Real) and math.isfinite(x) for x in value)


def _are_points(value: Any, size: int) -> bool:
    """Return whether a value is an array [G, size] of finite numbers, G from 1."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.ndim != 2:
        return False
    return len(value) > 0 and value.shape[1] == size and bool(np.isfinite(value).all())
