"""Random scenes: an apartment of a split with thirty objects standing on its open receptacles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rearrange.episodes.episode import Episode, Target
from rearrange.errors import UserError
from rearrange.navigation import OccupancyGrid
from rearrange.robot import kinematics
from rearrange.scenes.apartment import (
    LAYOUTS_OF_SPLIT,
    OPEN_RECEPTACLES,
    VARIATION_COUNT,
    Apartment,
    Receptacle,
)
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS

OBJECT_GAP = 0.02  # free space between the footprints of two objects [m]
GOAL_GAP = 0.05  # likewise between a goal and objects or other goals [m]
HEADROOM = 0.03  # free height above an object [m]

Place = tuple[
    float, float, float, float
]  # x, y [m], footprint radius [m], height of the surface [m]


@lru_cache(maxsize=128)
def load_layout(layout: int, variation: int) -> tuple[Apartment, OccupancyGrid]:
    """An apartment and its occupancy grid (cached per process)."""
    apartment = generate_apartment(layout, variation)
    return apartment, OccupancyGrid(apartment)


def check_split(split: str) -> str:
    """Return the split or raise a UserError that lists those that exist."""
    if split not in LAYOUTS_OF_SPLIT:
        raise UserError(f"unknown split '{split}': choose one of {', '.join(LAYOUTS_OF_SPLIT)}")
    return split


@dataclass
class Scene:
    """An apartment with objects in it; the start of an episode.

    Attributes:
        apartment: The apartment.
        grid: Where the base can stand.
        objects: Slot -> pose (x, y, z, qw, qx, qy, qz), world frame.
        receptacle_of: Slot -> name of the receptacle it stands on.
        places: Occupied discs on surfaces, goals included.
    """

    apartment: Apartment
    grid: OccupancyGrid
    objects: dict[int, tuple[float, ...]]
    receptacle_of: dict[int, str]
    places: list[Place]

    def position(self, slot: int) -> tuple[float, float, float]:
        """Centre of an object [m]."""
        x, y, z = self.objects[slot][:3]
        return x, y, z

    def add_object(self, slot: int, receptacle: str, rng: np.random.Generator) -> bool:
        """Stand an object on a receptacle with a random heading; False if there is no room."""
        place = self.find_place(slot, receptacle, OBJECT_GAP, rng)
        if place is None:
            return False
        x, y, z = place
        yaw = float(rng.uniform(-math.pi, math.pi))
        self.objects[slot] = (x, y, z, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        self.receptacle_of[slot] = receptacle
        return True

    def find_place(
        self, slot: int, receptacle: str, gap: float, rng: np.random.Generator, attempts: int = 12
    ) -> tuple[float, float, float] | None:
        """A free upright position of the object's centre on a receptacle, which is then taken."""
        kind = OBJECT_KINDS[SLOT_KINDS[slot]]
        surface = self.apartment.receptacles[receptacle]
        radius = kind.footprint_radius
        if 2 * kind.half_height + HEADROOM > surface.clearance:
            return None
        for _ in range(attempts):
            x, y = _point_on(surface, radius, rng)
            z = surface.position[2]
            if all(
                abs(z - other_z) > 0.3 or math.hypot(x - ox, y - oy) > radius + other_radius + gap
                for ox, oy, other_radius, other_z in self.places
            ):
                self.places.append((x, y, radius, z))
                return x, y, z + kind.half_height
        return None

    def episode(
        self,
        targets: tuple[Target, ...],
        base_pose: tuple[float, float, float],
        arm_joints: tuple[float, ...],
        rng: np.random.Generator,
        episode_id: str = "",
    ) -> Episode:
        """The episode that starts in this scene."""
        return Episode(
            episode_id=episode_id,
            layout=self.apartment.layout,
            variation=self.apartment.variation,
            objects=self.objects,
            targets=targets,
            base_pose=base_pose,
            arm_joints=arm_joints,
            seed=int(rng.integers(2**31)),
        )


def _point_on(surface: Receptacle, radius: float, rng: np.random.Generator) -> tuple[float, float]:
    """A random point of a receptacle's rectangle, the footprint inside where it fits."""
    half_x = max(surface.half_extents[0] - radius, 0.0)
    half_y = max(surface.half_extents[1] - radius, 0.0)
    u, v = float(rng.uniform(-half_x, half_x)), float(rng.uniform(-half_y, half_y))
    c, s = math.cos(surface.yaw), math.sin(surface.yaw)
    return surface.position[0] + c * u - s * v, surface.position[1] + s * u + c * v


def cluttered_scene(split: str, rng: np.random.Generator) -> Scene:
    """A random apartment of the split with up to thirty objects on its open receptacles.

    Receptacles are chosen by their area, so that small ones are not always full.
    """
    layout = int(rng.choice(LAYOUTS_OF_SPLIT[check_split(split)]))
    apartment, grid = load_layout(layout, int(rng.integers(VARIATION_COUNT)))
    scene = Scene(apartment, grid, {}, {}, [])
    surfaces = [apartment.receptacles[name] for name in OPEN_RECEPTACLES]
    weights = np.array([math.sqrt(s.half_extents[0] * s.half_extents[1]) for s in surfaces])
    weights /= weights.sum()
    for slot in range(len(SLOT_KINDS)):
        for choice in rng.choice(len(surfaces), size=5, p=weights):
            if scene.add_object(slot, OPEN_RECEPTACLES[int(choice)], rng):
                break
    return scene


def sample_arm(rng: np.random.Generator, noise: float) -> tuple[float, ...]:
    """The resting arm with Gaussian noise per joint [rad], within the limits."""
    joints = np.asarray(kinematics.RESTING_ARM) + rng.normal(0.0, noise, kinematics.JOINT_COUNT)
    low, high = np.array(kinematics.JOINT_LIMITS).T
    return tuple(float(joint) for joint in np.clip(joints, low, high))
