"""Ant: a torso on four legs, each with a hip and an ankle.

Sizes, density, torques and limits are those of the ant that came with Schulman et al. (arXiv:1506.02438) and
that Gymnasium, Roboschool and others share; the model is built here.
"""

from __future__ import annotations

import math
from typing import Any

import mujoco

from locomotion.robots import Motor, Robot, add_ball, add_capsule, add_hinge

TORSO, LIMB = 0.25, 0.08  # radii [m]
STEP = 0.2  # [m] in x and in y of the torso's link and of the upper leg; twice that of the lower
DENSITY = 5.0  # [kg/m^3]
MOTOR = Motor(torque=150.0, armature=1.0, damping=1.0)
HIP = (math.radians(-30), math.radians(30))
ANKLE = (math.radians(30), math.radians(70))
LEGS = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # signs of x and y: front left, back left, ...
BENT = 0.9  # angle of the ankles at the start [rad]


def build(spec: mujoco.MjSpec) -> None:
    """Adds the ant."""
    torso = spec.worldbody.add_body(name="torso")
    torso.add_freejoint(name="root")
    add_ball(torso, (0.0, 0.0, 0.0), TORSO, DENSITY)
    for number, (x, y) in enumerate(LEGS):
        _add_leg(spec, torso, number, x, y)


def _add_leg(spec: mujoco.MjSpec, torso: Any, number: int, x: int, y: int) -> None:
    """Adds a leg that points to (x, y); a positive angle of its ankle bends the foot down."""
    corner = (STEP * x, STEP * y, 0.0)
    add_capsule(torso, (0.0, 0.0, 0.0), corner, LIMB, DENSITY)
    upper = torso.add_body(name=f"leg_{number}", pos=corner)
    add_hinge(spec, upper, f"hip_{number}", (0.0, 0.0, 1.0), HIP, MOTOR)
    add_capsule(upper, (0.0, 0.0, 0.0), corner, LIMB, DENSITY)
    lower = upper.add_body(name=f"foot_{number}", pos=corner)
    # Turning about (-y, x, 0) moves what lies along (x, y, 0) down
    add_hinge(spec, lower, f"ankle_{number}", (-y, x, 0.0), ANKLE, MOTOR)
    add_capsule(lower, (0.0, 0.0, 0.0), (2 * STEP * x, 2 * STEP * y, 0.0), LIMB, DENSITY)


ANT = Robot(
    name="ant",
    build=build,
    torso="torso",
    feet=tuple(
        (f"foot_{number}", (2 * STEP * x, 2 * STEP * y, 0.0), 1.25 * LIMB)
        for number, (x, y) in enumerate(LEGS)
    ),
    height=LIMB + 2 * math.sqrt(2) * STEP * math.sin(BENT),
    pose=(0.0, BENT) * len(LEGS),
    lowest=0.26,
    alive=0.5,
)
