"""Fetch with its own gripper in the place of the suction cup: two fingers that hold by friction.

Mass, travel and speed of the fingers: the robot maker's public URDF (ZebraDevs/fetch_ros), whose gripper
frame lies between the fingers. It allows them 60 N; ours press with half of it. Size of the pads and inertia
of the motor are ours.
"""

from __future__ import annotations

import dataclasses

import mujoco

from rearrange.robot.fetch import FETCH, GRIPPER_MASS, JOINTS, LINK_RADII, PLANNING, add_arm
from rearrange.robot.fingers import Fingers, add_fingers
from rearrange.robot.parts import arm_geom
from rearrange.robot.planning import link_spheres

_DARK, _GREY = (0.16, 0.17, 0.19, 1.0), (0.45, 0.47, 0.5, 1.0)
_PALM = (0.045, 0.06, 0.035)  # half sizes [m]

FINGERS = Fingers(
    joints=("left_finger", "right_finger"),
    pads=("fetch_left_pad", "fetch_right_pad"),
    travel=0.05,
    half=(0.0325, 0.007, 0.0135),
    center=-0.0025,
    palm=-0.035,
    force=30.0,
    speed=0.05,
    mass=0.0798,
    armature=5.0,
)


def build(spec: mujoco.MjSpec) -> None:
    """Add the robot's bodies and actuators to a spec."""
    gripper = add_arm(spec)
    at = [FINGERS.palm - _PALM[0], 0.0, 0.0]
    arm_geom(gripper, "box", _DARK, size=list(_PALM), pos=at, mass=GRIPPER_MASS)
    add_fingers(spec, gripper, FINGERS, _GREY)


_OPEN = FINGERS.travel + FINGERS.half[1]  # y of an open finger's middle
FETCH_FINGERS = dataclasses.replace(
    FETCH,
    name="fetch_fingers",
    build=build,
    tip_offset=0.0,  # between the pads
    suction_geom="",
    fingers=FINGERS,
    # Near Fetch's, and the hand points straight down
    resting_arm=(-0.7, -0.814, 1.825, 1.315, -0.789, 1.93, 0.0),
    planning=dataclasses.replace(
        PLANNING,
        sphere_rows=(
            *link_spheres(JOINTS, LINK_RADII, (0.06, 0.0, 0.0)),
            *((7, x, y, 0.0, 0.042) for x in (-0.06, -0.1) for y in (-0.028, 0.028)),  # palm
            *((7, x, y, 0.0, 0.0155) for x in (-0.02, 0.0, 0.0145) for y in (-_OPEN, _OPEN)),
        ),
        cup_spheres=6,
        cup_radius=_OPEN + FINGERS.half[1],
        length=0.98,
    ),
)
