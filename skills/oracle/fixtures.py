"""The parts of the home that open: where their handles are and how they move.

World frame, metres, radians. An opening is the value of the part's joint: rad for doors, m for
drawers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rearrange.scenes.apartment import Apartment, ArticulatedPose
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import Door, Part, SceneSpec
from skills.oracle.obstacles import Obstacles, boxes_of_bodies


@dataclass(frozen=True)
class Fixture:
    """One drawer or door of a home.

    Attributes:
        part: Which.
        frame: Where its furniture stands.
        scene: Kind of home.
    """

    part: Part
    frame: ArticulatedPose
    scene: SceneSpec

    @classmethod
    def of(cls, apartment: Apartment, joint: str) -> Fixture:
        """The fixture that a joint moves.

        Raises:
            UserError: There is no such joint.
        """
        scene = spec_of_layout(apartment.layout)
        return cls(scene.part(joint), scene.frame_of(apartment, joint), scene)

    @property
    def joint(self) -> str:
        """Name of the part."""
        return self.part.name

    @property
    def index(self) -> int:
        """Place in SceneSpec.parts."""
        return self.scene.index(self.joint)

    @property
    def is_door(self) -> bool:
        """True if it turns, False if it slides."""
        return self.part.turns

    @property
    def range(self) -> tuple[float, float]:
        """Limits of the opening [m or rad]."""
        return self.part.range

    @property
    def hinge(self) -> np.ndarray:
        """Axis of the door [2], m."""
        return self._to_world(*self.door.hinge)

    @property
    def door(self) -> Door:
        """The part, which has to be a door."""
        assert isinstance(self.part, Door)
        return self.part

    def outward(self, opening: float) -> np.ndarray:
        """Direction in which the handle faces [2]."""
        yaw = self.frame.yaw + (self.door.sense * opening if self.is_door else 0.0)
        return np.array([math.cos(yaw), math.sin(yaw)])

    def handle(self, opening: float) -> np.ndarray:
        """Centre of the outer face of the handle [3], m."""
        x, y, z, half_x, _, _ = self._handle_box()
        if self.is_door:
            out = self.outward(opening)
            along = np.array([-out[1], out[0]])
            face = self.hinge + (x + half_x) * out + y * along
        else:
            face = self._to_world(x + half_x + opening, y)
        return np.array([*face, z])

    def carried(self, pose: np.ndarray, start: float, end: float) -> np.ndarray:
        """A base pose (x, y, yaw) [3] after it has moved with the part from one opening to another."""
        change = end - start
        if not self.is_door:
            return pose + np.array([*(change * self.outward(0.0)), 0.0])
        change *= self.door.sense
        cosine, sine = math.cos(change), math.sin(change)
        dx, dy = pose[:2] - self.hinge
        x, y = self.hinge + np.array([cosine * dx - sine * dy, sine * dx + cosine * dy])
        return np.array([x, y, math.remainder(pose[2] + change, 2 * math.pi)])

    def boxes(self, opening: float) -> np.ndarray:
        """The moving part, its handle last, as rows of `Obstacles.boxes` [B, 8]."""
        out = self.outward(opening)
        rows = []
        for x, y, z, *half in self._boxes:
            if self.is_door:
                center = self.hinge + x * out + y * np.array([-out[1], out[0]])
            else:
                center = self._to_world(x + opening, y)
            rows.append((*center, z, *half, *out))
        return np.array(rows)

    def without(self, obstacles: Obstacles, opening: float) -> Obstacles:
        """The obstacles less the moving part, which stands at this opening, and what lies in it."""

        # Obstacles round openings to 0.01 (m or rad), so that a part is found by its height and
        # size and by being near.
        def rest(boxes: np.ndarray) -> np.ndarray:
            keep = ~self._carries(boxes[:, :3], opening)
            for row in self.boxes(opening):
                gap = np.abs(boxes - row)
                keep &= ~((gap[:, 2:6] < 1e-6).all(axis=1) & (gap[:, :2] < 0.02).all(axis=1))
            return boxes[keep]

        cylinders = obstacles.cylinders[~self._carries(obstacles.cylinders[:, :3], opening)]
        return Obstacles(rest(obstacles.boxes), cylinders, rest(obstacles.opened))

    def _carries(self, centers: np.ndarray, opening: float) -> np.ndarray:
        """Which things with these centres [N, 3] (m) lie in the drawer and move with it [N] bool."""
        if self.is_door:
            return np.zeros(len(centers), bool)
        parts = np.array(self._boxes)[:-1]
        low = (parts[:, :3] - parts[:, 3:]).min(axis=0)
        high = (parts[:, :3] + parts[:, 3:]).max(axis=0)
        cosine, sine = math.cos(self.frame.yaw), math.sin(self.frame.yaw)
        dx, dy = centers[:, 0] - self.frame.position[0], centers[:, 1] - self.frame.position[1]
        ahead = cosine * dx + sine * dy - opening
        local = np.column_stack([ahead, cosine * dy - sine * dx, centers[:, 2]])
        return ((local > low) & (local < high)).all(axis=1)

    def _handle_box(self) -> tuple[float, ...]:
        return self._boxes[-1]

    @property
    def _boxes(self) -> tuple[tuple[float, ...], ...]:
        return boxes_of_bodies(self.scene)[self.joint]

    def _to_world(self, x: float, y: float) -> np.ndarray:
        cosine, sine = math.cos(self.frame.yaw), math.sin(self.frame.yaw)
        px, py, _ = self.frame.position
        return np.array([px + cosine * x - sine * y, py + sine * x + cosine * y])
