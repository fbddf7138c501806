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
from typing import Any, cast

import numpy as np

from atomic_files import write_whole
from rearrange.episodes import Episode, SceneFiles, SceneHandle, Target
from rearrange.errors import UserError
from rearrange.habitat.frames import (
    from_habitat_cells,
    from_habitat_position,
    from_habitat_rotation,
    quaternion_of,
)
from rearrange.habitat.orders import engine_settings
from rearrange.habitat.process import EngineProcess, check_installed
from rearrange.habitat.scene import cache_folder
from rearrange.navigation import ROBOT_RADIUS, OccupancyGrid
from rearrange.navigation.footprints import HIGHEST, LOWEST
from rearrange.navigation.occupancy import CELL_SIZE
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.tasks.base import Task
from rearrange.tasks.sampling import HandleWay, Scene

DOWNLOAD = (
    "get it with python -m habitat_sim.utils.datasets_download --uids replica_cad_dataset ycb "
    "rearrange_dataset_v2 --data-path data"
)
# Markers of habitat-lab, and the joints of ours for what they are on
JOINT_OF_MARKER = {part.marker: part.name for part in APARTMENT.parts if part.marker}
MESH_ABOVE = 0.25  # [m], at most so much above the floor is its mesh
SURVEY = Path(__file__).with_name("survey.py")
SCENE_ATTEMPTS = 50  # episodes of the file that are tried until the robot fits near a target


@dataclass(frozen=True, eq=False)
class FileEpisode:
    """An episode as its file has it, transformations in Habitat's world.

    Attributes:
        episode_id: Its number in the file: habitat-lab's own ids are not unique.
        scene: File of the scene instance.
        dataset: File of the scene dataset's config.
        files: Of the objects' configs [O].
        poses: Of the objects [O, 4, 4].
        moved: Which objects shall be moved [T].
        goals: Where they shall go [T, 4, 4].
        joints: As of `SceneFiles`.
        handles: Likewise.
    """

    episode_id: str
    scene: str
    dataset: str
    files: tuple[str, ...]
    poses: np.ndarray
    moved: tuple[int, ...]
    goals: np.ndarray
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
        return _file_episode(number, entry)
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


def _file_episode(number: int, entry: dict[str, Any]) -> FileEpisode:
    folders = tuple(entry["additional_obj_config_paths"])
    configs = [name for name, _ in entry["rigid_objs"]]
    names, counts = [], Counter()
    for config in configs:
        kind = kind_of(config)
        names.append(f"{kind}_:{counts[kind]:04d}")
        counts[kind] += 1
    targets = entry["targets"]
    unknown = [name for name in targets if name not in names]
    if unknown or not targets:
        missing = f"there is no {unknown[0]}" if unknown else "there are none"
        raise UserError(f"targets: {missing} among the objects {', '.join(names)}")
    moved = [names.index(name) for name in targets]
    # Clutter for which there is no slot is left out
    kept = [*moved, *(k for k in range(len(names)) if k not in moved)][: len(APARTMENT.objects)]
    return FileEpisode(
        str(number),
        _there(entry["scene_id"]),
        _there(entry["scene_dataset_config"]),
        tuple(_found(configs[k], folders) for k in kept),
        _matrices([entry["rigid_objs"][k][1] for k in kept]),
        tuple(range(len(moved))),
        _matrices(list(targets.values())),
        {
            name: {int(link): float(value) for link, value in links.items()}
            for name, links in entry["ao_states"].items()
        },
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


def _matrices(transformations: list[Any]) -> np.ndarray:
    matrices = np.array(transformations, float)
    if matrices.shape[1:] != (4, 4) or not np.isfinite(matrices).all():
        raise ValueError("a transformation is not finite, 4 x 4")
    return matrices


@functools.lru_cache(maxsize=256)
def scene_floor(scene: str, dataset: str, below: float) -> tuple[OccupancyGrid, float]:
    """The floor of a scene and its height in Habitat's world [m], from the engine's navmesh.

    What is articulated is as the scene has it; what lies higher than `below` in Habitat's world [m], as the
    lowest object does, is no floor. An engine takes some seconds for it, once for each scene: the
    result is kept in the user's cache folder.

    Raises:
        UserError: The robot fits nowhere.
    """

    def told(engine: EngineProcess) -> dict[str, Any]:
        engine.ask("floor", below, CELL_SIZE, ROBOT_RADIUS, (LOWEST, HIGHEST))
        x, z, height, free = engine.answer()
        return {"corner": (x, z), "free": free, "height": height}

    asked = (CELL_SIZE, ROBOT_RADIUS, LOWEST, HIGHEST, below)
    floor = _surveyed(scene, dataset, "floor", asked, told)
    origin, free = from_habitat_cells(floor["corner"], floor["free"], CELL_SIZE)
    grid = OccupancyGrid.from_floor(scene, origin, free)
    if not grid.island.any():
        raise UserError(f"{scene} has no floor on which the robot fits")
    return grid, float(floor["height"])


@functools.lru_cache(maxsize=256)
def scene_handles(
    scene: str, dataset: str, handles: tuple[tuple[str, SceneHandle], ...]
) -> dict[str, HandleWay]:
    """Where handles of a scene go when they are opened, told and kept as its floor is."""

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
    described += [SURVEY.read_bytes(), str(Path(scene).resolve()).encode(), repr(asked).encode()]
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
        write_whole(kept, content.getvalue())
    with np.load(kept, allow_pickle=False) as found:
        return dict(found)


class _FileScene(Scene):
    """A scene of a dataset as tasks begin in it."""

    apartment: Apartment | None

    def __init__(self, files: SceneFiles, episode_id: str) -> None:
        super().__init__(cast(Apartment, None), files.grid)
        self.files, self.episode_id = files, episode_id

    @property
    def spec(self) -> SceneSpec:
        """Scenes of datasets count as apartments."""
        return APARTMENT

    @property
    def handle_ways(self) -> dict[str, HandleWay]:
        """See Scene; the engine is asked where a task needs them."""
        handles = tuple(self.files.handles.items())
        return scene_handles(self.files.scene, self.files.dataset, handles) if handles else {}

    def _where(self, episode_id: str) -> dict[str, Any]:
        where = {"layout": -1, "variation": -1, "scene": self.files}
        return where | {"episode_id": episode_id or self.episode_id}


def kind_of(file: str) -> str:
    """The kind of object that a config file describes: its name without endings."""
    return Path(file).name.partition(".")[0]


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
    # Other episodes of the scene share its floor: by a coarse bound, above the mesh, they share the work, too
    below = math.ceil(float(episode.poses[:, 1, 3].min()) + MESH_ABOVE)
    grid, height = scene_floor(episode.scene, episode.dataset, below)
    slots = _slots([kind_of(file) for file in episode.files])
    files = dict(zip(slots, episode.files, strict=True))
    joints, handles = episode.joints, episode.handles
    place = SceneFiles(episode.scene, episode.dataset, files, joints, handles, grid, height)
    scene = _FileScene(place, episode.episode_id)
    for slot, matrix in zip(slots, episode.poses, strict=True):
        scene.objects[slot] = _our_pose(matrix, height)
    targets = []
    for k, matrix in zip(episode.moved, episode.goals, strict=True):
        x, y, z = _our_pose(matrix, height)[:3]
        targets.append(Target(slots[k], scene.position(slots[k]), (x, y, z), "", ""))
    return scene, targets


def _slots(kinds: list[str]) -> list[int]:
    """A slot for each object: one of its kind as long as there is one, else any."""
    free = list(range(len(APARTMENT.objects)))
    chosen: list[int | None] = []
    for kind in kinds:
        of_kind = next((slot for slot in free if APARTMENT.slot_kinds[slot] == kind), None)
        chosen.append(of_kind)
        if of_kind is not None:
            free.remove(of_kind)
    return [free.pop() if slot is None else slot for slot in chosen]


def _our_pose(matrix: np.ndarray, height: float) -> tuple[float, ...]:
    """Position [m] and quaternion wxyz in our world of a transformation in Habitat's."""
    x, y, z = from_habitat_position(matrix[:3, 3]).tolist()
    rotation = from_habitat_rotation(np.roll(quaternion_of(matrix[:3, :3]), -1))
    return (x, y, z - height, *rotation.tolist())
