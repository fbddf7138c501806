"""PointNav episodes in Habitat's public json.gz schema, read and written; and its frame.

Habitat's world is y up, and an agent that is not turned looks along -z; rotations are x, y, z, w.
Ours is z up, and yaw 0 looks along +x. Both are right-handed: (x, y, z) there is (x, -z, y) here. Only
this file and nav.habitat_objects know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from nav.buildings import find_building
from nav.episode import NavEpisode, Pose
from nav.scene import Point
from rearrange.episodes.dataset import MOST_EPISODES, dump, read_packed_json, write_packed
from rearrange.episodes.fields import FieldChecker, Limits

FARTHEST = 1000.0  # [m], from the origin
HIGHEST = 0.5  # [m], of a start or goal above the floor, which is at 0 here
TILT = 0.01  # by which the axis of a start's rotation may leave the vertical
SPOT = Limits.of((-FARTHEST, FARTHEST), (-HIGHEST, HIGHEST), (-FARTHEST, FARTHEST))
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


def write_episodes(path: str | Path, episodes: Iterable[NavEpisode]) -> None:
    """Write PointNav episodes atomically; the same episodes give the same bytes."""
    lines = [dump(_encode(episode)) for episode in episodes]
    write_packed(Path(path), '{"episodes":[\n' + ",\n".join(lines) + "\n]}\n")


def read_episodes(path: str | Path) -> tuple[NavEpisode, ...]:
    """Read and check PointNav episodes.

    Raises:
        UserError: There is no such file, a field of it is wrong, or a building is not there; the
            message names the file, the episode and the field.
    """
    path = Path(path)
    raw = read_packed_json(path)
    fields = FieldChecker(str(path))
    rows = fields.rows("episodes", get(fields, "file", raw, "episodes"), 1, MOST_EPISODES)
    return unique(
        path,
        [_decode(row, FieldChecker(f"{path}: episodes[{i}]")) for i, row in enumerate(rows)],
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


def _encode(episode: NavEpisode) -> dict[str, Any]:
    """An episode as Habitat has it."""
    assert episode.goal is not None
    position, rotation = to_habitat(episode.start)
    goal, _ = to_habitat((*episode.goal, 0.0))
    return {
        "episode_id": episode.episode_id,
        "scene_id": episode.building,
        "start_position": position,
        "start_rotation": rotation,
        "info": {"geodesic_distance": episode.geodesic_distance},
        "goals": [{"position": goal, "radius": episode.radius}],
        "shortest_paths": None,
        "start_room": None,
    }


def _decode(value: Any, fields: FieldChecker) -> NavEpisode:
    """An episode of a file."""
    raw = {name: get(fields, "episode", value, name) for name in EPISODE_FIELDS}
    goals = fields.rows("goals", raw["goals"], 1, 1)
    goal, radius = _goal(fields, goals[0])
    return NavEpisode(
        fields.text("episode_id", raw["episode_id"], 200),
        building_of(fields, raw["scene_id"]),
        start_of(fields, raw),
        goal,
        radius,
        distance_of(fields, value),
    )


def start_of(fields: FieldChecker, raw: dict[str, Any]) -> tuple[float, float, float]:
    """The pose x, y [m], yaw [rad] at which an episode of a file starts."""
    position = fields.numbers("start_position", raw["start_position"], SPOT)
    rotation = fields.numbers("start_rotation", raw["start_rotation"], _ROTATION)
    if abs(math.hypot(*rotation) - 1.0) > 1e-3 or math.hypot(rotation[0], rotation[2]) > TILT:
        fields.fail(
            "start_rotation", "a quaternion x, y, z, w about the vertical y", list(rotation)
        )
    return from_habitat(position, rotation)


def distance_of(fields: FieldChecker, value: dict[str, Any]) -> float | None:
    """The geodesic distance [m] that an episode of a file tells, None where it tells none."""
    info = value.get("info") or {}
    distance = info.get("geodesic_distance") if isinstance(info, dict) else None
    if distance is None:
        return None
    return fields.number("info.geodesic_distance", distance, (0.0, 10.0 * FARTHEST))


def _goal(fields: FieldChecker, value: Any) -> tuple[Point, float | None]:
    """Where a goal is, and its radius."""
    place = fields.numbers("goals[0].position", get(fields, "goals[0]", value, "position"), SPOT)
    radius = value.get("radius")
    if radius is not None:
        radius = fields.number("goals[0].radius", radius, (0.0, FARTHEST))
    x, y, _ = from_habitat(place, (0.0, 0.0, 0.0, 1.0))
    return (x, y), radius


def building_of(fields: FieldChecker, value: Any) -> str:
    """The building that a scene's path stands for: its file name up to the first dot."""
    scene = fields.text("scene_id", value, 1000)
    name = PurePosixPath(scene).name.split(".")[0]
    if not find_building(name):
        fields.fail(
            "scene_id",
            "a generated building (floor24_variation0); there is no such scene file",
            scene,
        )
    return name


def get(fields: FieldChecker, field: str, value: Any, name: str) -> Any:
    """A field of a JSON object that must have it; files may hold more than we know of."""
    if not isinstance(value, dict) or name not in value:
        fields.fail(field, f"an object with a field '{name}'", value)
    return value[name]
