"""Senses for replanning: objects, doors and the hand at a hand-off.

`Observed` is what a Fetch could know:

- **Hand**: whether the cup holds something (suction, as every policy is told), and what kind of thing
  that is, as the head camera sees it at the hand or before it. Two objects of one kind look alike: the
  wrong one of them goes unnoticed, whatever slot of the simulator it is in. A handle is told from an
  object.
- **Objects**: their starts and goals are given, as in HAB. Where an object is now is known only while the
  head camera sees some of it, and again only by its kind. That kinds are recognised in the image, and
  where the centre of what is seen lies, is assumed: a detector would have to do it. That an object is
  *not* at its goal is known if the camera sees the place, and round it, and no object of the kind.
- **Fridge and drawer**: how far they are open, while the robot stands within FRONT of the handle.

`Truth` is the other source, of the level `privileged`: an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from rearrange.env import RearrangeEnv
from rearrange.render import Camera, View
from rearrange.scenes.objects import ObjectKind
from rearrange.sim.base import NOTHING, SimState
from skills.knowledge.body import Position

HANDLE = -2  # what the hand holds is no object but a handle
FRONT = 2.0  # [m], base to handle in the plane
SEARCH = 1.5  # [m], around the place where an object is expected
SAMPLES = 2  # points of an object in the image that make it seen
RING, RING_SHARE = 0.2, 0.75  # [m] round a place, and how much of that has to be seen
MARGIN = 0.03  # [m], of the camera's depth


class Senses(Protocol):
    """Source of replanning's facts."""

    def in_hand(self, world: RearrangeEnv, likely: Sequence[int]) -> int:
        """Tell the hand's contents: a slot, HANDLE or NOTHING; `likely` are slots, the likeliest first."""
        ...

    def at_cup(self, world: RearrangeEnv) -> Position | None:
        """Position of the object in the hand [3], m, world frame; None without one."""
        ...

    def find(self, world: RearrangeEnv, slot: int, near: Position) -> Position | None:
        """Find an object, expected `near` [3], m, world frame; None if that cannot be told."""
        ...

    def shows(self, world: RearrangeEnv, position: Position) -> bool:
        """Return whether an object at this position [3], m, would be noticed."""
        ...

    def opening(self, world: RearrangeEnv, joint: str) -> float | None:
        """Opening of a joint [rad] or [m]; None if that cannot be told."""
        ...


class Truth:
    """Everything, from the simulator's state: privileged."""

    def in_hand(self, world: RearrangeEnv, likely: Sequence[int]) -> int:
        """The slot that is held, whatever was likely."""
        return _held(world.state)

    def at_cup(self, world: RearrangeEnv) -> Position | None:
        """Its true centre."""
        return _at_cup(world.state)

    def find(self, world: RearrangeEnv, slot: int, near: Position) -> Position | None:
        """Position of the object, whatever stands before it."""
        return object_position(world.state, slot)

    def shows(self, world: RearrangeEnv, position: Position) -> bool:
        """Always."""
        return True

    def opening(self, world: RearrangeEnv, joint: str) -> float | None:
        """The joint's value, from wherever the robot stands."""
        return float(world.state.articulated_joints[0, world.state.scene.index(joint)])


class Observed:
    """Facts that the robot could tell; see the top of the file."""

    def in_hand(self, world: RearrangeEnv, likely: Sequence[int]) -> int:
        """Tell the hand's contents by kind: the likeliest that looks like it, else one nobody asks for."""
        held, kinds = _held(world.state), world.state.scene.objects
        if held < 0:
            return held
        asked = {target.slot for target in world.episode.targets}
        others = sorted(world.episode.objects, key=lambda slot: (slot in asked, slot))
        return next(slot for slot in (*likely, *others, held) if kinds[slot] == kinds[held])

    def at_cup(self, world: RearrangeEnv) -> Position | None:
        """The centre of what the camera sees at the cup: assumed to be told, as everywhere."""
        return _at_cup(world.state)

    def find(self, world: RearrangeEnv, slot: int, near: Position) -> Position | None:
        """The nearest object of the kind that the camera shows within SEARCH, but what is in the hand."""
        held, view = int(world.state.held_object[0]), head_view(world)
        kinds = world.state.scene.objects
        alike = [s for s in world.episode.objects if kinds[s] == kinds[slot] and s != held]
        places = [object_position(world.state, s) for s in alike]
        places = [place for place in places if is_seen(view, place, kinds[slot])]
        nearest = min(places, key=lambda place: math.dist(place, near), default=None)
        return nearest if nearest is not None and math.dist(nearest, near) < SEARCH else None

    def shows(self, world: RearrangeEnv, position: Position) -> bool:
        """Return whether the camera sees the position and most of a ring around it."""
        view = head_view(world)
        return bool(is_clear(view, position)) and (
            is_clear(view, around(position, RING)).mean() >= RING_SHARE
        )

    def opening(self, world: RearrangeEnv, joint: str) -> float | None:
        """The joint's value while the robot stands in front of it."""
        index = world.state.scene.index(joint)
        x, y = world.state.handle_position[0, index, :2].tolist()
        if math.dist((x, y), world.state.base_pose[0, :2].tolist()) > FRONT:
            return None
        return float(world.state.articulated_joints[0, index])


def head_view(world: RearrangeEnv) -> View:
    """The head camera's depth image of now, with where it was taken from."""
    simulator = world.simulator
    depth = simulator.render_depth()[0]
    height, width = depth.shape
    camera = Camera(height, width, world.robot.camera.field_of_view)
    return View(camera, *simulator.camera_pose(0), depth)


def around(center: Position, radius: float, height: float = 0.0) -> np.ndarray:
    """Eight points on a level circle, so high over its centre [8, 3], m."""
    angles = np.linspace(0.0, 2.0 * math.pi, 8, endpoint=False)
    circle = [radius * np.cos(angles), radius * np.sin(angles), np.full(8, height)]
    return np.asarray(center) + np.stack(circle, axis=1)


def is_seen(view: View, center: Position, kind: ObjectKind) -> bool:
    """Return whether SAMPLES points of an object's surface, as an upright cylinder's, are clear."""
    radius, half = 0.8 * kind.footprint_radius, kind.half_height
    points = np.vstack([around(center, radius), around(center, radius, half)])
    return bool(is_clear(view, points).sum() >= SAMPLES)


def is_clear(view: View, points: ArrayLike) -> np.ndarray:
    """Return which points [..., 3], m, world frame, are in the image and not hidden [...]."""
    pixels, depth = view.project(points)
    columns, rows = np.moveaxis(np.rint(pixels).astype(int), -1, 0)
    height, width = view.depth.shape
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height) & (depth > 0.0)
    there = view.depth[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
    return inside & (there > depth - MARGIN)


def object_position(state: SimState, slot: int) -> Position:
    """Centre of an object of world 0, world frame [3], m."""
    x, y, z = (float(v) for v in state.object_position[0, slot])
    return x, y, z


def _held(state: SimState) -> int:
    return HANDLE if int(state.held_handle[0]) != NOTHING else int(state.held_object[0])


def _at_cup(state: SimState) -> Position | None:
    held = int(state.held_object[0])
    return None if held == NOTHING else object_position(state, held)
