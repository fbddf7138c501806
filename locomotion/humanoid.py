"""Humanoid: 28 degrees of freedom, of which 21 are joints with motors, as in the paper.

Sizes, limits, torques and springs are those of the humanoid of Tassa et al. (arXiv:1801.00690), which the paper
names; the model is built here, its left side as the mirror of the right one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco

from locomotion.robots import Motor, Robot, add_ball, add_capsule, add_hinge

DENSITY = 1000.0  # [kg/m^3]
SIDES = {"right": 1.0, "left": -1.0}  # factor of y, as of the right side
SOLE = ((0.035, -0.01, 0.0), 0.15)  # centre and radius [m] of what covers a foot
SLACK = {"armature": 0.01, "damping": 0.2, "stiffness": 1.0}
FIRM = {"armature": 0.01, "damping": 5.0, "stiffness": 10.0}
STIFF = {"armature": 0.01, "damping": 5.0, "stiffness": 20.0}
Point = tuple[float, float, float]


def build(spec: mujoco.MjSpec) -> None:
    """Adds the humanoid."""
    torso = spec.worldbody.add_body(name="torso")
    torso.add_freejoint(name="root")
    add_capsule(torso, (0.0, -0.07, 0.0), (0.0, 0.07, 0.0), 0.07, DENSITY)
    add_capsule(torso, (-0.01, -0.06, -0.12), (-0.01, 0.06, -0.12), 0.06, DENSITY)
    add_ball(torso, (0.0, 0.0, 0.19), 0.09, DENSITY)
    waist = torso.add_body(name="waist", pos=(-0.01, 0.0, -0.26))
    at = (0.0, 0.0, 0.065)
    hinge = _hinges(spec, 1.0)
    hinge(waist, "abdomen_z", (0, 0, 1), (-45, 45), Motor(40.0, **STIFF), at)
    hinge(waist, "abdomen_y", (0, 1, 0), (-75, 30), Motor(40.0, **FIRM), at)
    add_capsule(waist, (0.0, -0.06, 0.0), (0.0, 0.06, 0.0), 0.06, DENSITY)
    pelvis = waist.add_body(name="pelvis", pos=(0.0, 0.0, -0.165))
    hinge(pelvis, "abdomen_x", (1, 0, 0), (-35, 35), Motor(40.0, **FIRM), (0.0, 0.0, 0.1))
    add_capsule(pelvis, (-0.02, -0.07, 0.0), (-0.02, 0.07, 0.0), 0.09, DENSITY)
    for side in SIDES:
        _add_leg(spec, pelvis, side)
    for side in SIDES:
        _add_arm(spec, torso, side)


def _add_leg(spec: mujoco.MjSpec, pelvis: Any, side: str) -> None:
    """Adds thigh, shin and foot."""
    sign = SIDES[side]
    hinge = _hinges(spec, sign)
    thigh = pelvis.add_body(name=f"{side}_thigh", pos=(0.0, -0.1 * sign, -0.04))
    hinge(thigh, f"{side}_hip_x", (1, 0, 0), (-25, 5), Motor(40.0, **FIRM))
    hinge(thigh, f"{side}_hip_z", (0, 0, 1), (-60, 35), Motor(40.0, **FIRM))
    hinge(thigh, f"{side}_hip_y", (0, 1, 0), (-110, 20), Motor(120.0, **STIFF))
    add_capsule(thigh, (0.0, 0.0, 0.0), (0.0, 0.01 * sign, -0.34), 0.06, DENSITY)
    shin = thigh.add_body(name=f"{side}_shin", pos=(0.0, 0.01 * sign, -0.403))
    hinge(shin, f"{side}_knee", (0, -1, 0), (-160, 2), Motor(80.0, **SLACK), (0.0, 0.0, 0.02))
    add_capsule(shin, (0.0, 0.0, 0.0), (0.0, 0.0, -0.3), 0.049, DENSITY)
    foot = shin.add_body(name=f"{side}_foot", pos=(0.0, 0.0, -0.39))
    ankle = SLACK | {"stiffness": 6.0}, SLACK | {"stiffness": 3.0}
    limits = (-50, 50)
    hinge(foot, f"{side}_ankle_y", (0, 1, 0), limits, Motor(20.0, **ankle[0]), (0.0, 0.0, 0.08))
    hinge(foot, f"{side}_ankle_x", (1, 0, 0.5), limits, Motor(20.0, **ankle[1]), (0.0, 0.0, 0.04))
    for back, front in ((-0.02, -0.04), (0.0, 0.02)):
        add_capsule(foot, (-0.07, back * sign, 0.0), (0.14, front * sign, 0.0), 0.027, DENSITY)


def _add_arm(spec: mujoco.MjSpec, torso: Any, side: str) -> None:
    """Adds upper arm, lower arm and hand."""
    sign = SIDES[side]
    hinge = _hinges(spec, sign)
    upper = torso.add_body(name=f"{side}_upper_arm", pos=(0.0, -0.17 * sign, 0.06))
    hinge(upper, f"{side}_shoulder_1", (2, 1, 1), (-85, 60), Motor(20.0, **SLACK))
    hinge(upper, f"{side}_shoulder_2", (0, -1, 1), (-85, 60), Motor(20.0, **SLACK))
    add_capsule(upper, (0.0, 0.0, 0.0), (0.16, -0.16 * sign, -0.16), 0.04, DENSITY)
    lower = upper.add_body(name=f"{side}_lower_arm", pos=(0.18, -0.18 * sign, -0.18))
    free = SLACK | {"stiffness": 0.0}
    hinge(lower, f"{side}_elbow", (0, -1, 1), (-90, 50), Motor(40.0, **free))
    add_capsule(lower, (0.01, 0.01 * sign, 0.01), (0.17, 0.17 * sign, 0.17), 0.031, DENSITY)
    add_ball(lower, (0.18, 0.18 * sign, 0.18), 0.04, DENSITY)


def _hinges(spec: mujoco.MjSpec, sign: float) -> Any:
    """Returns what adds hinges of a side: limits in degrees, axes as of the right side.

    In a mirror an axis turns about: the same angle moves both sides alike if x and z change their sign.
    """

    def add(
        body: Any,
        name: str,
        axis: Sequence[float],
        limits: tuple[float, float],
        motor: Motor,
        place: Point = (0.0, 0.0, 0.0),
    ) -> None:
        mirrored = (axis[0] * sign, float(axis[1]), axis[2] * sign)
        bounds = (math.radians(limits[0]), math.radians(limits[1]))
        add_hinge(spec, body, name, mirrored, bounds, motor, place)

    return add


HUMANOID = Robot(
    name="humanoid",
    build=build,
    torso="torso",
    feet=tuple(
        (f"{side}_foot", (SOLE[0][0], SOLE[0][1] * sign, 0.0), SOLE[1])
        for side, sign in SIDES.items()
    ),
    height=0.26 + 0.165 + 0.04 + 0.403 + 0.39 + 0.027,
    pose=(0.0,) * 21,
    lowest=0.8,
    alive=2.0,
)
