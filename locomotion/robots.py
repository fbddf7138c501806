"""A robot that runs: its model for MuJoCo, and what tasks have to know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import mujoco
import numpy as np

GRAVITY = 9.8  # [m/s^2], as all here that is marked (paper): Liang et al. 2018, section 3.1
TIMESTEP = 1.0 / 120.0  # [s] (paper)
FRICTION = (1.0, 0.005, 0.0001)  # sliding (paper), torsional, rolling
FLOOR, BODY = 1, 2  # bits of collision


@dataclass(frozen=True)
class Motor:
    """A motor, and the joint that it turns.

    Attributes:
        torque: Largest [N m].
        armature: Inertia of the motor, as the joint feels it [kg m^2].
        damping: [N m s/rad].
        stiffness: Of a spring towards the angle 0 [N m/rad].
    """

    torque: float
    armature: float
    damping: float
    stiffness: float = 0.0


@dataclass(frozen=True)
class Robot:
    """A robot.

    Attributes:
        name: Of it.
        build: Adds its bodies to a spec's world, their motors to the spec.
        torso: The body that is judged, which has the free joint.
        feet: Bodies, and centres [m] and radii [m] of the spheres in them in which contact is felt.
        height: Of the torso's centre at the start [m].
        pose: Angles of the joints at the start [rad], in their order.
        lowest: Height of the torso [m] below which it has fallen.
        alive: R_alive of the paper's equation 1.
    """

    name: str
    build: Callable[[mujoco.MjSpec], None]
    torso: str
    feet: tuple[tuple[str, tuple[float, float, float], float], ...]
    height: float
    pose: tuple[float, ...]
    lowest: float
    alive: float


@dataclass(frozen=True)
class Body:
    """A compiled robot, in the numbers that physics and tasks use.

    Attributes:
        robot: The robot.
        model: MuJoCo's model: the robot on a floor, and a touch sensor in each foot.
        torso: Index of the torso among the bodies.
        torques: Largest torque of each motor [N m].
        ranges: Limits of the joints [rad]: [joints, 2].
        contacts: Most contacts that there can be at once.
    """

    robot: Robot
    model: Any
    torso: int
    torques: np.ndarray
    ranges: np.ndarray
    contacts: int


class Scenery(Protocol):
    """Solid things on the floor beside a robot. One that can be hashed, since models are kept by it."""

    @property
    def met(self) -> int:
        """Most things, the floor among them, that a geom of the robot touches at once."""
        ...

    def add(self, spec: mujoco.MjSpec) -> None:
        """Adds them, as mocap bodies: `Physics.step` says where they are."""
        ...


@lru_cache
def compile_robot(robot: Robot, scenery: Scenery | None = None) -> Body:
    """Compiles a robot, and what stands beside it; the same object for the same two."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = TIMESTEP
    spec.option.gravity = (0.0, 0.0, -GRAVITY)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # As in the paper, friction is the same in all directions: a pyramid's edges depend on how contacts are
    # turned, which is not the same in MuJoCo and in mujoco-warp
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=(0.0, 0.0, 1.0),
        friction=FRICTION,
        contype=FLOOR,
        conaffinity=BODY,
    )
    robot.build(spec)
    for name, centre, radius in robot.feet:
        site = f"{name}_sole"
        spec.body(name).add_site(name=site, pos=centre, size=(radius, radius, radius))
        spec.add_sensor(
            name=site,
            type=mujoco.mjtSensor.mjSENS_TOUCH,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=site,
        )
    if scenery is not None:
        scenery.add(spec)
    model = spec.compile()
    hinges = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    assert model.nu == hinges.sum()  # each joint has its motor
    return Body(
        robot,
        model,
        model.body(robot.torso).id,
        model.actuator_gear[:, 0].copy(),
        model.jnt_range[hinges].copy(),
        _most_contacts(model) * (1 if scenery is None else scenery.met),
    )


def add_capsule(
    body: Any, begin: Sequence[float], end: Sequence[float], radius: float, density: float
) -> None:
    """Adds a capsule to a body; it meets the floor, and nothing else.

    Args:
        body: Of a MjSpec.
        begin: Centre of one end, in the body's frame [m].
        end: Centre of the other.
        radius: Of it [m].
        density: [kg/m^3].
    """
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=(*begin, *end),
        size=(radius, 0.0, 0.0),
        **_material(density),
    )


def add_ball(body: Any, centre: Sequence[float], radius: float, density: float) -> None:
    """Adds a sphere to a body, likewise."""
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        pos=tuple(centre),
        size=(radius, 0.0, 0.0),
        **_material(density),
    )


def add_hinge(
    spec: Any,
    body: Any,
    name: str,
    axis: Sequence[float],
    limits: tuple[float, float],
    motor: Motor,
    place: Sequence[float] = (0.0, 0.0, 0.0),
) -> None:
    """Adds a hinge and its motor, which actions in [-1, 1] drive.

    Args:
        spec: Of the robot.
        body: That it turns.
        name: Of the hinge and the motor.
        axis: In the body's frame.
        limits: Least and largest angle [rad].
        motor: Its numbers.
        place: Of the hinge, in the body's frame [m].
    """
    body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=tuple(axis),
        pos=tuple(place),
        range=limits,
        limited=True,
        armature=motor.armature,
        damping=motor.damping,
        stiffness=motor.stiffness,
    )
    actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.gear[0] = motor.torque
    actuator.ctrlrange = (-1.0, 1.0)
    actuator.ctrllimited = True


def _material(density: float) -> dict[str, Any]:
    bits = {"contype": BODY, "conaffinity": FLOOR}
    return {"density": density, "friction": FRICTION, "condim": 3, **bits}


def _most_contacts(model: Any) -> int:
    """Contacts of all of a robot's geoms with the floor: a capsule lies on it with both ends."""
    kinds = model.geom_type[model.geom_contype == BODY].tolist()
    return sum(
        {mujoco.mjtGeom.mjGEOM_CAPSULE: 2, mujoco.mjtGeom.mjGEOM_SPHERE: 1}.get(kind, 4)
        for kind in kinds
    )
