"""From an `Apartment` to a MuJoCo spec whose topology is the same for every apartment.

Bodies, joints and geoms (their names, types and order) never differ between apartments; only
sizes, poses, colours, groups and collision bits do. Slots that an apartment does not need are
parked below the floor.

Order of the bodies: world, `fridge`, `fridge_door`, `cabinet`, four drawers, `object_00` to
`object_29`. Order of the geoms on the world: `floor`, `box_000` ..., `cylinder_000` ....

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
from rearrange.scenes.apartment import Apartment, Solid
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS

STATIC_BIT = 1
OBJECT_BIT = 2
ROBOT_BIT = 4
ARTICULATED_BIT = 8
OBJECT_COLLIDES_WITH = STATIC_BIT | OBJECT_BIT | ROBOT_BIT | ARTICULATED_BIT
ROBOT_COLLIDES_WITH = STATIC_BIT | OBJECT_BIT | ARTICULATED_BIT

BOX_SLOT_COUNT = 160  # static boxes on the world body
CYLINDER_SLOT_COUNT = 68  # static cylinders on the world body
OBJECT_BODIES = tuple(f"object_{slot:02d}" for slot in range(len(SLOT_KINDS)))

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

# Fridge, in its frame: origin in the centre of its footprint, +x out of its front [m].
FRIDGE_SIZE = (0.68, 0.70, 1.76)
FRIDGE_SHELF_HEIGHT = 0.95
FRIDGE_SHELF_RECT = (-0.08, 0.20, -0.25, 0.25)  # usable part: x_min, x_max, y_min, y_max
FRIDGE_SHELF_CLEARANCE = 0.38
FRIDGE_HINGE = (0.31, 0.345)  # x, y of the hinge axis
FRIDGE_DOOR_RANGE = (0.0, 2.356)  # [rad]

# Cabinet, in its frame, likewise [m].
CABINET_SIZE = (0.60, 0.96, 0.90)
DRAWER_RANGE = (0.0, 0.45)
DRAWER_FLOOR_HEIGHT = 0.675  # of drawer_right_top
DRAWER_RECT = (0.0, 0.25, 0.08, 0.40)  # usable part of drawer_right_top, closed
DRAWER_CLEARANCE = 0.18
# Front of each drawer: y_min, y_max, z_min, z_max.
DRAWER_FRONTS = {
    "drawer_right_top": (0.005, 0.475, 0.635, 0.855),
    "drawer_left_top": (-0.475, -0.005, 0.635, 0.855),
    "drawer_middle": (-0.475, 0.475, 0.385, 0.625),
    "drawer_bottom": (-0.475, 0.475, 0.125, 0.375),
}

_BOX = mujoco.mjtGeom.mjGEOM_BOX
_CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
_TYPES = {"box": _BOX, "cylinder": _CYLINDER}
_DEFAULT_COLOR = (0.85, 0.85, 0.85, 1.0)
_DEFAULT_COLORS = dict.fromkeys(
    ("fridge", "cabinet", "cabinet_inside", "worktop"), _DEFAULT_COLOR
) | {"handle": (0.5, 0.5, 0.52, 1.0)}
# Of the apartment's colours -> geoms of that colour; inside, the cabinet is darker.
PAINTED = {
    "fridge": (
        "fridge_freezer", "fridge_left", "fridge_right", "fridge_top", "fridge_door_panel",
    ),
    "handle": ("handle_fridge_door", *(f"handle_{drawer}" for drawer in DRAWER_FRONTS)),
    "worktop": ("cabinet_top",),
    "cabinet": ("cabinet_left", "cabinet_right", *(f"{drawer}_front" for drawer in DRAWER_FRONTS)),
    "cabinet_inside": (
        "cabinet_back", "cabinet_inside",
        *(f"{d}_{p}" for d in DRAWER_FRONTS for p in ("floor", "back", "side_a", "side_b")),
    ),
}  # fmt: skip


def build_spec(apartment: Apartment) -> mujoco.MjSpec:
    """The apartment with fridge, cabinet and all thirty objects, not compiled, without a robot.

    Objects stand parked on the floor at x = -50 - slot, y = -50.
    """
    spec = empty_spec()
    _add_slots(spec)
    _add_fridge(spec)
    _add_cabinet(spec)
    _add_objects(spec)
    write_apartment(spec, apartment)
    return spec


def write_apartment(spec: mujoco.MjSpec, apartment: Apartment) -> None:
    """Write another apartment into a spec that was built for one, which costs less than building it anew.

    Raises:
        UserError: The apartment has more solids of a kind than there are slots.
    """
    spec.modelname = apartment.name
    floor, *slots = spec.worldbody.geoms
    floor.rgba = apartment.colors.get("ground", (0.62, 0.63, 0.62, 1.0))
    for kind, kind_slots in (("box", slots[:BOX_SLOT_COUNT]), ("cylinder", slots[BOX_SLOT_COUNT:])):
        solids: list[Solid | None] = [solid for solid in apartment.solids if solid.kind == kind]
        if len(solids) > len(kind_slots):
            raise UserError(
                f"{apartment.name} needs {len(solids)} {kind} slots, but there are {len(kind_slots)}"
            )
        solids += [None] * (len(kind_slots) - len(solids))
        for geom, solid in zip(kind_slots, solids, strict=True):
            _write_slot(geom, kind, solid)
    for name, pose in (("fridge", apartment.fridge), ("cabinet", apartment.cabinet)):
        body = spec.body(name)
        body.pos, body.quat = pose.position, _quat(pose.yaw)
    for key, names in PAINTED.items():
        color = apartment.colors.get(key.removesuffix("_inside"), _DEFAULT_COLORS[key])
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


def parked_position(slot: int) -> tuple[float, float, float]:
    """Where an unused object rests [m]."""
    return (-50.0 - slot, -50.0, OBJECT_KINDS[SLOT_KINDS[slot]].half_height)


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


def _add_slots(spec: mujoco.MjSpec) -> None:
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
    for kind, count in (("box", BOX_SLOT_COUNT), ("cylinder", CYLINDER_SLOT_COUNT)):
        for index in range(count):
            world.add_geom(
                name=f"{kind}_{index:03d}", type=_TYPES[kind], friction=FRICTION, conaffinity=0
            )


def _add_box(
    body: Any,
    name: str,
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    color: tuple[float, ...],
    bit: int,
    density: float = 500.0,
) -> None:
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


def _add_fridge(spec: mujoco.MjSpec) -> None:
    color = _DEFAULT_COLOR
    inside = (0.95, 0.96, 0.97, 1.0)
    depth, width, height = FRIDGE_SIZE
    back, side, front = -depth / 2, width / 2, depth / 2 - 0.06
    body = spec.worldbody.add_body(name="fridge")
    shelf = (FRIDGE_SHELF_HEIGHT - 0.015, FRIDGE_SHELF_HEIGHT)
    upper = (
        FRIDGE_SHELF_HEIGHT + FRIDGE_SHELF_CLEARANCE,
        FRIDGE_SHELF_HEIGHT + FRIDGE_SHELF_CLEARANCE + 0.015,
    )
    inner = (-side + 0.03, side - 0.03)
    for name, x, y, z, part_color in (
        ("freezer", (back, front + 0.055), (-side, side), (0.05, 0.56), color),
        (
            "plinth",
            (back, front - 0.02),
            (-side + 0.02, side - 0.02),
            (0.0, 0.05),
            (0.1, 0.1, 0.1, 1.0),
        ),
        ("back", (back, back + 0.03), (-side, side), (0.56, height), inside),
        ("left", (back + 0.03, front), (side - 0.03, side), (0.56, height), color),
        ("right", (back + 0.03, front), (-side, -side + 0.03), (0.56, height), color),
        ("top", (back + 0.03, front), inner, (height - 0.03, height), color),
        ("shelf_middle", (back + 0.03, front - 0.03), inner, shelf, (0.80, 0.88, 0.92, 1.0)),
        ("shelf_top", (back + 0.03, front - 0.06), inner, upper, (0.80, 0.88, 0.92, 1.0)),
    ):
        _add_box(body, f"fridge_{name}", x, y, z, part_color, STATIC_BIT)
    _add_fridge_door(body, color, inside)


def _add_fridge_door(body: Any, color: tuple[float, ...], inside: tuple[float, ...]) -> None:
    height = FRIDGE_SIZE[2]
    door = body.add_body(name="fridge_door", pos=(*FRIDGE_HINGE, 0.0))
    door.add_joint(
        name="fridge_door",
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=(0.0, 0.0, 1.0),
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=FRIDGE_DOOR_RANGE,
        damping=0.4,
        frictionloss=0.4,
        armature=0.02,
        solref_limit=SOFT_STOP,
    )
    door_y = (-2 * FRIDGE_HINGE[1], 0.0)
    _add_box(
        door,
        "fridge_door_panel",
        (-0.025, 0.025),
        door_y,
        (0.57, height),
        color,
        ARTICULATED_BIT,
        120.0,
    )
    _add_box(
        door, "fridge_door_bin", (-0.10, -0.025), (-0.60, -0.09), (0.62, 0.72), inside, 0, 60.0
    )
    _add_box(
        door,
        "handle_fridge_door",
        (0.025, 0.06),
        (-0.64, -0.60),
        (0.82, 1.28),
        color,
        ARTICULATED_BIT,
        300.0,
    )


def _add_cabinet(spec: mujoco.MjSpec) -> None:
    color = dark = worktop = handle = _DEFAULT_COLOR
    depth, width, height = CABINET_SIZE
    back, front, side = -depth / 2, depth / 2, width / 2
    body = spec.worldbody.add_body(name="cabinet")
    for name, x, y, z, part_color in (
        ("top", (back, front + 0.02), (-side, side), (height - 0.04, height), worktop),
        ("plinth", (back, front - 0.05), (-side, side), (0.0, 0.12), (0.12, 0.12, 0.12, 1.0)),
        ("back", (back, back + 0.02), (-side, side), (0.12, height - 0.04), dark),
        ("left", (back, front - 0.02), (-side, -side + 0.02), (0.12, height - 0.04), color),
        ("right", (back, front - 0.02), (side - 0.02, side), (0.12, height - 0.04), color),
        ("inside", (back + 0.02, front - 0.04), (-side + 0.02, side - 0.02), (0.626, 0.634), dark),
    ):
        _add_box(body, f"cabinet_{name}", x, y, z, part_color, STATIC_BIT)
    for name, (y0, y1, z0, z1) in DRAWER_FRONTS.items():
        drawer = body.add_body(name=name)
        drawer.add_joint(
            name=name,
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=(1.0, 0.0, 0.0),
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            range=DRAWER_RANGE,
            damping=3.0,
            frictionloss=1.5,
            armature=0.1,
            solref_limit=SOFT_STOP,
        )
        floor = (z0 + 0.028, z0 + 0.040)
        wall = (floor[1], floor[1] + 0.09)
        x = (-0.24, front - 0.02)
        inner = (y0 + 0.025, y1 - 0.025)
        middle, half = (y0 + y1) / 2, min(0.14, (y1 - y0) / 4)
        for part, xs, ys, zs, part_color in (
            ("front", (front - 0.02, front), (y0, y1), (z0, z1), color),
            ("floor", x, inner, floor, dark),
            ("back", (x[0], x[0] + 0.015), inner, wall, dark),
            ("side_a", (x[0] + 0.015, x[1]), (inner[0], inner[0] + 0.015), wall, dark),
            ("side_b", (x[0] + 0.015, x[1]), (inner[1] - 0.015, inner[1]), wall, dark),
        ):
            _add_box(drawer, f"{name}_{part}", xs, ys, zs, part_color, ARTICULATED_BIT)
        _add_box(
            drawer,
            f"handle_{name}",
            (front, front + 0.035),
            (middle - half, middle + half),
            (z1 - 0.075, z1 - 0.035),
            handle,
            ARTICULATED_BIT,
        )


def _add_objects(spec: mujoco.MjSpec) -> None:
    for slot, kind_name in enumerate(SLOT_KINDS):
        kind = OBJECT_KINDS[kind_name]
        body = spec.worldbody.add_body(name=OBJECT_BODIES[slot], pos=parked_position(slot))
        body.add_freejoint(name=OBJECT_BODIES[slot])
        volumes = [_volume(part.kind, part.size) if part.collides else 0.0 for part in kind.parts]
        for index, (part, volume) in enumerate(zip(kind.parts, volumes, strict=True)):
            body.add_geom(
                name=OBJECT_BODIES[slot] + (f"_{index}" if index else ""),
                type=_TYPES[part.kind],
                pos=(0.0, 0.0, part.height),
                size=part.size,
                rgba=part.color,
                mass=kind.mass * volume / sum(volumes),
                friction=OBJECT_FRICTION,
                condim=6,
                contype=OBJECT_BIT if part.collides else 0,
                conaffinity=OBJECT_COLLIDES_WITH if part.collides else 0,
            )


def _volume(kind: str, size: tuple[float, float, float]) -> float:
    if kind == "box":
        return 8 * size[0] * size[1] * size[2]
    return 2 * np.pi * size[0] ** 2 * size[1]
