"""Pictures of a robot at work: a camera follows it smoothly, and what stands in the way is left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from rearrange.render.camera import Camera, look_at
from rearrange.render.caster import GeomTable
from rearrange.render.overlay import View
from rearrange.render.picture import RgbOptions, render_rgb
from rearrange.scenes.apartment import CEILING_GROUP, WALL_GROUP

Array = NDArray[np.float64]

BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
# Points of the robot that furniture must not hide, base frame [m].
BODY = np.array([(0.0, 0.0, 0.45), (0.0, 0.0, 1.0), (0.45, 0.0, 0.95)])
# Points around the robot that walls must not hide, base frame [m].
SURROUNDINGS = np.array(
    [(r * math.cos(a), r * math.sin(a), z)
     for r, z in ((0.9, 0.1), (1.5, 0.7))
     for a in np.linspace(0.0, 2.0 * math.pi, 8, endpoint=False)]
)  # fmt: skip
FLAT = 0.06  # what is lower than this hides nothing: floors, rugs [m]
SCENE = Camera(height=540, width=680, horizontal_fov=62.0)
LIGHT = RgbOptions(samples=1, shadow_size=1024, sky_lamps=0, outline=0.2)


@dataclass
class ChaseCamera:
    """Looks over the robot's shoulder from above.

    Attributes:
        distance: Horizontal distance behind the focus [m].
        height: Above the floor [m].
        side: Angle from straight behind to aside, so that the arm does not hide the hand [rad].
        lead: The focus is so far ahead of the base [m].
        smoothing: Share of the way to the wanted pose that is covered per frame.
    """

    distance: float = 2.5
    height: float = 2.9
    side: float = 0.65
    lead: float = 0.35
    smoothing: float = 0.07
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))
    _focus: Array | None = None
    _azimuth: float = 0.0

    def follow(self, base_pose: tuple[float, float, float]) -> None:
        """Moves on by one frame towards where the robot is now."""
        x, y, yaw = base_pose
        wanted = np.array((x + self.lead * math.cos(yaw), y + self.lead * math.sin(yaw), 0.65))
        azimuth = yaw + self.side
        if self._focus is None:
            self._focus, self._azimuth = wanted, azimuth
        turn = math.atan2(math.sin(azimuth - self._azimuth), math.cos(azimuth - self._azimuth))
        self._azimuth += 0.5 * self.smoothing * turn  # turning makes viewers ill: slower
        self._focus = self._focus + 2.0 * self.smoothing * (wanted - self._focus)
        back = np.array((-math.cos(self._azimuth), -math.sin(self._azimuth), 0.0))
        self.position = self._focus * (1, 1, 0) + self.distance * back + (0.0, 0.0, self.height)
        self.rotation = look_at(self.position, self._focus)


class Cutaway:
    """The geoms of an apartment without those that hide the robot from a camera.

    A geom stays hidden for a while, so that nothing flickers where a line of sight grazes it.
    """

    def __init__(self, model: mujoco.MjModel, keep_hidden: int = 20) -> None:
        self._model = model
        self._keep_hidden = keep_hidden
        fixed = model.body_weldid[model.geom_bodyid] == 0
        self._boxes = np.flatnonzero(
            (model.geom_type == BOX) & fixed & (model.geom_group != CEILING_GROUP)
        )
        self._is_wall = model.geom_group[self._boxes] == WALL_GROUP
        self._age = np.full(len(self._boxes), keep_hidden)  # frames since it was in the way
        self._hidden: frozenset[int] = frozenset()
        self._table = GeomTable.from_model(model, hidden_groups=(CEILING_GROUP,))

    def table(
        self, data: mujoco.MjData, eye: Array, base_pose: tuple[float, float, float]
    ) -> GeomTable:
        """What shall be drawn from `eye` with the robot at this pose."""
        x, y, yaw = base_pose
        c, s = math.cos(yaw), math.sin(yaw)
        turn = np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])
        body = BODY @ turn.T + (x, y, 0.0)
        around = SURROUNDINGS @ turn.T + (x, y, 0.0)
        hides = self._between(data, eye, body)
        hides |= self._is_wall & self._between(data, eye, around)
        self._age = np.where(hides, 0, self._age + 1)
        hidden = frozenset(self._boxes[self._age < self._keep_hidden].tolist())
        if hidden != self._hidden:
            self._hidden = hidden
            self._table = GeomTable.from_model(
                self._model, hidden_groups=(CEILING_GROUP,), hidden_geoms=hidden
            )
        return self._table

    def _between(self, data: mujoco.MjData, eye: Array, points: Array) -> NDArray[np.bool_]:
        """Whether each box stands between the eye and any of the points [P, 3]."""
        center = data.geom_xpos[self._boxes]
        axes = data.geom_xmat[self._boxes].reshape(-1, 3, 3)
        half = self._model.geom_size[self._boxes]
        start = np.einsum("bij,bi->bj", axes, eye - center)[:, None]  # [B, 1, 3]
        along = np.einsum("bij,pi->bpj", axes, points - eye)
        along = np.where(np.abs(along) < 1e-9, 1e-9, along)
        first, second = (-half[:, None] - start) / along, (half[:, None] - start) / along
        enter = np.minimum(first, second).max(axis=-1)
        leave = np.maximum(first, second).min(axis=-1)
        # Stop short of the points: the table at which the robot works is not in the way.
        hit = (enter < leave) & (leave > 0.0) & (enter < 0.93)
        top = center[:, 2] + np.abs(axes[:, 2] * half).sum(axis=-1)
        return hit.any(axis=-1) & (top > FLAT)


class ChaseView:
    """Draws one episode, picture after picture."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Begin in an apartment; the camera is behind the robot at the first picture."""
        self._chase, self._cutaway = ChaseCamera(), Cutaway(model)

    def draw(
        self, data: mujoco.MjData, base_pose: tuple[float, float, float]
    ) -> tuple[NDArray[np.uint8], View]:
        """The next picture [H, W, 3], and where it was taken from.

        Args:
            data: State of the apartment.
            base_pose: x, y [m], yaw [rad] of the robot.
        """
        self._chase.follow(base_pose)
        eye, rotation = self._chase.position, self._chase.rotation
        table = self._cutaway.table(data, eye, base_pose)
        depth = np.empty((SCENE.height, SCENE.width), np.float32)
        picture = render_rgb(
            table, data.geom_xpos, data.geom_xmat, SCENE, eye, rotation, LIGHT, depth
        )
        return picture, View(SCENE, eye, rotation, depth)
