"""The Fetch robot as bodies, actuators and suction constraints of a MuJoCo spec.

The base is kinematic, as in HAB: a mocap body that the simulator places. Everything that it carries is
rigid (torso lift and head are locked) except the seven arm joints, which are position-controlled and
gravity-compensated as on the real robot. Lengths and limits: rearrange.robot.kinematics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from rearrange.robot import kinematics
from rearrange.scenes.compile import ARTICULATED_BIT, ROBOT_BIT, ROBOT_COLLIDES_WITH

BASE_RADIUS = 0.3  # [m], also the radius of the navigation disc (habitat-lab: agent radius 0.3)
BASE_BIT = 16  # base, torso and head, on top of ROBOT_BIT: the suction cup asks for it

# Effort limits of the real arm [N m], from the maker's URDF.
EFFORT_LIMITS = (33.82, 131.76, 76.94, 66.18, 29.35, 25.7, 7.36)
POSITION_GAINS = (400.0, 500.0, 300.0, 300.0, 150.0, 150.0, 60.0)  # [N m / rad]
ARMATURE = (0.15, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03)  # [kg m2], reflected rotor inertia
LINK_MASSES = (2.56, 2.66, 2.33, 2.1, 1.66, 1.73, 0.14)  # [kg]
GRIPPER_MASS = 1.5  # [kg]

# What the base can push with, from the same file: two wheels' effort [N m], radius and half track [m].
_WHEEL_EFFORT, _WHEEL_RADIUS, _HALF_TRACK = 8.85, 0.0625, 0.1874
DRIVE_FORCE = 2 * _WHEEL_EFFORT / _WHEEL_RADIUS  # 283 N
TURN_TORQUE = DRIVE_FORCE * _HALF_TRACK  # 53 N m

# Contacts of the robot are softer than those between things: the base is teleported, and a stiff contact
# answers a jump of 2 cm with kilonewtons. (time constant [s], damping ratio)
SOFTNESS = (0.05, 1.0)
HARDNESS = (0.02, 1.0)  # MuJoCo's default, of all other contacts

# Head depth camera (habitat-lab's Fetch): fixed to the base, about 22 degrees down.
CAMERA_POSITION = (0.25, 0.0, 1.2)  # base frame [m]
CAMERA_TARGET = (0.75, 0.0, 1.0)  # base frame [m]
CAMERA_FIELD_OF_VIEW = 90.0  # horizontal [deg]

BASE_BODY = "fetch_base"
GRIPPER_BODY = "fetch_gripper"
SUCTION_GEOM = "fetch_suction"

_WHITE = (0.88, 0.89, 0.9, 1.0)
_DARK = (0.16, 0.17, 0.19, 1.0)
_GREY = (0.45, 0.47, 0.5, 1.0)
_BLUE = (0.13, 0.33, 0.62, 1.0)


def object_weld_name(slot: int) -> str:
    """Name of the weld between the gripper and an object slot."""
    return f"suction_object_{slot:02d}"


def handle_connect_name(joint: str) -> str:
    """Name of the ball constraint between the gripper and the handle of an articulated joint."""
    return f"suction_handle_{joint}"


def add_fetch(
    spec: mujoco.MjSpec, object_bodies: Sequence[str], articulated_bodies: dict[str, str]
) -> None:
    """Add the robot, its actuators and its (inactive) suction constraints to an apartment's spec.

    Args:
        spec: Spec of an apartment, changed in place.
        object_bodies: Body of every object slot, in slot order.
        articulated_bodies: Articulated joint -> body that carries its handle.
    """
    base = spec.worldbody.add_body(name=BASE_BODY, mocap=True)
    _add_base_geoms(base)
    torso_z = kinematics.TORSO_OFFSET[2] + kinematics.TORSO_LIFT
    parent = base.add_body(
        name="fetch_torso", pos=[kinematics.TORSO_OFFSET[0], kinematics.TORSO_OFFSET[1], torso_z]
    )
    _add_torso_geoms(parent)
    for index, (name, (offset, axis)) in enumerate(
        zip(kinematics.JOINT_NAMES, kinematics.CHAIN, strict=True)
    ):
        parent = parent.add_body(name=f"fetch_{name}", pos=list(offset), gravcomp=1.0)
        low, high = kinematics.JOINT_LIMITS[index]
        limited = bool(np.isfinite(low) and np.isfinite(high))
        parent.add_joint(
            name=name,
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=list(axis),
            limited=limited,
            range=[low, high] if limited else [0.0, 0.0],
            armature=ARMATURE[index],
            damping=1.0,
        )
        _add_link_geom(parent, index)
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=POSITION_GAINS[index], dampratio=1.0)
        actuator.forcelimited = True
        actuator.forcerange = [-EFFORT_LIMITS[index], EFFORT_LIMITS[index]]
    _add_gripper(parent)
    for slot, body in enumerate(object_bodies):
        _add_suction(spec, object_weld_name(slot), mujoco.mjtEq.mjEQ_WELD, body)
    for joint, body in articulated_bodies.items():
        _add_suction(spec, handle_connect_name(joint), mujoco.mjtEq.mjEQ_CONNECT, body)


def _arm_geom(body: mujoco.MjsBody, kind: str, color: tuple[float, ...], **fields: Any) -> None:
    """Add a geom of the arm: it meets everything but the robot."""
    _geom(body, kind, color, ROBOT_BIT, ROBOT_COLLIDES_WITH, **fields)


def _base_geom(body: mujoco.MjsBody, kind: str, color: tuple[float, ...], **fields: Any) -> None:
    """Add a geom of the base: it meets objects, doors and the suction cup; walls are the grid's."""
    _geom(body, kind, color, ROBOT_BIT | BASE_BIT, ARTICULATED_BIT, **fields)


def _cover(body: mujoco.MjsBody, kind: str, color: tuple[float, ...], **fields: Any) -> None:
    """Add a geom that is only seen; every one that collides costs time in each physics step."""
    _geom(body, kind, color, 0, 0, **fields)


def _geom(
    body: mujoco.MjsBody, kind: str, color: tuple[float, ...], bits: int, meets: int, **fields: Any
) -> None:
    body.add_geom(
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"),
        rgba=list(color),
        contype=bits,
        conaffinity=meets,
        group=1,
        priority=1,
        solref=SOFTNESS,
        **fields,
    )


def _add_base_geoms(base: mujoco.MjsBody) -> None:
    _cover(base, "cylinder", _DARK, size=[0.28, 0.06, 0], pos=[0, 0, 0.09])
    _base_geom(base, "cylinder", _WHITE, size=[0.27, 0.17, 0], pos=[0, 0, 0.18])
    _cover(base, "cylinder", _DARK, size=[0.24, 0.015, 0], pos=[0, 0, 0.365])


def _add_torso_geoms(torso: mujoco.MjsBody) -> None:
    _base_geom(torso, "box", _WHITE, size=[0.09, 0.14, 0.3], pos=[-0.03, 0, 0.1])
    _cover(torso, "box", _BLUE, size=[0.02, 0.1, 0.22], pos=[0.06, 0, 0.08])
    _cover(torso, "cylinder", _GREY, size=[0.05, 0.06, 0], pos=[0, 0, 0.46])
    # The face stays behind the camera, which would otherwise look into it.
    _cover(torso, "box", _WHITE, size=[0.08, 0.13, 0.06], pos=[0.05, 0, 0.58])
    _cover(torso, "box", _DARK, size=[0.005, 0.09, 0.03], pos=[0.135, 0, 0.585])


def _add_link_geom(body: mujoco.MjsBody, index: int) -> None:
    """A capsule from this joint to the next; the wrist's last link is the gripper's mount."""
    offset = kinematics.CHAIN[index + 1][0] if index + 1 < len(kinematics.CHAIN) else (0.06, 0, 0)
    radius = (0.06, 0.055, 0.05, 0.05, 0.045, 0.045, 0.04)[index]
    color = _WHITE if index % 2 else _BLUE if index == 0 else _GREY
    # The shoulder stays within the base's radius, which the floor's clearance keeps free.
    add = _cover if index == 0 else _arm_geom
    add(
        body,
        "capsule",
        color,
        fromto=[0, 0, 0, *offset],
        size=[radius, 0, 0],
        mass=LINK_MASSES[index],
    )


def _add_gripper(wrist: mujoco.MjsBody) -> None:
    """The gripper's palm and the suction cup, whose front face is the end effector."""
    gripper = wrist.add_body(name=GRIPPER_BODY, pos=list(kinematics.GRIPPER_OFFSET), gravcomp=1.0)
    tip = kinematics.END_EFFECTOR_OFFSET[0]
    sideways = [math.sqrt(0.5), 0, math.sqrt(0.5), 0]  # cylinder axis z turned onto x
    _arm_geom(gripper, "box", _DARK, size=[0.04, 0.06, 0.035], pos=[-0.05, 0, 0], mass=GRIPPER_MASS)
    _geom(
        gripper,
        "cylinder",
        _BLUE,
        ROBOT_BIT,
        ROBOT_COLLIDES_WITH | BASE_BIT,
        name=SUCTION_GEOM,
        size=[0.025, (tip + 0.01) / 2, 0],
        pos=[(tip - 0.01) / 2, 0, 0],
        quat=sideways,
        mass=0.1,
    )


def _add_suction(spec: mujoco.MjSpec, name: str, kind: mujoco.mjtEq, body: str) -> None:
    equality = spec.add_equality(
        name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_BODY, name1=GRIPPER_BODY, name2=body
    )
    equality.active = False
