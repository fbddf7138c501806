"""ObjectNav episodes in Habitat's public json.gz schema, read and written; frames are those of `nav.habitat`.

Goals are not in the episodes but in `goals_by_category`, under "<file name of the scene>_<category>": one
per object, with its view points. A file's own view points are those that are judged by, as far as they lie
on the floor where the agent gets to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from nav.categories import CATEGORIES
from nav.episode import NavEpisode
from nav.habitat import (
    ANYWHERE,
    SPOT,
    building_of,
    distance_of,
    get,
    mesh_of,
    start_of,
    to_habitat,
    unique,
)
from nav.scene import Places, Scene, load_scene
from nav.viewpoints import ViewRule, view_points
from rearrange.episodes.dataset import MOST_EPISODES, dump, read_packed_json, write_packed
from rearrange.episodes.fields import FieldChecker

FIELDS = ("episode_id", "scene_id", "start_position", "start_rotation", "object_category")
MOST_OBJECTS, MOST_VIEW_POINTS = 10_000, 100_000


def write_object_episodes(
    path: str | Path, episodes: Iterable[NavEpisode], rule: ViewRule, radius: float
) -> None:
    """Write ObjectNav episodes atomically; the same episodes give the same bytes.

    Args:
        path: Where.
        episodes: With categories. Their own view points are not written, but those of the rule.
        rule: From where objects are seen.
        radius: Of the agent [m].
    """
    goals: dict[str, str] = {}
    lines = []
    for episode in episodes:
        assert episode.category is not None
        key = f"{episode.building}_{episode.category}"
        if key not in goals:
            goals[key] = dump(
                _encode_goals(load_scene(episode.building, radius), episode.category, rule)
            )
        lines.append(dump(_encode(episode)))
    ids = dump({name: index for index, name in enumerate(CATEGORIES)})
    listed = ",\n".join(f"{dump(key)}:{value}" for key, value in sorted(goals.items()))
    text = f'{{"category_to_task_category_id":{ids},\n"category_to_mp3d_category_id":{ids},\n'
    text += f'"goals_by_category":{{\n{listed}\n}},\n"episodes":[\n' + ",\n".join(lines) + "\n]}\n"
    write_packed(Path(path), text)


def read_object_episodes(path: str | Path, scenes: str | Path = "") -> tuple[NavEpisode, ...]:
    """Read and check ObjectNav episodes.

    Args:
        path: The file.
        scenes: Folder of Habitat's scenes that the episodes are in; "": they are in our buildings.

    Raises:
        UserError: There is no such file, a field of it is wrong, or a building or scene is not there; the
            message names the file, the episode or goal, and the field.
    """
    path = Path(path)
    raw = read_packed_json(path)
    fields = FieldChecker(str(path))
    rows = fields.rows("episodes", get(fields, "file", raw, "episodes"), 1, MOST_EPISODES)
    listed = get(fields, "file", raw, "goals_by_category")
    if not isinstance(listed, dict):
        fields.fail("goals_by_category", "an object with a list of goals per category", listed)
    goals: dict[str, Places] = {}
    episodes = []
    for index, row in enumerate(rows):
        where = FieldChecker(f"{path}: episodes[{index}]")
        episodes.append(_decode(row, where, listed, goals, scenes))
    return unique(path, episodes)


def _encode(episode: NavEpisode) -> dict[str, Any]:
    """An episode as Habitat has it."""
    position, rotation = to_habitat(episode.start)
    return {
        "episode_id": episode.episode_id,
        "scene_id": episode.building,
        "start_position": position,
        "start_rotation": rotation,
        "info": {"geodesic_distance": episode.geodesic_distance},
        "goals": [],
        "object_category": episode.category,
        "shortest_paths": None,
        "start_room": None,
    }


def _encode_goals(scene: Scene, category: str, rule: ViewRule) -> list[dict[str, Any]]:
    """All objects of a category in a scene."""
    goals = []
    for index, thing in enumerate(scene.objects):
        if thing.category != category:
            continue
        x, y, z = thing.position
        views = []
        for place_x, place_y, yaw, share in view_points(scene, index, rule).tolist():
            position, rotation = to_habitat((place_x, place_y, yaw))
            views.append(
                {"agent_state": {"position": position, "rotation": rotation}, "iou": share}
            )
        goals.append(
            {
                "position": [x, z, -y],
                "radius": None,
                "object_id": index,
                "object_name": thing.name,
                "object_name_id": None,
                "object_category": category,
                "room_id": None,
                "room_name": None,
                "view_points": views,
            }
        )
    return goals


def _decode(
    value: Any,
    fields: FieldChecker,
    listed: dict[str, Any],
    goals: dict[str, Places],
    scenes: str | Path,
) -> NavEpisode:
    """An episode of a file; `goals` are those that were read so far by their keys."""
    raw = {name: get(fields, "episode", value, name) for name in FIELDS}
    category = fields.choice("object_category", raw["object_category"], CATEGORIES)
    mesh = mesh_of(fields, value, scenes) if scenes else None
    building = building_of(fields, raw["scene_id"]) if mesh is None else mesh.file
    key = f"{PurePosixPath(raw['scene_id']).name}_{category}"
    if key not in goals:
        if key not in listed:
            fields.fail("goals_by_category", f"a field '{key}'", sorted(listed))
        goals[key] = _decode_goals(
            FieldChecker(f"{fields.where}: {key}"), listed[key], bool(scenes)
        )
    return NavEpisode(
        fields.text("episode_id", raw["episode_id"], 200),
        building,
        start_of(fields, raw, ANYWHERE if scenes else SPOT),
        geodesic_distance=distance_of(fields, value),
        category=category,
        view_points=goals[key],
        mesh=mesh,
    )


def _decode_goals(fields: FieldChecker, value: Any, high: bool) -> Places:
    """The view points of all objects of a category; `high`: with the heights of the floor there."""
    points: list[Sequence[float]] = []
    limits = ANYWHERE if high else SPOT
    for index, goal in enumerate(fields.rows("goals", value, 1, MOST_OBJECTS)):
        name = f"goals[{index}]"
        views = get(fields, name, goal, "view_points")
        for number, view in enumerate(
            fields.rows(f"{name}.view_points", views, 0, MOST_VIEW_POINTS)
        ):
            where = f"{name}.view_points[{number}]"
            state = get(fields, where, view, "agent_state")
            place = get(fields, f"{where}.agent_state", state, "position")
            x, y, z = fields.numbers(f"{where}.agent_state.position", place, limits)
            points.append((x, -z, y) if high else (x, -z))
    if not points:
        fields.fail("goals", "at least one view point", value)
    return Places(np.array(points))
