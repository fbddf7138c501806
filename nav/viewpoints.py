"""View points of objects: places near an object from which the camera sees it, by ray casting.

As in Habitat's ObjectNav datasets, the agent succeeds by stopping at one. Candidates are the centres of
every second cell of the floor, 0.1 m apart, where the agent fits and from where it gets to most of
the building, not farther from the object than a distance (1 m there and here) measured over the floor.
One is a view point if the agent, turned to the object's centre with its camera at some tilt, sees the
object, behind whatever stands before it, on at least SEEN of an image; Habitat's generator asks likewise
how much of the image an object covers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import KDTree

from nav.agent import AgentConfig
from nav.kernels import draw
from nav.scene import Places, Scene, kept_with_scene
from rearrange.render import Camera
from rearrange.render.caster import scratch_image
from rearrange.scenes.apartment import Solid

SPACING = 2  # cells between candidates
IMAGE_SIZE = 32  # height and width of the images that are judged [pixels]
SEEN = 0.01  # share of the image that an object must cover
STRAY = 0.1  # [m], beyond a cell, that a given view point may lie beside where the agent gets to


@dataclass(frozen=True)
class ViewRule:
    """From where an object counts as seen.

    Attributes:
        distance: From the view point to the object over the floor, at most [m].
        height: Of the camera [m].
        field_of_view: Of the camera [deg].
        tilts: That it can take, level first [rad].
    """

    distance: float
    height: float
    field_of_view: float
    tilts: tuple[float, ...]

    @classmethod
    def of(cls, agent: AgentConfig, distance: float) -> ViewRule:
        """For an agent, within a distance [m]; steps from level give the tilts, the last ends at the limit."""
        most = agent.tilt_limit
        steps = [min(agent.tilt * k, most) for k in range(1, 1 + math.ceil(most / agent.tilt))]
        tilts = [math.radians(tilt) for step in steps for tilt in (-step, step)]
        return cls(distance, agent.camera_height, agent.field_of_view, (0.0, *tilts))


@kept_with_scene
def view_points(scene: Scene, index: int, rule: ViewRule) -> np.ndarray:
    """View points of an object of a scene (kept with it).

    Args:
        scene: The building.
        index: Of the object in `scene.objects`.
        rule: From where it counts as seen.

    Returns:
        x, y [m], yaw towards the object's centre [rad], and the share of the image that shows it [K, 4].
    """
    thing = scene.objects[index]
    cells = np.argwhere(scene.island)
    points = scene.grid.center_of(cells[(cells % SPACING == 0).all(axis=1)])
    solids = [scene.building.solids[solid] for solid in thing.solids]
    away = np.min([distance_over_floor(solid, points) for solid in solids], axis=0)
    points = points[away <= rule.distance]
    dx, dy = (np.array(thing.position[:2]) - points).T
    poses = np.column_stack([points, np.arctan2(dy, dx)])
    shares = np.zeros(len(poses))
    for tilt in rule.tilts:
        hidden = np.flatnonzero(shares < SEEN)
        shares[hidden] = _shares(scene, index, poses[hidden], tilt, rule)
    return np.column_stack([poses, shares])[shares >= SEEN]


@kept_with_scene
def goal_places(scene: Scene, category: str, rule: ViewRule) -> Places | None:
    """View points of all objects of a category (kept with the scene); None where there are none."""
    found = [
        view_points(scene, index, rule)[:, :2]
        for index, thing in enumerate(scene.objects)
        if thing.category == category
    ]
    points = np.concatenate([np.empty((0, 2)), *found])
    return Places(points) if len(points) else None


@lru_cache(maxsize=2048)
def places_on_floor(scene: Scene, places: Places) -> Places | None:
    """Those of given places that lie where the agent gets to, or nearly; None where there are none.

    Distances are measured to the nearest such floor, which for places farther off would be elsewhere,
    beside another object perhaps. If all lie there they are returned themselves, so that distances to
    them are worked out once (cached per process).
    """
    away, _ = KDTree(scene.cells).query(places.points)
    near = away <= scene.grid.cell + STRAY
    if near.all():
        return places
    return Places(places.points[near]) if near.any() else None


def distance_over_floor(solid: Solid, points: np.ndarray) -> np.ndarray:
    """Distances [N] from points [N, 2] to the outline of a solid on the floor, 0 inside, m."""
    dx, dy = (points - solid.position[:2]).T
    if solid.kind == "cylinder":
        return np.maximum(np.hypot(dx, dy) - solid.size[0], 0.0)
    cosine, sine = math.cos(solid.yaw), math.sin(solid.yaw)
    along = np.maximum(np.abs(cosine * dx + sine * dy) - solid.size[0], 0.0)
    across = np.maximum(np.abs(cosine * dy - sine * dx) - solid.size[1], 0.0)
    return np.hypot(along, across)


def _shares(scene: Scene, index: int, poses: np.ndarray, tilt: float, rule: ViewRule) -> np.ndarray:
    """Share of the image from each pose [N, 3] that shows an object [N]."""
    size, count, geoms = IMAGE_SIZE, len(poses), scene.geoms
    mask = np.repeat((geoms.objects == index)[:, None], 3, axis=1).astype(np.uint8)
    depth = np.empty((count, size, size), np.float32)
    shown = np.empty((count, size, size, 3), np.uint8)
    draw(
        np.arange(count), poses, np.full(count, tilt), rule.height,
        Camera(size, size, rule.field_of_view).lens(), 1.0, np.zeros(count, np.int64),
        np.array([0, len(geoms.kinds)]), geoms.kinds, geoms.sizes, geoms.positions,
        geoms.rotations, mask, geoms.categories, np.zeros(count, np.uint8),
        scratch_image(size, size, np.float32), scratch_image(size, size, np.int32), depth, shown, None,
    )  # fmt: skip
    return shown[..., 0].mean(axis=(1, 2))
