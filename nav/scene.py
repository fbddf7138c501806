"""A building as the agent meets it: its floor, what its camera sees, and distances over the floor."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

from nav.buildings import load_building
from nav.categories import CATEGORIES, NavObject, objects_of
from nav.kernels import geodesics
from nav.starts import draw_points
from rearrange.navigation import OccupancyGrid, distance_field
from rearrange.navigation.footprints import Building
from rearrange.navigation.geodesic import sample_distance
from rearrange.render.projection import BOX, CYLINDER

Point = tuple[float, float]
LANDMARK_COUNT = 64
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Places:
    """Several free positions of a scene, of which the nearest counts; compared by identity.

    Attributes:
        points: World positions [G, 2], m.
        lone: There is one, a PointNav file's goal: it may lie farther beside the floor than view points.
    """

    points: np.ndarray
    lone: bool = False


@dataclass(frozen=True)
class Geoms:
    """Geoms for the caster, large ones first, because they hide the small.

    Attributes:
        kinds: mujoco.mjtGeom [M], int64.
        sizes: Half sizes along the geom's axes and bounding radius [M, 4], m.
        positions: Centres [M, 3], world frame, m.
        rotations: World-from-geom rotations [M, 9], row-major.
        colours: [M, 3] uint8.
        objects: Index of the object that each is of, see `objects_of` [M], int64; -1 for none.
        categories: 1 + index of its category in CATEGORIES [M], uint8; 0 for none.
    """

    kinds: np.ndarray
    sizes: np.ndarray
    positions: np.ndarray
    rotations: np.ndarray
    colours: np.ndarray
    objects: np.ndarray
    categories: np.ndarray

    @classmethod
    def of(cls, building: Building) -> Geoms:
        """The geoms of all solids."""
        rows = []
        objects = objects_of(building)
        owners = {solid: index for index, each in enumerate(objects) for solid in each.solids}
        for number, solid in enumerate(building.solids):
            a, b, c = solid.size
            if solid.kind == "box":
                kind, size = BOX, (a, b, c, math.hypot(a, b, c))
            else:
                kind, size = CYLINDER, (a, a, b, math.hypot(a, b))
            cosine, sine = math.cos(solid.yaw), math.sin(solid.yaw)
            turn = (cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0)
            owner = owners.get(number, -1)
            category = 0 if owner < 0 else 1 + CATEGORIES.index(objects[owner].category)
            rows.append((kind, size, solid.position, turn, solid.color[:3], owner, category))
        rows.sort(key=lambda row: -row[1][3])
        kinds, sizes, positions, rotations, colours, owned, categories = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        return cls(
            kinds.astype(np.int64),
            sizes.astype(float),
            positions.astype(float),
            rotations.astype(float),
            np.round(255.0 * colours).astype(np.uint8),
            owned.astype(np.int64),
            categories.astype(np.uint8),
        )


class Scene:
    """A building for agents of one radius; take it from `load_scene`.

    Attributes:
        building: What it was made of.
        radius: Of the agents [m].
        grid: Clearance of the floor.
        geoms: What the camera sees.
        island: Largest connected set of cells where the agent fits [nx, ny] bool.
        fields: Goal -> distances to it, the last few, which go with the scene; None: the process keeps them.
        memo: What else was worked out for it, see `kept_with_scene`.
    """

    fields: dict[Point | Places, np.ndarray] | None

    def __init__(self, building: Building, radius: float) -> None:
        """Rasterise the floor."""
        self.fields, self.memo = None, {}
        self.building = building
        self.radius = radius
        self.grid = OccupancyGrid(building)
        self.geoms = Geoms.of(building)
        self.island = self.grid.navigable(radius)

    @property
    def name(self) -> str:
        """The building's name."""
        return self.building.name

    @cached_property
    def cells(self) -> np.ndarray:
        """Centres of the island's cells [C, 2], m."""
        return self.grid.center_of(np.argwhere(self.island))

    @cached_property
    def objects(self) -> tuple[NavObject, ...]:
        """Objects of the building that can be goals."""
        return objects_of(self.building)

    @cached_property
    def floor(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float, float, float]:
        """The floor as kernels of `nav.starts` take it: cells, clearance, island, origin, cell size, radius."""
        grid = self.grid
        return self.cells, grid.clearance, self.island, *grid.origin, grid.cell, self.radius

    def is_free(self, x: float, y: float) -> bool:
        """True if the agent fits at (x, y) and can drive from there to most of the building."""
        return self.grid.is_free(x, y, self.radius) and bool(self.island[self.grid.cell_of(x, y)])

    def sample_points(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Free positions, uniform over the island's area [<= count, 2], m; a few may be missing."""
        return draw_points(rng, *self.floor, count)

    @cached_property
    def landmarks(self) -> list[Point]:
        """Free positions, the same in every process [m]; at most LANDMARK_COUNT.

        Tasks take goals from here, so that distances to them are worked out once and not in every
        episode: that takes some 20 ms, longer than a whole episode of an agent that gives up.
        """
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        points = self.sample_points(rng, 2 * LANDMARK_COUNT).tolist()
        return [(x, y) for x, y in points[:LANDMARK_COUNT]]

    def distances_to(self, goal: Point | Places) -> np.ndarray:
        """Geodesic distance from every cell to a free point, or the nearest of several, cached.

        Returns:
            [nx, ny] float32, m.
        """
        if self.fields is None:
            return _distances(self, goal)
        field = self.fields.pop(goal, None)
        self.fields[goal] = _measure(self, goal) if field is None else field  # now the newest
        if len(self.fields) > LANDMARK_COUNT:
            del self.fields[next(iter(self.fields))]
        return self.fields[goal]

    def distances(self, starts: np.ndarray, goal: Point | Places) -> np.ndarray:
        """Geodesic distances from free points [N, 2] to another, or the nearest of several [N], m."""
        return geodesics(self.distances_to(goal), *self.grid.origin, self.grid.cell, starts)

    def distance(self, start: Point, goal: Point | Places) -> float:
        """Likewise from one free point [m]."""
        return sample_distance(self.distances_to(goal), *self.grid.origin, self.grid.cell, *start)


def kept_with_scene(work: Callable[..., Value]) -> Callable[..., Value]:
    """Keep what a function of a scene and more returns as long as there is the scene."""

    @wraps(work)
    def kept(scene: Scene, *more: Any) -> Value:
        key = work.__name__, *more
        if key not in scene.memo:
            scene.memo[key] = work(scene, *more)
        return scene.memo[key]

    return kept


@lru_cache(maxsize=2048)
def _distances(scene: Scene, goal: Point | Places) -> np.ndarray:
    return _measure(scene, goal)


def _measure(scene: Scene, goal: Point | Places) -> np.ndarray:
    points = goal.points if isinstance(goal, Places) else goal
    return distance_field(scene.grid, points, scene.radius).distance.astype(np.float32, order="C")


@lru_cache(maxsize=256)
def load_scene(name: str, radius: float) -> Scene:
    """The scene of a building for agents of a radius [m] (cached per process).

    Raises:
        UserError: There is no such building.
    """
    return Scene(load_building(name), radius)
