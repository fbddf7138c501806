"""Mast: a slim robot with a lift, an arm that telescopes, and a wrist of three joints.

Travels and limits of the joints, heights of lift and mast, masses of lift and arm and the wheels are those
of the Stretch 3 of Hello Robot, from the maker's public URDF (hello-robot/stretch_urdf: SE3, wrist dw3).
Other sizes are near to it. Four things differ. The arm comes out over the front, in the direction of the
drive, not to the side: tasks face what they are about. It is one tube and not five that slide into each
other. A suction cup is in place of the gripper. The camera looks ahead and does not turn.

That file tells neither the wheels' torque nor the inertia of motors and gears, and has 100 N m for each
joint of the wrist. Efforts of wrist and wheels, gains and armatures are ours, and so is the speed of the
slides.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

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
from rearrange.robot.planning import PlanningModel
from rearrange.robot.spec import Base, HeadCamera, Reach, RobotSpec

# At the arm's step of the tasks, 0.0375 rad in 1/30 s, this is 0.34 m/s.
SLIDES = 0.3  # [m], travel of lift and arm while a hinge turns by one radian
TUBE = (0.25, 0.0, 0.0)  # front of the retracted arm in the lift's frame [m]
JOINTS = (
    Joint("lift", (0.0, 0.0, 0.0), "z", 0.0, 1.1, slides=SLIDES),
    Joint("arm", TUBE, "x", 0.0, 0.52, slides=SLIDES),
    Joint("wrist_yaw", (0.03, 0.0, 0.0), "z", -1.75, 4.0),
    Joint("wrist_pitch", (0.0, 0.0, -0.03), "y", -0.56, 1.57),
    Joint("wrist_roll", (0.02, 0.0, 0.0), "x", -3.14, 3.14),
)
MOUNT = (0.0, 0.0, 0.195)  # lift at the bottom, base frame [m]
GRIPPER_OFFSET = (0.05, 0.0, 0.0)  # in the last joint's frame [m]
TIP_OFFSET = 0.08  # suction tip in the gripper's frame [m]

MOTORS = (
    Motor(100.0, 4000.0, 5.0),
    Motor(100.0, 3000.0, 2.0),
    Motor(6.0, 100.0, 0.02),
    Motor(6.0, 100.0, 0.02),
    Motor(3.0, 50.0, 0.01),
)
LIFT_MASS, TUBE_MASS = 1.99, 1.05  # [kg]
WRIST_MASSES = (0.2, 0.12, 0.1)  # [kg], yaw, pitch and roll
HAND_MASS, CUP_MASS = 0.4, 0.1  # [kg]

BASE_RADIUS, BASE_TOP = 0.2, 0.16  # [m], of the shell; a box of 0.33 m by 0.34 m
MAST_PLACE, MAST_HALF, MAST_TOP = (-0.135, -0.09), 0.034, 1.36  # [m], beside the arm
TUBE_RADIUS, TUBE_LENGTH = 0.03, 0.49  # [m]; retracted it ends over the base
WRIST_RADIUS = 0.03  # [m]
_DRIVE_FORCE, _HALF_TRACK = 100.0, 0.17035  # [N], [m]

_SILVER = (0.74, 0.76, 0.79, 1.0)
_DARK = (0.13, 0.14, 0.16, 1.0)
_TEAL = (0.08, 0.45, 0.47, 1.0)
_ALONG = [math.sqrt(0.5), 0, math.sqrt(0.5), 0]  # cylinder axis z turned onto x


def build(spec: mujoco.MjSpec) -> None:
    """Add the robot's bodies and actuators to a spec."""
    base = add_base(spec, "mast_base")
    _add_base_geoms(base)
    link = base.add_body(name="mast_trunk", pos=list(MOUNT))
    links = []
    for joint, motor in zip(JOINTS, MOTORS, strict=True):
        link = add_link(spec, link, f"mast_{joint.name}", joint, motor)
        links.append(link)
    _add_lift_geoms(links[0])
    _add_tube(links[1])
    for link, joint, mass in zip(links[2:], JOINTS[3:], WRIST_MASSES[:2], strict=False):
        _add_wrist_geom(link, joint.offset, mass)
    _add_wrist_geom(links[4], (0.02, 0.0, 0.0), WRIST_MASSES[2])
    _add_gripper(links[4])


def _add_base_geoms(base: mujoco.MjsBody) -> None:
    half = BASE_TOP / 2
    base_geom(
        base, "cylinder", _DARK, size=[BASE_RADIUS, half - 0.015, 0], pos=[0, 0, half + 0.015]
    )
    cover(
        base, "cylinder", _TEAL, size=[BASE_RADIUS - 0.02, 0.006, 0], pos=[0, 0, BASE_TOP + 0.004]
    )
    for side in (-1, 1):
        wheel = [0, side * _HALF_TRACK, 0.0508]
        flat = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
        cover(base, "cylinder", _SILVER, size=[0.0508, 0.012, 0], pos=wheel, quat=flat)
    x, y = MAST_PLACE
    middle, length = (BASE_TOP + MAST_TOP) / 2, (MAST_TOP - BASE_TOP) / 2
    base_geom(base, "box", _SILVER, size=[MAST_HALF, MAST_HALF, length], pos=[x, y, middle])
    # The head stays behind the camera, which would otherwise look into it.
    cover(base, "box", _DARK, size=[0.05, 0.06, 0.035], pos=[x + 0.03, y + 0.02, MAST_TOP + 0.03])
    cover(base, "box", _TEAL, size=[0.012, 0.045, 0.013], pos=[x + 0.09, y + 0.02, MAST_TOP + 0.03])


def _add_lift_geoms(lift: mujoco.MjsBody) -> None:
    """The carriage on the mast and the sleeve, which stay within the base's radius."""
    x, y = MAST_PLACE
    cover(lift, "box", _DARK, size=[0.055, 0.075, 0.06], pos=[x, y + 0.03, 0], mass=LIFT_MASS)
    sleeve = {"size": [0.04, 0.25, 0], "pos": [TUBE[0] - 0.25, 0, 0], "quat": _ALONG}
    cover(lift, "cylinder", _TEAL, **sleeve, mass=0.01)


def _add_tube(arm: mujoco.MjsBody) -> None:
    ends = [-TUBE_LENGTH, 0, 0, JOINTS[2].offset[0], 0, 0]
    arm_geom(arm, "capsule", _SILVER, fromto=ends, size=[TUBE_RADIUS, 0, 0], mass=TUBE_MASS)


def _add_wrist_geom(link: mujoco.MjsBody, end: tuple[float, ...], mass: float) -> None:
    arm_geom(link, "capsule", _DARK, fromto=[0, 0, 0, *end], size=[WRIST_RADIUS, 0, 0], mass=mass)


def _add_gripper(wrist: mujoco.MjsBody) -> None:
    """The hand and the suction cup, whose front face is the end effector."""
    hand = wrist.add_body(name="mast_hand", pos=list(GRIPPER_OFFSET), gravcomp=1.0)
    arm_geom(hand, "box", _DARK, size=[0.02, 0.04, 0.03], pos=[-0.01, 0, 0], mass=HAND_MASS)
    suction_geom(
        hand,
        "cylinder",
        _TEAL,
        name="mast_cup",
        size=[0.025, (TIP_OFFSET - 0.01) / 2, 0],
        pos=[(TIP_OFFSET + 0.01) / 2, 0, 0],
        quat=_ALONG,
        mass=CUP_MASS,
    )


def _spheres() -> tuple[tuple[float, ...], ...]:
    """Around tube, wrist, hand and cup; rows as in PlanningModel."""
    tube = np.arange(-TUBE_LENGTH, JOINTS[2].offset[0] + 0.01, 0.025).tolist()
    gripper = len(JOINTS)
    return (
        *((1, x, 0.0, 0.0, TUBE_RADIUS + 0.003) for x in tube),
        *((2, 0.0, 0.0, z, WRIST_RADIUS + 0.002) for z in (0.0, -0.015)),
        *((3, x, 0.0, 0.0, WRIST_RADIUS + 0.002) for x in (0.0, 0.02)),
        (4, 0.02, 0.0, 0.0, WRIST_RADIUS + 0.002),
        *((gripper, -0.005, y, 0.0, 0.035) for y in (-0.02, 0.02)),
        *((gripper, x, 0.0, 0.0, 0.027) for x in (0.015, 0.035, 0.053)),  # suction cup
    )


RESTING_ARM = (0.935, 0.15, 0.0, 1.45, 0.0)
_MAST_DISC = (*MAST_PLACE, 0.06)

PLANNING = PlanningModel(
    sphere_rows=_spheres(),
    cup_spheres=3,
    cup_radius=0.025,
    first_wary_link=2,  # the tube passes the mast at any height
    first_pushing_link=1,
    body_box=(*MAST_PLACE, 0.76, MAST_HALF, MAST_HALF, 0.6),
    body_cylinder=(0.0, 0.0, BASE_TOP / 2, BASE_RADIUS + 0.005, BASE_TOP / 2 + 0.01),
    layers=((0.0, 0.2, ((0.0, 0.0, BASE_RADIUS + 0.01),)), (0.2, 0.95, (_MAST_DISC,))),
    trunk=(_MAST_DISC,),
    postures=(
        (0.6, 0.3, 0.0, 0.9, 0.0),  # the hand ahead and down
        (0.6, 0.3, 0.0, 0.2, 0.0),  # level
        (0.6, 0.3, 0.8, 0.9, 1.5),  # to the left
        (0.6, 0.3, -0.8, 0.9, -1.5),  # to the right
    ),
    shoulder=(0.28, 0.0, 0.745),
    length=0.9,  # of the lift half its travel, of the arm all; and the hand
)

MAST = RobotSpec(
    name="mast",
    build=build,
    joints=JOINTS,
    mount=MOUNT,
    gripper_offset=GRIPPER_OFFSET,
    tip_offset=TIP_OFFSET,
    resting_arm=RESTING_ARM,
    resting_tip=(0.45, 0.0, 0.95),
    gripper_body="mast_hand",
    suction_geom="mast_cup",
    base=Base(
        radius=0.28,  # of the retracted tube's end, which is farther out than the shell
        drive_force=_DRIVE_FORCE,
        turn_torque=_DRIVE_FORCE * _HALF_TRACK,
        body="mast_base",
    ),
    # The field of view of the real one's D435i across; its head is as high
    camera=HeadCamera(position=(0.0, -0.07, 1.39), target=(0.6, 0.0, 1.0), field_of_view=87.0),
    reach=Reach(ahead=0.95, aside=0.35, standing=0.75, trunk_radius=0.12, arm_radius=0.09),
    planning=PLANNING,
)
