"""What builders of robots make them of, and the suction cup's constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from rearrange.errors import UserError
from rearrange.robot.joint import AXES, Joint
from rearrange.robot.spec import RobotSpec
from rearrange.scenes.compile import ARTICULATED_BIT, BASE_BIT, ROBOT_BIT, ROBOT_COLLIDES_WITH

# Contacts of a robot are softer than those between things: the base is teleported, and a stiff contact
# answers a jump of 2 cm with kilonewtons. (time constant [s], damping ratio)
SOFTNESS = (0.05, 1.0)

Color = tuple[float, ...]


@dataclass(frozen=True)
class Motor:
    """What drives a joint.

    Attributes:
        effort: Limit of its torque [N m], of a slide of its force [N].
        gain: Of its position control [N m / rad], of a slide [N / m].
        armature: Reflected inertia of its rotor [kg m2], of a slide [kg].
    """

    effort: float
    gain: float
    armature: float


def object_weld_name(slot: int) -> str:
    """Name of the weld between the gripper and an object slot."""
    return f"suction_object_{slot:02d}"


def handle_connect_name(joint: str) -> str:
    """Name of the ball constraint between the gripper and the handle of an articulated joint."""
    return f"suction_handle_{joint}"


def add_robot(
    spec: mujoco.MjSpec,
    robot: RobotSpec,
    object_bodies: Sequence[str],
    articulated_bodies: Mapping[str, str],
) -> None:
    """Add a robot and, if it has a cup, its (inactive) suction constraints to an apartment's spec.

    Args:
        spec: Spec of an apartment, changed in place.
        robot: The robot.
        object_bodies: Body of every object slot, in slot order.
        articulated_bodies: Articulated joint -> body that carries its handle.

    Raises:
        UserError: Its builder has not added what its spec names, or adds what is there already.
    """
    try:
        robot.build(spec)
    except ValueError as error:
        if "repeated name" not in str(error):
            raise
        told = str(error).removeprefix("Error: ").strip()
        raise UserError(
            f"robot '{robot.name}': {told}: a part of the home is called so, too: rename one"
        ) from None
    _check(spec, robot)
    if robot.fingers is not None:
        return
    for slot, body in enumerate(object_bodies):
        _add_suction(spec, robot, object_weld_name(slot), mujoco.mjtEq.mjEQ_WELD, body)
    for joint, body in articulated_bodies.items():
        _add_suction(spec, robot, handle_connect_name(joint), mujoco.mjtEq.mjEQ_CONNECT, body)


def _check(spec: mujoco.MjSpec, robot: RobotSpec) -> None:
    for kind, name in (
        ("body", robot.base.body),
        ("body", robot.gripper_body),
        *(("geom", name) for name in robot.takers),
        *(("joint", joint) for joint in robot.joint_names),
    ):
        if getattr(spec, kind)(name) is None:
            raise UserError(f"robot '{robot.name}': its builder adds no {kind} '{name}'")
    driven = [actuator.target for actuator in spec.actuators]
    joints = [*robot.joint_names, *(robot.fingers.joints if robot.fingers else ())]
    if driven != joints:
        raise UserError(
            f"robot '{robot.name}': its builder must drive {joints}, in this order, "
            f"and drives {driven}"
        )


def add_base(spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
    """Add the body that the simulator moves over the floor."""
    return spec.worldbody.add_body(name=name, mocap=True)


def add_link(
    spec: mujoco.MjSpec, parent: mujoco.MjsBody, name: str, joint: Joint, motor: Motor
) -> mujoco.MjsBody:
    """Add a body that hangs on a joint, driven to a position and gravity-compensated."""
    body = parent.add_body(name=name, pos=list(joint.offset), gravcomp=1.0)
    limited = bool(np.isfinite(joint.low) and np.isfinite(joint.high))
    body.add_joint(
        name=joint.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE if joint.slides else mujoco.mjtJoint.mjJNT_HINGE,
        axis=list(AXES[joint.axis]),
        limited=limited,
        range=[joint.low, joint.high] if limited else [0.0, 0.0],
        armature=motor.armature,
        damping=1.0,
    )
    actuator = spec.add_actuator(
        name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT
    )
    actuator.set_to_position(kp=motor.gain, dampratio=1.0)
    actuator.forcelimited = True
    actuator.forcerange = [-motor.effort, motor.effort]
    return body


def arm_geom(body: mujoco.MjsBody, kind: str, color: Color, **fields: Any) -> None:
    """Add a geom of the arm: it meets everything but the robot."""
    _geom(body, kind, color, ROBOT_BIT, ROBOT_COLLIDES_WITH, **fields)


def base_geom(body: mujoco.MjsBody, kind: str, color: Color, **fields: Any) -> None:
    """Add a geom of the base: it meets objects, doors and the suction cup; walls are the grid's."""
    _geom(body, kind, color, ROBOT_BIT | BASE_BIT, ARTICULATED_BIT, **fields)


def suction_geom(body: mujoco.MjsBody, kind: str, color: Color, **fields: Any) -> None:
    """Add the suction cup: it meets what the arm meets, and the base."""
    _geom(body, kind, color, ROBOT_BIT, ROBOT_COLLIDES_WITH | BASE_BIT, **fields)


def cover(body: mujoco.MjsBody, kind: str, color: Color, **fields: Any) -> None:
    """Add a geom that is only seen; every one that collides costs time in each physics step."""
    _geom(body, kind, color, 0, 0, **fields)


def _geom(
    body: mujoco.MjsBody, kind: str, color: Color, bits: int, meets: int, **fields: Any
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


def _add_suction(
    spec: mujoco.MjSpec, robot: RobotSpec, name: str, kind: mujoco.mjtEq, body: str
) -> None:
    equality = spec.add_equality(
        name=name,
        type=kind,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1=robot.gripper_body,
        name2=body,
    )
    equality.active = False
