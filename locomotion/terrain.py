"""Humanoid Flagrun Harder on Complex Terrain: the task of `locomotion.flagrun` among boxes (section 4.1).

From the paper: uneven ground with static rectangular obstacles, their sizes, places and orientations drawn
from uniform distributions, and a map of 15 x 11 heights that follows the robot and is denser near it. The
network has a branch for the map (table 4).

The paper gives no numbers for them. Here boxes are both, obstacles and uneven ground: they are sunk in the
floor, their tops lean a little and overlap. They lie in a square of 12 m that repeats itself: a box that is
left 6 m behind, out of the map, goes 12 m ahead. So the terrain has no end, each episode of each robot has
its own, and physics knows 24 boxes and not those of a hundred metres. Sizes are the model's, and drawn
once; places, orientations and heights are of an episode. It begins on level floor: no top is within 1.5 m.
MuJoCo and mujoco-warp both find contacts of capsules and spheres with boxes by formulas.

The map is centred at the torso, not at the centre of mass, and turned with the heading: 15 places within 2
m ahead and behind, 11 within 1 m aside. It tells heights above the spot below the torso. The torso's own
height is told and judged above that spot, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np
import torch
from torch import Tensor

from locomotion.course import Course, Random
from locomotion.flagrun import Flagrun, FlagrunWorlds, within
from locomotion.humanoid import HUMANOID
from locomotion.robots import BODY, FLOOR, FRICTION, Body, Robot, compile_robot
from locomotion.running import yaw_of

HEIGHTS = "heights"
ROWS, COLUMNS = 15, 11  # along the heading, across it (paper)
AHEAD, ASIDE = 2.0, 1.0  # reach of the map [m]
DENSER = 1.5  # power that crowds its points at the middle
PERIOD = 12.0  # side of the square that repeats itself [m]
CLEAR = 1.5  # without boxes around the start [m]
SIDES = (0.15, 1.0)  # half of a box's length and width [m]
DEEP = 1.0  # half of its thickness [m]: its floor stays below ours
MOST, HIGHEST, STEEPEST = 64, 1.0, 0.5  # boxes, [m], [rad]


@dataclass(frozen=True)
class Boxes:
    """Boxes of a square of terrain; see `locomotion.robots.Scenery`.

    Attributes:
        count: K.
    """

    count: int

    @property
    def met(self) -> int:
        """The floor and three boxes that overlap: more is very rare, and never seen in tests."""
        return 4

    @property
    def halves(self) -> np.ndarray:
        """Half of the sizes [m]: [K, 3], always the same."""
        sides = np.random.default_rng(0).uniform(*SIDES, (MOST, 2))[: self.count]
        return np.concatenate([sides, np.full((self.count, 1), DEEP)], -1)

    def add(self, spec: mujoco.MjSpec) -> None:
        """Adds them, out of sight."""
        for index, half in enumerate(self.halves):
            body = spec.worldbody.add_body(name=f"box_{index}", mocap=True, pos=(0, 0, -10))
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=tuple(half),
                friction=FRICTION,
                contype=FLOOR,
                conaffinity=BODY,
            )


class Terrain(Flagrun):
    """N ways over boxes; see `Course`.

    Args:
        body: The robot and its boxes.
        count: N.
        worlds: Their settings.
    """

    shapes: ClassVar[Mapping[str, int]] = {HEIGHTS: ROWS * COLUMNS}

    def __init__(self, body: Body, count: int, worlds: TerrainWorlds) -> None:
        device = worlds.tensors_on
        super().__init__(body, count, device, worlds.flag_within, worlds.lying)
        halves = worlds.boxes.halves
        self._high, self._tilt = worlds.obstacle_height, worlds.obstacle_tilt
        self._halves = torch.as_tensor(halves, dtype=torch.float32, device=device)
        self._boxes = torch.zeros(count, len(halves), 7, device=device)
        self._boxes[..., 3] = 1.0
        self._map = map_points(device)
        self._seen = torch.zeros(count, len(self._map), device=device)

    def begin(self, which: Tensor, qpos: Tensor, random: Random) -> Tensor:
        """See `Course`."""
        begun = super().begin(which, qpos, random)
        draws = random(len(which), len(self._halves), 6)
        place, yaw = PERIOD * (draws[..., :2] - 0.5), 2.0 * math.pi * draws[..., 3]
        away = CLEAR + self._halves[:, :2].norm(dim=-1)
        distance = place.norm(dim=-1).clamp(min=1e-3)
        place = place * (away / distance).clamp(min=1.0)[..., None]
        top = torch.cat([qpos[:, None, :2] + place, self._high * draws[..., 2:3]], -1)
        lean, about = self._tilt * draws[..., 4], 2.0 * math.pi * draws[..., 5]
        quaternion = _leaning(lean, about, yaw)
        upward = _axes(quaternion)[2]
        self._boxes[which] = torch.cat([top - DEEP * torch.stack(upward, -1), quaternion], -1)
        return begun

    def things(self, qpos: Tensor) -> Tensor | None:
        """See `Course`: each box where it repeats itself nearest to the robot."""
        return _nearest(self._boxes, qpos) if len(self._halves) else None

    def ground(self, qpos: Tensor, which: Tensor | None = None) -> Tensor:
        """See `Course`."""
        if len(self._halves):
            rows = slice(None) if which is None else which
            self._seen = self._seen.clone()  # the old one may belong to what was shown
            self._seen[rows] = self._around(qpos[rows], self._boxes[rows])
        return self._seen[:, ROWS * COLUMNS // 2]

    def _around(self, qpos: Tensor, boxes: Tensor) -> Tensor:
        """Finds the heights [K, 165] of the map of robots [K, 7 + J] among their boxes [K, B, 7]."""
        yaw = yaw_of(qpos[:, 3:7])[:, None]
        ahead, aside = self._map.unbind(-1)
        points = torch.stack(
            [yaw.cos() * ahead - yaw.sin() * aside, yaw.sin() * ahead + yaw.cos() * aside], -1
        )
        return heights(points + qpos[:, None, :2], _nearest(boxes, qpos), self._halves)

    def looks(self) -> dict[str, Tensor]:
        """See `Course`: the map of heights [m], row by row from behind, in a row from right to left."""
        return {HEIGHTS: self._seen - self._seen[:, ROWS * COLUMNS // 2, None]}


@dataclass(frozen=True)
class TerrainWorlds(FlagrunWorlds):
    """Makes worlds of the task; see `FlagrunWorlds`.

    Attributes:
        obstacles: Boxes in a square of 12 m; 0 leaves the floor plain.
        obstacle_height: Largest height of the middle of a box above the floor [m].
        obstacle_tilt: Largest angle by which a box leans [rad].

    Raises:
        UserError: A value is out of its range.
    """

    robots: ClassVar[Mapping[str, Robot]] = {"humanoid_terrain": HUMANOID}

    obstacles: int = 24
    obstacle_height: float = 0.2
    obstacle_tilt: float = 0.1

    def __post_init__(self) -> None:
        """Checks them."""
        super().__post_init__()
        within(self, "obstacles", 0, MOST, whole=True)
        within(self, "obstacle_height", 0.0, HIGHEST)
        within(self, "obstacle_tilt", 0.0, STEEPEST)

    @property
    def boxes(self) -> Boxes:
        """The boxes of the models."""
        return Boxes(self.obstacles)

    def body(self) -> Body:
        """See `LocomotionWorlds`."""
        return compile_robot(self.robots[self.name], self.boxes)

    def course(self, body: Body, count: int) -> Course:
        """See `LocomotionWorlds`."""
        return Terrain(body, count, self)


def map_points(device: str) -> Tensor:
    """Places of the map, ahead and to the left of the torso [m]: [165, 2], the middle one at it."""

    def spaced(count: int, reach: float) -> Tensor:
        side = count // 2
        even = torch.arange(-side, side + 1, device=device) / side
        return reach * even.sign() * even.abs() ** DENSER

    return torch.cartesian_prod(spaced(ROWS, AHEAD), spaced(COLUMNS, ASIDE))


def heights(points: Tensor, boxes: Tensor, halves: Tensor) -> Tensor:
    """Finds how high the ground is: the floor at 0, or the highest box.

    A vertical line enters and leaves a box between two of its sides along each of its axes; it meets the box
    where it is between all of them.

    Args:
        points: [N, M, 2] x and y [m].
        boxes: [N, K, 7] positions and quaternions (w, x, y, z).
        halves: [K, 3] half of their sizes.

    Returns:
        [N, M] heights [m].
    """
    axes = _axes(boxes[:, None, :, 3:])
    place = boxes[:, None, :, :3]
    east, north = (points[:, :, None, i] - place[..., i] for i in (0, 1))
    enters = torch.full_like(east, -math.inf)
    leaves = torch.full_like(east, math.inf)
    for axis, half in zip(axes, halves.T, strict=True):
        begin = axis[0] * east + axis[1] * north
        # A side that the line runs along is met at a far place, beyond or before all others
        slope = torch.where(axis[2].abs() < 1e-6, 1e-6, axis[2])
        ends = ((-half - begin) / slope, (half - begin) / slope)
        enters = torch.maximum(enters, torch.minimum(*ends))
        leaves = torch.minimum(leaves, torch.maximum(*ends))
    tops = torch.where(enters <= leaves, leaves + place[..., 2], 0.0)
    return tops.amax(-1).clamp(min=0.0)


def _nearest(boxes: Tensor, qpos: Tensor) -> Tensor:
    """Puts each box [K, B, 7] where it repeats itself nearest to its robot [K, 7 + J]."""
    boxes = boxes.clone()
    ahead = (qpos[:, None, :2] - boxes[..., :2]) / PERIOD
    boxes[..., :2] += PERIOD * ahead.round()
    return boxes


def _leaning(lean: Tensor, about: Tensor, yaw: Tensor) -> Tensor:
    """Makes quaternions [..., 4] that lean by an angle about a level axis, and then turn by another [rad]."""
    around = about + yaw / 2.0
    level = (lean / 2.0).sin()
    upright = (lean / 2.0).cos()
    parts = ((yaw / 2.0).cos() * upright, level * around.cos(), level * around.sin())
    return torch.stack([*parts, (yaw / 2.0).sin() * upright], -1)


def _axes(quaternion: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
    """Finds the axes x, y and z of the frames of quaternions [..., 4], each as its three numbers [...]."""
    w, x, y, z = quaternion.unbind(-1)
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
