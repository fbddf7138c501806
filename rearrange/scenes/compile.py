"""From an `Apartment` to a MuJoCo spec whose topology is the same for every home of a kind.

Bodies, joints and geoms (their names, types and order) never differ between homes of a kind; only
sizes, poses, colours, groups and collision bits do. Slots that a home does not need are
parked below the floor.

Order of the bodies: world, each piece of furniture that opens with its parts, `object_00`, `object_01`
and so on. Order of the geoms on the world: `floor`, `box_000` ..., `cylinder_000` ....

Collision bits: furniture and the building are only of the type STATIC_BIT and collide with whoever
asks for it, so statics never meet statics or doors. Objects ask for everything. A robot geom
should get `contype=ROBOT_BIT, conaffinity=ROBOT_COLLIDES_WITH`; it then meets all but itself.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import mujoco
import numpy as np

from rearrange.errors import UserError
from rearrange.scenes.apartment import Apartment, ArticulatedPose, Solid
from rearrange.scenes.object_meshes import UNTOUCHED, add_meshes
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import Door, Part, SceneSpec

STATIC_BIT = 1
OBJECT_BIT = 2
ROBOT_BIT = 4
ARTICULATED_BIT = 8
BASE_BIT = (
    16  # a robot's base and what is rigid with it, on top of ROBOT_BIT: cup and fingers ask for it
)
OBJECT_COLLIDES_WITH = STATIC_BIT | OBJECT_BIT | ROBOT_BIT | ARTICULATED_BIT
ROBOT_COLLIDES_WITH = STATIC_BIT | OBJECT_BIT | ARTICULATED_BIT

TIMESTEP = 1.0 / 120.0  # [s]
SLEEP_TOLERANCE = 0.02  # [m/s], velocity below which a resting thing falls asleep
FRICTION = (0.7, 0.005, 0.0001)  # sliding, torsion [m], rolling [m]
# How deep an upright object sinks into what it stands on, contacts being soft [m]: the same for all
# kinds and masses, 5 um more in a drawer. What stands higher touches nothing, and a drawer leaves it behind
REST_DEPTH = 1.68e-4
# Rolling friction of objects: without it a can on its side rolls for ever and nothing falls asleep.
OBJECT_FRICTION = (0.7, 0.005, 0.002)

# Of doors and drawers at their ends: time constant [s], damping ratio. With MuJoCo's ratio of 1 a fridge that
# is pushed shut at 3 rad/s springs open again by 0.09 rad; a seal, or a drawer's damper, takes that up.
SOFT_STOP = (0.02, 2.0)

_BOX = mujoco.mjtGeom.mjGEOM_BOX
_CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
_TYPES = {"box": _BOX, "cylinder": _CYLINDER}
DEFAULT_COLOR = (0.85, 0.85, 0.85, 1.0)
_DEFAULT_COLORS = {"handle": (0.5, 0.5, 0.52, 1.0)}


def build_spec(apartment: Apartment) -> mujoco.MjSpec:
    """The apartment with what opens and all objects, not compiled, without a robot.

    Objects stand parked on the floor at x = -50 - slot, y = -50.
    """
    scene, spec = spec_of_layout(apartment.layout), empty_spec()
    _add_slots(spec, scene)
    for piece in scene.furniture:
        piece.build(spec)
    if scene.looks is not None:
        scene.looks(spec)
    _add_objects(spec, scene)
    write_apartment(spec, apartment)
    return spec


def bare_home(scene: SceneSpec) -> Apartment:
    """A home of a kind with nothing in it and all its furniture in one place."""
    nowhere = ArticulatedPose((0.0, 0.0, 0.0), 0.0)
    frames = {piece.name: nowhere for piece in scene.furniture}
    return Apartment(scene.first_layout, 0, (0.0, 0.0, 0.0, 0.0), {}, (), {}, frames)


def write_apartment(spec: mujoco.MjSpec, apartment: Apartment) -> None:
    """Write another apartment into a spec that was built for one, which costs less than building it anew.

    Raises:
        UserError: The apartment has more solids of a kind than there are slots.
    """
    spec.modelname, scene = apartment.name, spec_of_layout(apartment.layout)
    floor, *slots = spec.worldbody.geoms
    floor.rgba = apartment.colors.get("ground", (0.62, 0.63, 0.62, 1.0))
    boxes, cylinders = slots[: scene.box_count], slots[scene.box_count :]
    for kind, kind_slots in (("box", boxes), ("cylinder", cylinders)):
        solids: list[Solid | None] = [solid for solid in apartment.solids if solid.kind == kind]
        if len(solids) > len(kind_slots):
            raise UserError(
                f"{apartment.name} needs {len(solids)} {kind} slots, but there are {len(kind_slots)}"
            )
        solids += [None] * (len(kind_slots) - len(solids))
        for geom, solid in zip(kind_slots, solids, strict=True):
            _write_slot(geom, kind, solid)
    for piece in scene.furniture:
        pose, body = apartment.frames[piece.name], spec.body(piece.name)
        body.pos, body.quat = pose.position, _quat(pose.yaw)
        for key, names in piece.painted.items():
            default = _DEFAULT_COLORS.get(key, DEFAULT_COLOR)
            color = apartment.colors.get(key.removesuffix("_inside"), default)
            if key.endswith("_inside"):
                color = (color[0] * 0.8, color[1] * 0.8, color[2] * 0.8, 1.0)
            for name in names:
                spec.geom(name).rgba = color


def _write_slot(geom: Any, kind: str, solid: Solid | None) -> None:
    """Write a solid into a geom on the world, or park the geom below the floor."""
    if solid is None:
        geom.pos, geom.quat = (0.0, 0.0, -1.0), _quat(0.0)
        geom.size = (0.001, 0.001, 0.001 if kind == "box" else 0.0)
        geom.rgba, geom.group, geom.contype = (0.0, 0.0, 0.0, 0.0), 0, 0
        return
    geom.pos, geom.quat, geom.size = solid.position, _quat(solid.yaw), solid.size
    geom.rgba, geom.group = solid.color, solid.group
    geom.contype = STATIC_BIT if solid.collides else 0


def empty_spec() -> mujoco.MjSpec:
    """Nothing yet, with the solver's options."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False  # joint ranges are in radians
    option = spec.option
    option.timestep = TIMESTEP
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC  # as fast here as pyramids, and it settles sooner
    option.impratio = 3.0
    option.iterations = 20
    option.ls_iterations = 20
    option.gravity = (0.0, 0.0, -9.81)
    option.sleep_tolerance = SLEEP_TOLERANCE
    option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    return spec


def _quat(yaw: float) -> tuple[float, float, float, float]:
    return (cos(yaw / 2), 0.0, 0.0, sin(yaw / 2))


def _add_slots(spec: mujoco.MjSpec, scene: SceneSpec) -> None:
    """The floor, and slots for all that stands on it; `write_apartment` fills them."""
    world = spec.worldbody
    world.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=(0.0, 0.0, 1.0),
        friction=FRICTION,
        contype=STATIC_BIT,
        conaffinity=0,
    )
    for kind, count in (("box", scene.box_count), ("cylinder", scene.cylinder_count)):
        for index in range(count):
            world.add_geom(
                name=f"{kind}_{index:03d}", type=_TYPES[kind], friction=FRICTION, conaffinity=0
            )


def add_box(
    body: Any,
    name: str,
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    color: tuple[float, ...],
    bit: int,
    density: float = 500.0,
) -> None:
    """Add a box to a body of furniture.

    Args:
        body: Of the furniture or of a part.
        name: Of the geom.
        x: Where it begins and ends in the body's frame [m].
        y: Likewise.
        z: Likewise.
        color: RGBA; `Furniture.painted` overrides it.
        bit: STATIC_BIT for what stands still, ARTICULATED_BIT for what moves, 0 for what nothing can touch.
        density: [kg/m3].
    """
    low, high = np.array([x[0], y[0], z[0]]), np.array([x[1], y[1], z[1]])
    body.add_geom(
        name=name,
        type=_BOX,
        pos=(low + high) / 2,
        size=(high - low) / 2,
        rgba=color,
        friction=FRICTION,
        contype=bit,
        conaffinity=0,
        density=density,
    )


def add_part(body: Any, part: Part, damping: float, frictionloss: float, armature: float) -> Any:
    """Add the body and the joint of a part to its furniture; its boxes are added to what is returned.

    Args:
        body: Of the furniture.
        part: Origin of its body is the hinge of a door, and that of the furniture for a drawer.
        damping: [N m s/rad or N s/m].
        frictionloss: [N m or N].
        armature: [kg m2 or kg].
    """
    place, axis = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    if isinstance(part, Door):
        place, axis = (*part.hinge, 0.0), (0.0, 0.0, part.sense)
    moving = body.add_body(name=part.name, pos=place)
    moving.add_joint(
        name=part.name,
        type=mujoco.mjtJoint.mjJNT_HINGE if part.turns else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=axis,
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=part.range,
        damping=damping,
        frictionloss=frictionloss,
        armature=armature,
        solref_limit=SOFT_STOP,
    )
    return moving


def _add_objects(spec: mujoco.MjSpec, scene: SceneSpec) -> None:
    contact = {"friction": OBJECT_FRICTION, "condim": 6}
    contact |= {"contype": OBJECT_BIT, "conaffinity": OBJECT_COLLIDES_WITH}
    for slot, (kind, name) in enumerate(zip(scene.objects, scene.object_bodies, strict=True)):
        body = spec.worldbody.add_body(name=name, pos=scene.parked_position(slot))
        body.add_freejoint(name=name)
        if kind.meshes:
            add_meshes(spec, body, kind, contact)
            continue
        volumes = [_volume(part.kind, part.size) if part.collides else 0.0 for part in kind.parts]
        for index, (part, volume) in enumerate(zip(kind.parts, volumes, strict=True)):
            body.add_geom(
                name=name + (f"_{index}" if index else ""),
                type=_TYPES[part.kind],
                pos=(0.0, 0.0, part.height),
                size=part.size,
                rgba=part.color,
                mass=kind.mass * volume / sum(volumes),
                **(contact if part.collides else contact | UNTOUCHED),
            )


def _volume(kind: str, size: tuple[float, float, float]) -> float:
    if kind == "box":
        return 8 * size[0] * size[1] * size[2]
    return 2 * np.pi * size[0] ** 2 * size[1]
