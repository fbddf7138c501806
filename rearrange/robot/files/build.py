"""The bodies of a robot from files in a MuJoCo model: links in our frames with the model's geoms and masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from rearrange.robot.files.dynamics import Inertia
from rearrange.robot.files.looks import Look, add_look
from rearrange.robot.files.shapes import Piece
from rearrange.robot.joint import Joint, Vector
from rearrange.robot.parts import (
    Motor,
    add_base,
    add_link,
    arm_geom,
    base_geom,
    cover,
    suction_geom,
)

CUP_COLOR, CUP_MASS = (0.13, 0.33, 0.62, 1.0), 0.1  # [kg]
BASE_COLOR = (0.3, 0.32, 0.35, 1.0)
FOOT = 0.01  # [m], by which the cup begins in the hand
GROUND = 0.02  # [m], at which our base begins over the floor


@dataclass(frozen=True)
class Link:
    """A link, or what is rigid with the base.

    Attributes:
        pieces: What collides, in its frame.
        look: What is seen.
        inertia: What it weighs, center in its frame; None for the base.
    """

    pieces: tuple[Piece, ...]
    look: Look
    inertia: Inertia | None


@dataclass(frozen=True, eq=False)
class Builder:
    """Adds a robot to a spec; see `RobotSpec.build`.

    Attributes:
        name: Of the robot, before the names of all its bodies.
        base: What is rigid with the base, in the base frame.
        cylinder: Radius and height of a base of ours [m], or None.
        mount: Of the arm, base frame [m].
        joints: Of the arm.
        motors: Of the joints.
        links: Of the arm, in the frames of the joints.
        gripper_offset: Foot of the cup in the last joint's frame [m].
        cup: Its length and radius [m].
    """

    name: str
    base: Link
    cylinder: tuple[float, float] | None
    mount: Vector
    joints: tuple[Joint, ...]
    motors: Sequence[Motor]
    links: Sequence[Link]
    gripper_offset: Vector
    cup: tuple[float, float]

    def __call__(self, spec: mujoco.MjSpec) -> None:
        """Add bodies, joints and actuators."""
        base = add_base(spec, f"{self.name}_base")
        if self.cylinder is not None:
            radius, height = self.cylinder
            half = (height - GROUND) / 2
            place = [0.0, 0.0, GROUND + half]
            base_geom(base, "cylinder", BASE_COLOR, size=[radius, half, 0.0], pos=place)
        _add_geoms(spec, base, self.base, f"{self.name}_base", rigid=True)
        parent = base.add_body(name=f"{self.name}_mount", pos=list(self.mount))
        for joint, motor, link in zip(self.joints, self.motors, self.links, strict=True):
            name = f"{self.name}/{joint.name}"  # which may be called base, mount or gripper
            parent = add_link(spec, parent, name, joint, motor)
            _add_geoms(spec, parent, link, name, rigid=False)
            _weigh(parent, link.inertia)
        self._add_cup(parent)

    def _add_cup(self, last: mujoco.MjsBody) -> None:
        hand = last.add_body(
            name=f"{self.name}_gripper", pos=list(self.gripper_offset), gravcomp=1.0
        )
        length, radius = self.cup
        sideways = [0.5**0.5, 0.0, 0.5**0.5, 0.0]  # cylinder axis z turned onto x
        suction_geom(
            hand,
            "cylinder",
            CUP_COLOR,
            name=f"{self.name}_cup",
            size=[radius, (length + FOOT) / 2, 0.0],
            pos=[(length - FOOT) / 2, 0.0, 0.0],
            quat=sideways,
            mass=CUP_MASS,
        )


def _weigh(body: Any, inertia: Inertia | None) -> None:
    assert inertia is not None
    matrix = inertia.matrix
    body.explicitinertial = True
    body.mass, body.ipos = inertia.mass, inertia.center
    body.fullinertia = [*np.diag(matrix), matrix[0, 1], matrix[0, 2], matrix[1, 2]]


def _add_geoms(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, link: Link, name: str, *, rigid: bool
) -> None:
    add = base_geom if rigid else arm_geom
    for k, piece in enumerate(link.pieces):
        color = link.look.colors[k]
        add(body, piece.kind, color, **fields_of(piece), mass=0.0)
    for piece, color in link.look.solids:
        cover(body, piece.kind, color, **fields_of(piece), mass=0.0)
    add_look(spec, body, link.look, name)


def fields_of(piece: Piece) -> dict[str, Any]:
    """Size and pose of a piece as a geom's fields."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(piece.rotation).ravel())
    return {"size": piece.size, "pos": piece.center, "quat": quaternion}
