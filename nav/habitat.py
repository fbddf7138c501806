"""PointNav episodes in Habitat's public json.gz schema, read and written; and its frame.

Episodes are in our buildings, or where a folder of scenes is given in the meshes there.

Habitat's world is y up, and an agent that is not turned looks along -z; rotations are x, y, z, w.
Ours is z up, and yaw 0 looks along +x. Both are right-handed: (x, y, z) there is (x, -z, y) here. Only
this file, nav.habitat_objects and nav.mesh_worlds know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from nav.buildings import find_building
from nav.episode import NavEpisode, Pose, SceneMesh
from rearrange.episodes.dataset import MOST_EPISODES, dump, read_packed_json, write_packed
from rearrange.episodes.fields import FieldChecker, Limits

FARTHEST = 1000.0  # [m], from the origin
HIGHEST = 0.5  # [m], of a start or goal above the floor, which is at 0 here
TILT = 0.01  # by which the axis of a start's rotation may leave the vertical
SPOT = Limits.of((-FARTHEST, FARTHEST), (-HIGHEST, HIGHEST), (-FARTHEST, FARTHEST))
ANYWHERE = Limits.of(*((-FARTHEST, FARTHEST),) * 3)  # in a scene of Habitat
FOLDER = "data/scene_datasets/"  # with which the paths in some files begin
_ROTATION = Limits.of(*((-1.0, 1.0),) * 4)
EPISODE_FIELDS = ("episode_id", "scene_id", "start_position", "start_rotation", "goals")


def to_habitat(pose: Pose) -> tuple[list[float], list[float]]:
    """Position [3] (m) and rotation (x, y, z, w) [4] in Habitat's frame of a pose x, y, yaw."""
    x, y, yaw = pose
    half = (yaw - math.pi / 2) / 2  # Habitat's zero looks along our +y
    return [x, 0.0, -y], [0.0, math.sin(half), 0.0, math.cos(half)]


def from_habitat(position: Sequence[float], rotation: Sequence[float]) -> Pose:
    """Pose x, y [m], yaw in [-pi, pi] of a position [3] and a rotation [4] in Habitat's frame."""
    x, y, z, w = rotation
    # Where the rotation carries -z, along which Habitat's agents look.
    forward_x, forward_z = -2.0 * (x * z + w * y), 2.0 * (x * x + y * y) - 1.0
    return position[0], -position[2], math.atan2(-forward_z, forward_x)


def write_episodes(path: str | Path, episodes: Iterable[NavEpisode], scene: str = "{}") -> None:
    """Write PointNav episodes atomically; the same episodes give the same bytes.

    Args:
        path: Where.
        episodes: With goals.
        scene: Path of a scene in the file, {} being the building's name.
    """
    lines = [dump(_encode(episode, scene.format(episode.building))) for episode in episodes]
    write_packed(Path(path), '{"episodes":[\n' + ",\n".join(lines) + "\n]}\n")


def read_episodes(path: str | Path, scenes: str | Path = "") -> tuple[NavEpisode, ...]:
    """Read and check PointNav episodes.

    Args:
        path: The file.
        scenes: Folder of Habitat's scenes that the episodes are in; "": they are in our buildings.

    Raises:
        UserError: There is no such file, a field of it is wrong, or a building or scene is not there; the
            message names the file, the episode and the field.
    """
    path = Path(path)
    raw = read_packed_json(path)
    fields = FieldChecker(str(path))
    rows = fields.rows("episodes", get(fields, "file", raw, "episodes"), 1, MOST_EPISODES)
    return unique(
        path,
        [
            _decode(row, FieldChecker(f"{path}: episodes[{i}]"), scenes)
            for i, row in enumerate(rows)
        ],
    )


def unique(path: Path, episodes: list[NavEpisode]) -> tuple[NavEpisode, ...]:
    """The same episodes; UserError if two in one building have the same id."""
    seen = set()
    for index, episode in enumerate(episodes):
        key = episode.building, episode.episode_id
        if key in seen:
            FieldChecker(f"{path}: episodes[{index}]").fail(
                "episode_id", "an id that the scene has not yet", episode.episode_id
            )
        seen.add(key)
    return tuple(episodes)


def _encode(episode: NavEpisode, scene: str) -> dict[str, Any]:
    """An episode in a scene as Habitat has it."""
    assert episode.goal is not None
    position, rotation = to_habitat(episode.start)
    goal, _ = to_habitat((*episode.goal, 0.0))
    return {
        "episode_id": episode.episode_id,
        "scene_id": scene,
        "start_position": position,
        "start_rotation": rotation,
        "info": {"geodesic_distance": episode.geodesic_distance},
        "goals": [{"position": goal, "radius": episode.radius}],
        "shortest_paths": None,
        "start_room": None,
    }


def _decode(value: Any, fields: FieldChecker, scenes: str | Path) -> NavEpisode:
    """An episode of a file."""
    raw = {name: get(fields, "episode", value, name) for name in EPISODE_FIELDS}
    goals = fields.rows("goals", raw["goals"], 1, 1)
    place = fields.numbers(
        "goals[0].position",
        get(fields, "goals[0]", goals[0], "position"),
        ANYWHERE if scenes else SPOT,
    )
    x, y, _ = from_habitat(place, (0.0, 0.0, 0.0, 1.0))
    mesh = mesh_of(fields, value, scenes, place[1]) if scenes else None
    return NavEpisode(
        fields.text("episode_id", raw["episode_id"], 200),
        building_of(fields, raw["scene_id"]) if mesh is None else mesh.file,
        start_of(fields, raw, ANYWHERE if scenes else SPOT),
        (x, y),
        _radius(fields, goals[0]),
        distance_of(fields, value),
        mesh=mesh,
    )


def start_of(
    fields: FieldChecker, raw: dict[str, Any], limits: Limits
) -> tuple[float, float, float]:
    """The pose x, y [m], yaw [rad] at which an episode of a file starts."""
    position = fields.numbers("start_position", raw["start_position"], limits)
    rotation = fields.numbers("start_rotation", raw["start_rotation"], _ROTATION)
    if abs(math.hypot(*rotation) - 1.0) > 1e-3 or math.hypot(rotation[0], rotation[2]) > TILT:
        fields.fail(
            "start_rotation", "a quaternion x, y, z, w about the vertical y", list(rotation)
        )
    return from_habitat(position, rotation)


def mesh_of(
    fields: FieldChecker, value: dict[str, Any], scenes: str | Path, goal_height: float = 0.0
) -> SceneMesh:
    """The scene of Habitat's that an episode of a file is in, its files in the folder of scenes.

    Raises:
        UserError: The scene, or the config file of its dataset, is not there.
    """
    file = _scene_file(fields, "scene_id", value["scene_id"], scenes)
    dataset = value.get("scene_dataset_config", "")
    if dataset in (None, "", "default"):  # as Habitat says that there is none
        dataset = ""
    else:
        dataset = _scene_file(fields, "scene_dataset_config", dataset, scenes)
    height = fields.numbers("start_position", value["start_position"], ANYWHERE)[1]
    return SceneMesh(file, dataset, start_height=height, goal_height=goal_height)


def _scene_file(fields: FieldChecker, field: str, value: Any, scenes: str | Path) -> str:
    """A file in the folder of scenes."""
    name = fields.text(field, value, 1000).removeprefix("./").removeprefix(FOLDER)
    path = Path(scenes) / name
    if not path.is_file():
        fields.fail(
            field, f"a file in {scenes} (python -m habitat_sim.utils.datasets_download)", value
        )
    return str(path)


def distance_of(fields: FieldChecker, value: dict[str, Any]) -> float | None:
    """The geodesic distance [m] that an episode of a file tells, None where it tells none."""
    info = value.get("info") or {}
    distance = info.get("geodesic_distance") if isinstance(info, dict) else None
    if distance is None:
        return None
    return fields.number("info.geodesic_distance", distance, (0.0, 10.0 * FARTHEST))


def _radius(fields: FieldChecker, goal: dict[str, Any]) -> float | None:
    """The radius [m] of a goal of a file, None where it tells none."""
    radius = goal.get("radius")
    return None if radius is None else fields.number("goals[0].radius", radius, (0.0, FARTHEST))


def building_of(fields: FieldChecker, value: Any) -> str:
    """The building that a scene's path stands for: its file name up to the first dot."""
    scene = fields.text("scene_id", value, 1000)
    name = PurePosixPath(scene).name.split(".")[0]
    if not find_building(name):
        fields.fail(
            "scene_id",
            "a generated building (layout5000_variation00); there is no such scene file",
            scene,
        )
    return name


def get(fields: FieldChecker, field: str, value: Any, name: str) -> Any:
    """A field of a JSON object that must have it; files may hold more than we know of."""
    if not isinstance(value, dict) or name not in value:
        fields.fail(field, f"an object with a field '{name}'", value)
    return value[name]
