"""Episodes of habitat-lab's rearrangement datasets (`rearrange_dataset_v2`), in ReplicaCAD or scenes like it.

An episode names a scene, poses of objects and where some of them shall go. What a skill's own episode needs
beside that, the task adds as it does in our apartments: where the robot stands, and what it holds. The files'
format is that of habitat-lab v0.3.4's `RearrangeEpisode`.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rearrange.episodes import Episode, HandleWay, Scene, SceneFiles, SceneHandle, Target
from rearrange.errors import UserError
from rearrange.navigation import ROBOT_RADIUS, OccupancyGrid
from rearrange.navigation.footprints import HIGHEST
from rearrange.navigation.occupancy import CELL_SIZE
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS
from rearrange.sim.base import OBJECT_SLOT_COUNT
from rearrange.sim.habitat import (
    engine_settings,
    from_habitat_position,
    from_habitat_rotation,
    quaternion_of,
    rotation_matrix,
)
from rearrange.sim.habitat_process import EngineProcess, check_installed
from rearrange.sim.habitat_scene import cache_folder, write_bytes
from rearrange.sim.mujoco import SUCTION_GAP
from rearrange.tasks.base import Task

DOWNLOAD = (
    "get it with python -m habitat_sim.utils.datasets_download --uids replica_cad_dataset ycb "
    "rearrange_dataset_v2 --data-path data"
)
# Markers of habitat-lab, and the joints of ours for what they are on; its skills are trained on marker 5
JOINT_OF_MARKER = {
    "fridge_push_point": "fridge_door",
    "cab_push_point_5": "drawer_right_top",
    "cab_push_point_7": "drawer_left_top",
    "cab_push_point_6": "drawer_middle",
    "cab_push_point_4": "drawer_bottom",
}
SURVEY = Path(__file__).with_name("habitat_survey.py")
SCENE_ATTEMPTS = 50  # episodes of the file that are tried until the robot fits near a target


@dataclass(frozen=True)
class FileEpisode:
    """An episode as its file has it, poses in Habitat's world.

    Attributes:
        episode_id: The file's.
        scene: File of the scene instance.
        dataset: File of the scene dataset's config.
        objects: Files of the objects' configs and their transformations [4, 4].
        names: Of the objects, as `targets` call them.
        targets: Name of an object and the transformation where it shall go [4, 4], in the task's order.
        joints: As of `SceneFiles`.
        handles: Likewise.
    """

    episode_id: str
    scene: str
    dataset: str
    objects: tuple[tuple[str, np.ndarray], ...]
    names: tuple[str, ...]
    targets: tuple[tuple[str, np.ndarray], ...]
    joints: dict[str, dict[int, float]]
    handles: dict[str, SceneHandle]


def is_rearrange_dataset(path: str | Path) -> bool:
    """Whether a file holds episodes of habitat-lab's rearrangement tasks, and not of ours."""
    try:
        episodes = _parsed(str(path))["episodes"]
        return "rigid_objs" in episodes[0]
    except (UserError, LookupError, TypeError):
        return False


@functools.lru_cache(maxsize=2)
def load_rearrange_episodes(path: str) -> tuple[FileEpisode, ...]:
    """The episodes of a file of habitat-lab's rearrangement tasks (cached per process).

    Raises:
        UserError: The file is missing or broken, or names a scene or object that is not there.
    """
    entries = _parsed(path).get("episodes")
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path} holds no episodes of habitat-lab's rearrangement tasks")
    return tuple(_checked_episode(path, number, entry) for number, entry in enumerate(entries))


def _checked_episode(path: str, number: int, entry: Any) -> FileEpisode:
    try:
        return _file_episode(entry)
    except UserError as error:
        raise UserError(f"{path}, episode {number}: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path}, episode {number}: {type(error).__name__}: {error}; expected habitat-lab's "
            "RearrangeEpisode with scene_id, scene_dataset_config, additional_obj_config_paths, rigid_objs, "
            "targets and ao_states"
        ) from None


def _parsed(path: str) -> dict[str, Any]:
    if not Path(path).is_file():
        raise UserError(f"there is no {path}: {DOWNLOAD}")
    read = gzip.open if path.endswith(".gz") else open
    try:
        with read(path, "rt") as file:
            content = json.load(file)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no episodes of habitat-lab")
    return content


def _file_episode(entry: dict[str, Any]) -> FileEpisode:
    folders = entry["additional_obj_config_paths"]
    objects, names, counts = [], [], Counter()
    for name, transformation in entry["rigid_objs"]:
        objects.append((_object_file(name, folders), _matrix(transformation)))
        stem = name.partition(".")[0]
        names.append(f"{stem}_:{counts[stem]:04d}")
        counts[stem] += 1
    if len(objects) > OBJECT_SLOT_COUNT:
        raise UserError(f"{len(objects)} objects: there may be {OBJECT_SLOT_COUNT} at most")
    labels = entry.get("info", {}).get("object_labels", {})
    targets = sorted(entry["targets"].items(), key=lambda item: str(labels.get(item[0], "")))
    unknown = [name for name, _ in targets if name not in names]
    if unknown or not targets:
        missing = f"there is no {unknown[0]}" if unknown else "there are none"
        raise UserError(f"targets: {missing} among the objects {', '.join(names)}")
    joints = {
        name: {int(link): float(value) for link, value in links.items()}
        for name, links in entry["ao_states"].items()
    }
    return FileEpisode(
        str(entry["episode_id"]),
        _there(entry["scene_id"]),
        _there(entry["scene_dataset_config"]),
        tuple(objects),
        tuple(names),
        tuple((name, _matrix(transformation)) for name, transformation in targets),
        joints,
        _handles(entry.get("markers", [])),
    )


def _handles(markers: list[dict[str, Any]]) -> dict[str, SceneHandle]:
    handles = {}
    for marker in markers:
        joint, place = JOINT_OF_MARKER.get(marker["name"]), marker["params"]
        if joint is not None:
            x, y, z = (float(part) for part in place["offset"])
            handles[joint] = SceneHandle(str(place["object"]), str(place["link"]), (x, y, z))
    return handles


def _there(path: str) -> str:
    if not Path(path).is_file():
        raise UserError(f"there is no {path}: {DOWNLOAD}")
    return path


@functools.lru_cache(maxsize=4096)
def _found(name: str, folders: tuple[str, ...]) -> str:
    for folder in folders:
        files = sorted(Path(folder).glob(f"**/{name}"))
        if files:
            return str(files[0])
    raise UserError(f"there is no {name} in {', '.join(folders) or 'no folder'}: {DOWNLOAD}")


def _object_file(name: str, folders: list[str]) -> str:
    return _found(name, tuple(folders))


def _matrix(transformation: Any) -> np.ndarray:
    matrix = np.array(transformation, float)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise ValueError(f"a transformation of shape {matrix.shape}, not finite 4 x 4")
    return matrix


@functools.lru_cache(maxsize=256)
def scene_floor(scene: str, dataset: str, below: float) -> tuple[OccupancyGrid, float]:
    """The floor of a scene and its height in Habitat's world [m], from the engine's navmesh.

    What is articulated is as the scene has it; what lies higher than `below` in Habitat's world [m], as the
    lowest object does, is no floor. An engine takes some seconds for it, once for each scene: the
    result is kept in the user's cache folder.
    """

    def told(engine: EngineProcess) -> dict[str, Any]:
        engine.ask("floor", below, CELL_SIZE, ROBOT_RADIUS, HIGHEST)
        x, z, height, free = engine.answer()
        # Habitat's z is our -y: the last row is the first
        origin = (x, -(z + free.shape[1] * CELL_SIZE))
        return {"origin": origin, "free": free[:, ::-1], "height": height}

    asked = (CELL_SIZE, ROBOT_RADIUS, HIGHEST, below)
    floor = _surveyed(scene, dataset, "floor", asked, told)
    grid = OccupancyGrid.from_floor(scene, tuple(floor["origin"].tolist()), floor["free"])
    return grid, float(floor["height"])


@functools.lru_cache(maxsize=256)
def scene_handles(
    scene: str, dataset: str, handles: tuple[tuple[str, SceneHandle], ...]
) -> dict[str, HandleWay]:
    """Where handles of a scene go when they are opened, told and kept as its floor is."""
    if not handles:
        return {}

    def told(engine: EngineProcess) -> dict[str, Any]:
        engine.ask("handles", [(place.furniture, place.link, place.offset) for _, place in handles])
        ways = engine.answer()
        return {key: [way[key] for way in ways] for key in ("origin", "axis", "values", "places")}

    found = _surveyed(scene, dataset, "handles", handles, told)
    ways = {}
    for k, (joint, _) in enumerate(handles):
        x, y, _ = from_habitat_position(found["origin"][k]).tolist()
        ahead = from_habitat_position(found["axis"][k])
        yaw = math.atan2(ahead[1], ahead[0])
        c, s = math.cos(yaw), math.sin(yaw)
        places = from_habitat_position(found["places"][k])[:, :2] - (x, y)
        inside = [(float(c * u + s * v), float(c * v - s * u)) for u, v in places]
        ways[joint] = HandleWay((x, y), yaw, tuple(found["values"][k].tolist()), tuple(inside))
    return ways


def _surveyed(
    scene: str,
    dataset: str,
    what: str,
    asked: tuple[Any, ...],
    tell: Callable[[EngineProcess], dict[str, Any]],
) -> dict[str, np.ndarray]:
    """What is kept of a scene, or else what an engine of its own tells, which then is kept."""
    described = [Path(file).read_bytes() for file in (scene, dataset)]
    described += [str(Path(scene).resolve()).encode(), repr(asked).encode()]
    name = hashlib.sha256(b"|".join(described)).hexdigest()[:16]
    kept = cache_folder() / f"{what}_{name}.npz"
    if not kept.exists():
        check_installed()
        engine = EngineProcess(
            engine_settings() | {"scene": scene, "dataset": dataset}, scene, SURVEY
        )
        try:
            content = io.BytesIO()
            np.savez_compressed(content, **tell(engine))
        finally:
            engine.close()
        write_bytes(kept, content.getvalue())
    with np.load(kept, allow_pickle=False) as found:
        return dict(found)


class _FileScene(Scene):
    """A scene of a dataset as tasks begin in it."""

    apartment: Apartment | None

    def __init__(
        self, files: SceneFiles, episode_id: str, handle_ways: dict[str, HandleWay]
    ) -> None:
        self.files, self.episode_id, self.handle_ways = files, episode_id, handle_ways
        self.apartment, self.grid = None, files.grid
        self.objects, self.joints, self.held_slot = {}, {}, None

    def episode(
        self,
        targets: tuple[Target, ...],
        base_pose: tuple[float, float, float],
        arm_joints: tuple[float, ...],
        rng: np.random.Generator,
        episode_id: str = "",
        target_joint: str | None = None,
    ) -> Episode:
        """See Scene."""
        held, grasp = self.held_slot, None
        if held is not None:
            grasp = grasp_from_above(self.files.objects[held], self.objects[held])
        return Episode(
            episode_id=episode_id or self.episode_id,
            layout=-1,
            variation=-1,
            objects=self.objects,
            targets=targets,
            base_pose=base_pose,
            arm_joints=arm_joints,
            articulated=self.joints,
            held_slot=held,
            target_joint=target_joint,
            seed=int(rng.integers(2**31)),
            grasp=grasp,
            scene=self.files,
        )


def kind_of(file: str) -> str:
    """The kind of object that a config file describes: its name without endings."""
    return Path(file).name.partition(".")[0]


def grasp_from_above(file: str, pose: tuple[float, ...]) -> tuple[float, ...]:
    """Pose of an object under the suction tip, by its top face where it stands, in the hand's frame [7].

    Args:
        file: The object's config.
        pose: As it stands, z up: position [m] and quaternion wxyz.

    Raises:
        UserError: Of an object of that kind is not known how tall it is.
    """
    kind = kind_of(file)
    if kind not in OBJECT_KINDS:
        raise UserError(
            f"no {kind} can be held at the start: known are {', '.join(sorted(OBJECT_KINDS))}"
        )
    up = rotation_matrix(np.array(pose[3:]))[2]  # the world's z in the object's frame
    # The hand's x axis points out of it: the object's top looks against it
    side = np.eye(3)[np.abs(up).argmin()]
    side -= up * (side @ up)
    side /= np.linalg.norm(side)
    hand_from_object = np.stack([-up, side, np.cross(-up, side)])
    gap = OBJECT_KINDS[kind].half_height + SUCTION_GAP
    return (gap, 0.0, 0.0, *quaternion_of(hand_from_object).tolist())


class DatasetEpisodes:
    """Draws start states of a task from a file of habitat-lab's rearrangement episodes."""

    def __init__(self, path: str) -> None:
        """Read the file; UserError where that cannot be done."""
        self.path = path
        self.episodes = load_rearrange_episodes(path)

    def sample(self, task: Task, rng: np.random.Generator) -> Episode:
        """A start state of a task in any of the episodes; see `Task.begin_in`."""
        for _ in range(SCENE_ATTEMPTS):
            episode = self.episodes[int(rng.integers(len(self.episodes)))]
            scene, targets = scene_of(episode)
            begun = task.begin_in(scene, targets, rng)
            if begun is not None:
                return begun
        raise UserError(f"{self.path}: the robot fits nowhere near the targets that were tried")


def scene_of(episode: FileEpisode) -> tuple[Scene, list[Target]]:
    """A scene as tasks begin in it, in our frame with its floor at 0, and what is to be moved there."""
    lowest = min(float(matrix[1, 3]) for _, matrix in episode.objects)
    # Other episodes of the scene share its floor: a coarse bound makes them share the work, too
    grid, height = scene_floor(episode.scene, episode.dataset, math.ceil(lowest))
    slots = _slots([kind_of(file) for file, _ in episode.objects])
    files = {slot: file for slot, (file, _) in zip(slots, episode.objects, strict=True)}
    joints, handles = episode.joints, episode.handles
    place = SceneFiles(episode.scene, episode.dataset, files, joints, handles, grid, height)
    ways = scene_handles(episode.scene, episode.dataset, tuple(handles.items()))
    scene = _FileScene(place, episode.episode_id, ways)
    for slot, (_, matrix) in zip(slots, episode.objects, strict=True):
        scene.objects[slot] = _our_pose(matrix, height)
    slot_of = dict(zip(episode.names, slots, strict=True))
    targets = []
    for name, matrix in episode.targets:
        slot = slot_of[name]
        x, y, z = _our_pose(matrix, height)[:3]
        targets.append(Target(slot, scene.position(slot), (x, y, z), "", ""))
    return scene, targets


def _slots(kinds: list[str]) -> list[int]:
    """A slot for each object: one of its kind as long as there is one, else any."""
    free = list(range(OBJECT_SLOT_COUNT))
    chosen: list[int | None] = []
    for kind in kinds:
        of_kind = next((slot for slot in free if SLOT_KINDS[slot] == kind), None)
        chosen.append(of_kind)
        if of_kind is not None:
            free.remove(of_kind)
    return [free.pop() if slot is None else slot for slot in chosen]


def _our_pose(matrix: np.ndarray, height: float) -> tuple[float, ...]:
    """Position [m] and quaternion wxyz in our world of a transformation in Habitat's."""
    x, y, z = from_habitat_position(matrix[:3, 3]).tolist()
    rotation = from_habitat_rotation(np.roll(quaternion_of(matrix[:3, :3]), -1))
    assert math.isfinite(x + y + z)
    return (x, y, z - height, *rotation.tolist())
