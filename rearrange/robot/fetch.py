"""The Fetch robot: its numbers, and its bodies in a MuJoCo model.

The base is kinematic, as in HAB: a mocap body that the simulator places. Everything that it carries is
rigid (torso lift and head are locked) except the seven arm joints, which are position-controlled and
gravity-compensated as on the real robot. Offsets and limits: the robot maker's public URDF
(ZebraDevs/fetch_ros).
"""

from __future__ import annotations

import math

import mujoco

from rearrange.robot.joint import Joint
from rearrange.robot.parts import (
    Motor,
    add_base,
    add_link,
    arm_geom,
    base_geom,
    cover,
    suction_geom,
)
from rearrange.robot.planning import PlanningModel, link_spheres
from rearrange.robot.spec import Base, HeadCamera, Reach, RobotSpec

JOINTS = (
    Joint("shoulder_pan", (0.119525, 0.0, 0.34858), "z", -1.6056, 1.6056),
    Joint("shoulder_lift", (0.117, 0.0, 0.06), "y", -1.221, 1.518),
    Joint("upperarm_roll", (0.219, 0.0, 0.0), "x"),
    Joint("elbow_flex", (0.133, 0.0, 0.0), "y", -2.251, 2.251),
    Joint("forearm_roll", (0.197, 0.0, 0.0), "x"),
    Joint("wrist_flex", (0.1245, 0.0, 0.0), "y", -2.16, 2.16),
    Joint("wrist_roll", (0.1385, 0.0, 0.0), "x"),
)
TORSO_OFFSET = (-0.086875, 0.0, 0.37743)  # of the torso at zero lift, base frame [m]
TORSO_LIFT = 0.15  # [m]
MOUNT = (TORSO_OFFSET[0], TORSO_OFFSET[1], TORSO_OFFSET[2] + TORSO_LIFT)
GRIPPER_OFFSET = (0.16645, 0.0, 0.0)  # gripper link in the last joint's frame [m]
TIP_OFFSET = 0.08  # suction tip in the gripper's frame [m]

# Effort limits of the real arm [N m], from the maker's URDF.
EFFORT_LIMITS = (33.82, 131.76, 76.94, 66.18, 29.35, 25.7, 7.36)
POSITION_GAINS = (400.0, 500.0, 300.0, 300.0, 150.0, 150.0, 60.0)  # [N m / rad]
ARMATURE = (0.15, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03)  # [kg m2], reflected rotor inertia
LINK_MASSES = (2.56, 2.66, 2.33, 2.1, 1.66, 1.73, 0.14)  # [kg]
LINK_RADII = (0.06, 0.055, 0.05, 0.05, 0.045, 0.045, 0.04)  # [m]
GRIPPER_MASS = 1.5  # [kg]

# What the base can push with, from the same file: two wheels' effort [N m], radius and half track [m].
_WHEEL_EFFORT, _WHEEL_RADIUS, _HALF_TRACK = 8.85, 0.0625, 0.1874
_DRIVE_FORCE = 2 * _WHEEL_EFFORT / _WHEEL_RADIUS  # 283 N

_WHITE = (0.88, 0.89, 0.9, 1.0)
_DARK = (0.16, 0.17, 0.19, 1.0)
_GREY = (0.45, 0.47, 0.5, 1.0)
_BLUE = (0.13, 0.33, 0.62, 1.0)


def build(spec: mujoco.MjSpec) -> None:
    """Add the robot's bodies and actuators to a spec."""
    _add_palm_and_cup(add_arm(spec))


def add_arm(spec: mujoco.MjSpec) -> mujoco.MjsBody:
    """Add all but the hand; returns the gripper's body, which is empty."""
    base = add_base(spec, "fetch_base")
    _add_base_geoms(base)
    parent = base.add_body(name="fetch_torso", pos=list(MOUNT))
    _add_torso_geoms(parent)
    motors = map(Motor, EFFORT_LIMITS, POSITION_GAINS, ARMATURE)
    for index, (joint, motor) in enumerate(zip(JOINTS, motors, strict=True)):
        parent = add_link(spec, parent, f"fetch_{joint.name}", joint, motor)
        _add_link_geom(parent, index)
    return parent.add_body(name="fetch_gripper", pos=list(GRIPPER_OFFSET), gravcomp=1.0)


def _add_base_geoms(base: mujoco.MjsBody) -> None:
    cover(base, "cylinder", _DARK, size=[0.28, 0.06, 0], pos=[0, 0, 0.09])
    base_geom(base, "cylinder", _WHITE, size=[0.27, 0.17, 0], pos=[0, 0, 0.18])
    cover(base, "cylinder", _DARK, size=[0.24, 0.015, 0], pos=[0, 0, 0.365])


def _add_torso_geoms(torso: mujoco.MjsBody) -> None:
    base_geom(torso, "box", _WHITE, size=[0.09, 0.14, 0.3], pos=[-0.03, 0, 0.1])
    cover(torso, "box", _BLUE, size=[0.02, 0.1, 0.22], pos=[0.06, 0, 0.08])
    cover(torso, "cylinder", _GREY, size=[0.05, 0.06, 0], pos=[0, 0, 0.46])
    # The face stays behind the camera, which would otherwise look into it.
    cover(torso, "box", _WHITE, size=[0.08, 0.13, 0.06], pos=[0.05, 0, 0.58])
    cover(torso, "box", _DARK, size=[0.005, 0.09, 0.03], pos=[0.135, 0, 0.585])


def _add_link_geom(body: mujoco.MjsBody, index: int) -> None:
    """A capsule from this joint to the next; the wrist's last link is the gripper's mount."""
    offset = JOINTS[index + 1].offset if index + 1 < len(JOINTS) else (0.06, 0, 0)
    color = _WHITE if index % 2 else _BLUE if index == 0 else _GREY
    # The shoulder stays within the base's radius, which the floor's clearance keeps free.
    add = cover if index == 0 else arm_geom
    add(
        body,
        "capsule",
        color,
        fromto=[0, 0, 0, *offset],
        size=[LINK_RADII[index], 0, 0],
        mass=LINK_MASSES[index],
    )


def _add_palm_and_cup(gripper: mujoco.MjsBody) -> None:
    """The gripper's palm and the suction cup, whose front face is the end effector."""
    sideways = [math.sqrt(0.5), 0, math.sqrt(0.5), 0]  # cylinder axis z turned onto x
    arm_geom(gripper, "box", _DARK, size=[0.04, 0.06, 0.035], pos=[-0.05, 0, 0], mass=GRIPPER_MASS)
    suction_geom(
        gripper,
        "cylinder",
        _BLUE,
        name="fetch_suction",
        size=[0.025, (TIP_OFFSET + 0.01) / 2, 0],
        pos=[(TIP_OFFSET - 0.01) / 2, 0, 0],
        quat=sideways,
        mass=0.1,
    )


# Brings the tip to `resting_tip`, pointing down, with room to every joint limit. habitat-lab's own
# angles (-0.45, -1.08, 0.1, 0.935, -0.001, 1.573, 0.005) leave the tip 0.29 m from it on this chain.
RESTING_ARM = (-0.75, -0.96, 1.93, 1.2, -0.79, 1.98, 0.0)

PLANNING = PlanningModel(
    sphere_rows=(
        *link_spheres(JOINTS, LINK_RADII, (0.06, 0.0, 0.0)),
        *((7, x, y, 0.0, 0.042) for x in (-0.03, -0.07) for y in (-0.028, 0.028)),  # palm
        *((7, x, 0.0, 0.0, 0.027) for x in (0.005, 0.03, 0.052)),  # suction cup
    ),
    cup_spheres=3,
    cup_radius=0.025,
    first_wary_link=4,
    first_pushing_link=3,  # from the elbow on
    body_box=(-0.10, 0.0, 0.75, 0.10, 0.15, 0.45),
    body_cylinder=(0.0, 0.0, 0.19, 0.285, 0.20),
    layers=(
        (0.0, 0.37, ((0.0, 0.0, 0.28),)),
        (0.37, 0.95, ((-0.117, 0.06, 0.12), (-0.117, -0.06, 0.12))),
    ),
    trunk=((-0.117, 0.05, 0.12), (-0.117, -0.05, 0.12)),
    postures=(
        (0.0, -0.5, 0.0, 1.3, 0.0, 0.77, 0.0),  # elbow up
        (0.75, -0.96, -1.93, 1.2, 0.79, 1.98, 0.0),  # elbow out to the right
    ),
    shoulder=(0.15, 0.0, 0.936),
    length=1.06,
)

FETCH = RobotSpec(
    name="fetch",
    build=build,
    joints=JOINTS,
    mount=MOUNT,
    gripper_offset=GRIPPER_OFFSET,
    tip_offset=TIP_OFFSET,
    resting_arm=RESTING_ARM,
    resting_tip=(0.5, 0.0, 1.0),
    gripper_body="fetch_gripper",
    suction_geom="fetch_suction",
    base=Base(
        radius=0.3,  # habitat-lab: agent radius 0.3
        drive_force=_DRIVE_FORCE,
        turn_torque=_DRIVE_FORCE * _HALF_TRACK,  # 53 N m
        body="fetch_base",
    ),
    # habitat-lab's Fetch: fixed to the base, about 22 degrees down
    camera=HeadCamera(position=(0.25, 0.0, 1.2), target=(0.75, 0.0, 1.0), field_of_view=90.0),
    # Ahead and aside: habitat-lab. Standing: in chains Pick failed in 4 % of 1,035 episodes at most half
    # a metre from a place so near on the thing's side of walls, and in a third of 71 from farther away
    reach=Reach(ahead=1.2, aside=0.7, standing=0.85, trunk_radius=0.2, arm_radius=0.13),
    planning=PLANNING,
)
