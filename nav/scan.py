"""A scanned scene, or any other in binary glTF: its storeys as floors to navigate on, its meshes to look at.

A file's frame is Habitat's for scenes: z up, unless the config of its dataset or NAME.stage_config.json
beside it says otherwise. World frame: ours.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from nav.agent import AgentConfig
from nav.episode import NavEpisode, SceneMesh
from nav.scene import Scene
from nav.task import NavTask
from rearrange.errors import UserError
from rearrange.navigation.storeys import Storey, Walker, storeys_of
from rearrange.render.meshes.gltf import library_of_pieces, read_gltf
from rearrange.render.meshes.library import MeshGeoms

OPEN = 4  # scans that a process keeps beside those that its agents are in
SHARE = 0.1  # of the largest storey's area, from which on episodes are sampled on another
CEILING = 0.9  # share of a floor that is covered, from which on it has a ceiling
STRAY = 1.0  # [m], that a start or goal of a file may lie beside the floor
NOT_UP = 0.5  # [m], that it may lie above or below it, as in Habitat's datasets
Vector = tuple[float, float, float]
UP, FRONT = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)  # of .glb files in Habitat


@dataclass(frozen=True)
class ScanKey:
    """Key of a scan: the file, and the agents for whom it is loaded.

    Attributes:
        file: The scene (.glb).
        dataset: Config file of the scene dataset that it is of; "" for none.
        radius: Of the agents [m].
        height: Of the agents [m].
        texel: What their cameras tell apart 1 m away [m]; 0 if they see no colours.
    """

    file: str
    dataset: str
    radius: float
    height: float
    texel: float

    @classmethod
    def of(cls, mesh: SceneMesh, agent: AgentConfig) -> ScanKey:
        """For agents in an episode's scene; they are as high as their cameras."""
        width = 2.0 * math.tan(math.radians(agent.field_of_view) / 2.0)
        texel = width / agent.camera_size if agent.rgb else 0.0
        return cls(mesh.file, mesh.dataset, agent.radius, agent.camera_height, texel)


class ScanFloor(Scene):
    """A storey's region as a scene that tasks take; without objects.

    Attributes:
        meshes: Of all storeys; not the scan itself, so that this is freed at once when nobody has it any more.
        heights: Of the floor [nx, ny] float32, m.
    """

    def __init__(self, key: ScanKey, meshes: MeshGeoms, storey: Storey, number: int) -> None:
        """Take over what a storey knows."""
        # Not Scene's own: the floor is known already
        self.fields, self.memo = {}, {}
        self.file, self.meshes, self.number = Path(key.file).name, meshes, number
        self.building, self.radius = storey.grid.apartment, key.radius
        self.grid, self.heights, self.level = storey.grid, storey.heights, storey.level
        self.island = np.zeros(self.grid.clearance.shape, bool)
        self.island[tuple(storey.cells.T)] = True
        self.area, self.places, self.covered = storey.area, storey.places, storey.covered

    @property
    def name(self) -> str:
        """The file's name, and which of its storeys."""
        return f"{self.file}, storey {self.number}"

    def height(self, x: float, y: float) -> float:
        """Height of the floor at a place [m]."""
        return float(self.heights[self.grid.cell_of(x, y)])

    def near(self, places: np.ndarray, stray: float = STRAY) -> np.ndarray:
        """Those of some places [G, 3] that lie on this floor or near to it, put on it [K, 2], m.

        Args:
            places: World frame, z up, m.
            stray: How far they may lie beside it [m].
        """
        _, nearest = self._tree.query(places)
        spots = [
            _spot(self, place, self.places[n], stray)
            for place, n in zip(places.tolist(), np.asarray(nearest), strict=True)
        ]
        return np.array([spot for spot in spots if spot is not None]).reshape(-1, 2)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.places)


class Scan:
    """A scene file for agents of one kind; take it from `load_scan`.

    Attributes:
        key: What it was loaded for.
        meshes: What cameras see; the geoms lie at the origin.
        floors: Regions where the agents get around, on all storeys.
        triangles: How many there are.
    """

    def __init__(self, key: ScanKey) -> None:
        """Read the file and find its floors."""
        self.key = key
        turn = turn_of(Path(key.file), key.dataset)
        pieces = read_gltf(key.file, turn, key.texel > 0.0)
        corners = np.concatenate([piece.corners for piece in pieces])
        self.triangles = len(corners)
        self.meshes: MeshGeoms = library_of_pieces(pieces, key.file, key.texel)
        storeys = storeys_of(key.file, corners, Walker(key.radius, key.height))
        self.floors = tuple(
            ScanFloor(key, self.meshes, storey, n) for n, storey in enumerate(storeys)
        )
        places = [floor.places for floor in self.floors]
        self._floor_of = np.repeat(np.arange(len(places)), [len(each) for each in places])
        self._places = np.concatenate(places)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._places)

    def on_floor(self, place: Vector) -> tuple[ScanFloor, tuple[float, float]] | None:
        """The floor at or nearest to a place, and where on it; None where none is near."""
        count = min(len(self.floors) + 1, len(self._places))
        away, found = (np.asarray(each) for each in self._tree.query(place, k=count))
        # Stairs are of two storeys: the one whose level is nearer
        same = found[away <= away[0] + 1e-6]
        levels = [abs(self.floors[self._floor_of[n]].level - place[2]) for n in same]
        best = int(same[int(np.argmin(levels))])
        floor = self.floors[self._floor_of[best]]
        spot = _spot(floor, place, self._places[best])
        return None if spot is None else (floor, spot)


def _spot(
    floor: ScanFloor, place: Vector, nearest: np.ndarray, stray: float = STRAY
) -> tuple[float, float] | None:
    """Put a place on a floor: there, or at the nearest cell's centre; None where that is far."""
    x, y, height = place
    if floor.is_free(x, y) and abs(floor.height(x, y) - height) <= NOT_UP:
        return x, y
    away = float(np.hypot(*(nearest[:2] - (x, y))))
    if away > stray or abs(float(nearest[2]) - height) > NOT_UP:
        return None
    return float(nearest[0]), float(nearest[1])


@lru_cache(maxsize=OPEN)
def load_scan(key: ScanKey) -> Scan:
    """A scan (the last few are kept per process).

    Raises:
        UserError: The file cannot be read, or has no floor.
    """
    return Scan(key)


def floor_shares(scan: Scan) -> np.ndarray:
    """Share of the episodes that each floor gets [F]: of the larger ones, by their areas.

    Where a floor has a ceiling all over, one that has none is taken for a roof, and left out.
    """
    areas = np.array([floor.area for floor in scan.floors])
    areas[areas < SHARE * areas.max()] = 0.0
    covered = np.array([floor.covered for floor in scan.floors])
    if (covered[areas > 0.0] > CEILING).any():
        areas[covered < 1.0 - CEILING] = 0.0
    return areas / areas.sum()


def sample_episode(scan: Scan, task: NavTask, rng: np.random.Generator) -> NavEpisode:
    """A random episode of a task in a scan, on a floor by `floor_shares`."""
    floor = scan.floors[int(rng.choice(len(scan.floors), p=floor_shares(scan)))]
    episode = task.sample(floor, rng)
    x, y, _ = episode.start
    goal = 0.0 if episode.goal is None else floor.height(*episode.goal)
    key = scan.key
    mesh = SceneMesh(key.file, key.dataset, start_height=floor.height(x, y), goal_height=goal)
    return replace(episode, building=key.file, mesh=mesh)


# --- the frame of a file ------------------------------------------------------------------------------


def turn_of(file: Path, dataset: str) -> np.ndarray:
    """Rotation from a scene file's frame into ours [3, 3].

    Habitat turns a scene's up and front to its own, y and -z, which are z and y here.

    Raises:
        UserError: A config cannot be read, or up and front are not at right angles.
    """
    told: dict[str, Any] = {}
    where = file
    if dataset:
        where = Path(dataset)
        told |= _object(where, _object(where, _read(where), "stages"), "default_attributes")
    beside = file.with_name(f"{file.name.split('.')[0]}.stage_config.json")
    if beside.is_file():
        where = beside
        told |= _read(beside)
    for name, usual in (("scale", [1, 1, 1]), ("units_to_meters", 1)):
        if told.get(name, usual) != usual:
            raise UserError(f"{where}: {name} must be {usual}: other sizes are not supported")
    up, front = _direction(where, told, "up", UP), _direction(where, told, "front", FRONT)
    if "up" in told and "front" not in told:
        front = np.array(FRONT if abs(up @ FRONT) < 0.5 else (0.0, 0.0, -1.0))
    if abs(up @ front) > 1e-3:
        raise UserError(f"{where}: front must be at right angles to up, found {front.tolist()}")
    return np.stack([np.cross(front, up), front, up])


def _read(path: Path) -> dict[str, Any]:
    """A config file of Habitat's."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read as JSON: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object, found {type(value).__name__}")
    return value


def _object(path: Path, value: dict[str, Any], name: str) -> dict[str, Any]:
    """An object in an object of a config; empty where it is not there."""
    found = value.get(name, {})
    if not isinstance(found, dict):
        raise UserError(f"{path}: {name} must be an object, found {type(found).__name__}")
    return found


def _direction(path: Path, told: dict[str, Any], name: str, default: Vector) -> np.ndarray:
    """A unit vector of a config."""
    value = told.get(name, default)
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all() or not np.linalg.norm(array) > 0.0:
        raise UserError(f"{path}: {name} must be three numbers that are not all 0, found {value}")
    return array / np.linalg.norm(array)
