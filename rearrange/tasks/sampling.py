"""Random scenes: an apartment of a split with objects standing on its receptacles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rearrange.episodes.episode import Episode, Target
from rearrange.errors import UserError
from rearrange.navigation import OccupancyGrid, load_layout
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import Apartment, Receptacle
from rearrange.scenes.compile import REST_DEPTH
from rearrange.scenes.objects import ObjectKind
from rearrange.scenes.registry import (
    DEFAULT_HOMES,
    VARIATION_COUNT,
    check_homes,
    check_split,
    layouts_of,
    spec_of_layout,
)
from rearrange.scenes.spec import Part, SceneSpec

OBJECT_GAP = 0.02  # free space between the footprints of two objects [m]
GOAL_GAP = 0.05  # likewise between a goal and objects or other goals [m]
HEADROOM = 0.03  # free height above an object [m]
AWAY_SHARE = 1 / 128  # of draws that leave the one apartment that `at_home` names

Place = tuple[
    float, float, float, float
]  # x, y [m], footprint radius [m], height of the surface [m]


@dataclass(frozen=True)
class HandleWay:
    """Where a handle goes when its joint opens, in a frame in which the robot stands ahead of it.

    Attributes:
        position: Of the frame's origin, world x and y [m].
        yaw: Of the frame [rad].
        values: Of the joint, rising [rad or m].
        places: Of the handle then, in the frame [m].
    """

    position: tuple[float, float]
    yaw: float
    values: tuple[float, ...]
    places: tuple[tuple[float, float], ...]

    def at(self, value: float) -> tuple[float, float]:
        """Place of the handle in the frame [m]."""
        x, y = (float(np.interp(value, self.values, axis)) for axis in np.transpose(self.places))
        return x, y


@dataclass
class Scene:
    """An apartment with objects in it; the start of an episode.

    Attributes:
        apartment: The apartment.
        grid: Where the base can stand.
        objects: Slot -> pose (x, y, z, qw, qx, qy, qz), world frame.
        receptacle_of: Slot -> name of the receptacle it stands on.
        places: Occupied discs on surfaces, goals included.
        joints: Articulated joint -> its value, 0 where absent; drawers carry what is in them.
        held_slot: Object that the robot holds, or None.
    """

    apartment: Apartment
    grid: OccupancyGrid
    objects: dict[int, tuple[float, ...]] = field(default_factory=dict)
    receptacle_of: dict[int, str] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    joints: dict[str, float] = field(default_factory=dict)
    held_slot: int | None = None

    @cached_property
    def spec(self) -> SceneSpec:
        """The kind of home."""
        return spec_of_layout(self.apartment.layout)

    @property
    def handle_ways(self) -> dict[str, HandleWay]:
        """Joint -> where its handle goes, in a scene of a dataset; of an apartment that is known anyway."""
        return {}

    def _where(self, episode_id: str) -> dict[str, Any]:
        """Fields of an episode that say which it is and where it takes place."""
        layout, variation = self.apartment.layout, self.apartment.variation
        return {"episode_id": episode_id, "layout": layout, "variation": variation}

    def position(self, slot: int) -> tuple[float, float, float]:
        """Centre of an object [m]."""
        x, y, z = self.objects[slot][:3]
        return x, y, z

    def add_object(
        self, slot: int, receptacle: str, rng: np.random.Generator, gap: float = OBJECT_GAP
    ) -> bool:
        """Stand an object on a receptacle with a random heading; False if there is no room."""
        place = self.find_place(slot, receptacle, gap, rng)
        if place is None:
            return False
        x, y, z = place
        yaw = float(rng.uniform(-math.pi, math.pi))
        self.objects[slot] = (x, y, z, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        self.receptacle_of[slot] = receptacle
        return True

    def add_clutter(
        self, slots: Iterable[int], rng: np.random.Generator, gap: float = OBJECT_GAP
    ) -> None:
        """Stand these objects on open receptacles, as far as there is room.

        Receptacles are chosen by their area, so that small ones are not always full.
        """
        names = self.spec.open_receptacles
        surfaces = [self.apartment.receptacles[name] for name in names]
        weights = np.array([math.sqrt(s.half_extents[0] * s.half_extents[1]) for s in surfaces])
        chances = np.cumsum(weights / weights.sum())
        chances /= chances[-1]
        for slot in slots:
            for choice in chances.searchsorted(rng.random(5), side="right"):
                if self.add_object(slot, names[int(choice)], rng, gap):
                    break

    def find_place(
        self, slot: int, receptacle: str, gap: float, rng: np.random.Generator, attempts: int = 12
    ) -> tuple[float, float, float] | None:
        """A free upright position of the object's centre, at rest on a receptacle; it is then taken."""
        kind, part = self.spec.objects[slot], self.spec.part_of(receptacle)
        surface = self.apartment.receptacles.get(receptacle)
        if surface is None:
            names = ", ".join(self.apartment.receptacles)
            raise UserError(f"there is no receptacle '{receptacle}': choose one of {names}")
        radius = kind.footprint_radius
        if not fits(kind, surface):
            return None
        x0, y0, z = surface.position
        shift_x, shift_y = self._drawn_out(surface)
        x0, y0 = x0 + shift_x, y0 + shift_y
        share = part.central_share if part is not None else 1.0
        half_x, half_y = (min(half - radius, share * half) for half in surface.half_extents)
        c, s = math.cos(surface.yaw), math.sin(surface.yaw)
        others = [
            (x, y, radius + r + gap) for x, y, r, height in self.places if abs(z - height) <= 0.3
        ]
        for _ in range(attempts):
            u, v = rng.uniform(-half_x, half_x), rng.uniform(-half_y, half_y)
            x, y = x0 + c * u - s * v, y0 + s * u + c * v
            for other_x, other_y, least in others:
                if math.hypot(x - other_x, y - other_y) <= least:
                    break
            else:
                self.places.append((x, y, radius, z))
                return x, y, z + kind.half_height - REST_DEPTH
        return None

    def _drawn_out(self, surface: Receptacle) -> tuple[float, float]:
        """How far an open drawer has carried a surface (x, y) [m]."""
        if not surface.joint:
            return 0.0, 0.0
        travel = self.joints.get(surface.joint, 0.0)
        yaw = self.spec.frame_of(self.apartment, surface.joint).yaw
        return travel * math.cos(yaw), travel * math.sin(yaw)

    def episode(
        self,
        targets: tuple[Target, ...],
        base_pose: tuple[float, float, float],
        arm_joints: tuple[float, ...],
        rng: np.random.Generator,
        episode_id: str = "",
        target_joint: str | None = None,
    ) -> Episode:
        """The episode that starts in this scene."""
        return Episode(
            **self._where(episode_id),
            objects=self.objects,
            targets=targets,
            base_pose=base_pose,
            arm_joints=arm_joints,
            articulated=self.joints,
            held_slot=self.held_slot,
            target_joint=target_joint,
            seed=int(rng.integers(2**31)),
        )


def fits(kind: ObjectKind, surface: Receptacle) -> bool:
    """Whether there is room for an object on an empty surface, and above it."""
    high = 2 * kind.half_height + HEADROOM
    return high <= surface.clearance and kind.footprint_radius <= min(surface.half_extents)


def source_of(split: str, homes: str = DEFAULT_HOMES) -> str:
    """Where tasks sample apartments: a split of a collection of homes, such as "generated/val".

    Raises:
        UserError: Unknown split or collection of homes.
    """
    check_split(split)
    return f"{check_homes(homes)}/{split}"


def at_home(source: str, seed: Sequence[int]) -> str:
    """What `source_of` names, narrowed to one of its apartments, which the seed decides.

    A world that is in one apartment for several episodes need not make a new one for each. Where an
    apartment has no start for a task, that must not end a training: now and then another one is drawn.
    """
    layout, variation = _draw_place(source, np.random.default_rng(seed))
    return f"{source}/{layout}/{variation}"


def _draw_place(source: str, rng: np.random.Generator) -> tuple[int, int]:
    """A random (layout, variation) of what `source_of` names."""
    homes, _, name = source.rpartition("/")
    layout = int(rng.choice(layouts_of(check_split(name), homes or DEFAULT_HOMES)))
    return layout, int(rng.integers(min(VARIATION_COUNT, spec_of_layout(layout).variations)))


def empty_scene(source: str, rng: np.random.Generator) -> Scene:
    """A random apartment of a split, or of what `source_of` or `at_home` names, without objects."""
    source, home = _split_home(source)
    if home is None or rng.random() < AWAY_SHARE:
        return Scene(*load_layout(*_draw_place(source, rng)))
    return Scene(*load_layout(*home))


def _split_home(source: str) -> tuple[str, tuple[int, int] | None]:
    """A source, and the one of its apartments that `at_home` narrows it to, if it does."""
    parts = source.split("/")
    if len(parts) < 3:
        return source, None
    return "/".join(parts[:-2]), (int(parts[-2]), int(parts[-1]))


def cluttered_scene(split: str, rng: np.random.Generator) -> Scene:
    """A random apartment of the split with up to all objects of its kind on its open receptacles."""
    scene = empty_scene(split, rng)
    scene.add_clutter(range(len(scene.spec.objects)), rng)
    return scene


def no_room(
    task: str, what: str, scene: SceneSpec, attempts: int, parts: Sequence[Part] = ()
) -> UserError:
    """Error for users: none of so many scenes has room for what a task wants.

    Args:
        task: Its name.
        what: That finds no room.
        scene: The kind of home.
        attempts: Scenes that were tried.
        parts: Before which the robot shall stand; without them it is objects that have no room.
    """
    tried = f"{task}: no room for {what} in {attempts} scenes"
    if not parts:
        return UserError(
            f"{tried}: name fewer objects (objects:) or more receptacles in {scene.where}"
        )
    names = " or ".join(part.name for part in parts)
    return UserError(
        f"{tried} before {names}: clear the floor there, or say tasks: [] of it in {scene.where}"
    )


def sample_arm(robot: RobotSpec, rng: np.random.Generator, noise: float) -> tuple[float, ...]:
    """The resting arm with Gaussian noise per joint [rad, of slides in their units], within the limits."""
    drawn = rng.normal(0.0, noise, len(robot.joints)) * robot.units
    joints = np.asarray(robot.resting_arm) + drawn
    return tuple(float(joint) for joint in np.clip(joints, *robot.limits))
