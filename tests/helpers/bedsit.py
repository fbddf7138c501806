"""A kind of home as another package would bring it: one room with a desk, a bed and a dresser, six objects.

The dresser has a drawer and, above it, a cupboard with a door.
"""

from typing import Any

from rearrange.scenes import (
    ARTICULATED_BIT,
    OBJECT_KINDS,
    STATIC_BIT,
    Apartment,
    ArticulatedPose,
    Door,
    Drawer,
    Furniture,
    ObjectKind,
    ObjectPart,
    Receptacle,
    SceneSpec,
    Solid,
    add_box,
    add_part,
)

WOOD, DARK = (0.65, 0.50, 0.35, 1.0), (0.50, 0.38, 0.27, 1.0)
SIZE = (0.60, 0.78, 1.50)  # of the dresser: depth, width, height [m]
FRONT = 0.30  # x of the drawer's front in the dresser's frame [m]
DRAWER_FLOOR, CUPBOARD_FLOOR = 0.675, 0.90  # heights of what objects stand on [m]
DEPTH = 4.0  # of the room [m]

DRAWER = Drawer(
    name="dresser_drawer",
    range=(0.0, 0.45),
    label="dresser's drawer",
    receptacle="in_drawer",
    tasks=("open_cab", "close_cab"),
    kind="drawer",
    laid_open=0.45,
    opened_beyond=0.35,
    aims=(0.43,),
    opened_least=0.41,
    handle=(FRONT + 0.0175, 0.0),
    standing=0.35,
)
DOOR = Door(
    name="cupboard_door",
    range=(0.0, 2.3),
    label="cupboard",
    receptacle="in_cupboard",
    tasks=("open_fridge", "close_fridge"),
    kind="fridge",
    laid_open=1.5,
    opened_beyond=1.07,
    aims=(1.45, 1.35, 1.25),
    opened_least=1.2,
    hinge=(0.275, 0.38),
    width=0.76,
    depth=(-0.025, 0.025),
    lower_edge=0.90,
    handle=(0.0425, -0.69),
    handle_span=(0.63, 0.75, 0.06),
    before_closed=(0.66, -0.1),
    before_open=(0.75, -0.3),
    pushed=(0.65, 0.73),
)


def build_dresser(spec: Any) -> None:
    """The dresser in its own frame."""
    back, side, inner = -0.30, 0.39, (-0.36, 0.36)
    body = spec.worldbody.add_body(name="dresser")
    for name, x, y, z in (
        ("base", (back, 0.28), (-side, side), (0.0, 0.62)),
        ("divider", (back, 0.24), (-side, side), (0.865, CUPBOARD_FLOOR)),
        ("back", (back, back + 0.02), (-side, side), (0.62, 1.50)),
        ("left", (back + 0.02, 0.24), (0.37, side), (0.62, 1.50)),
        ("right", (back + 0.02, 0.24), (-side, -0.37), (0.62, 1.50)),
        ("top", (back + 0.02, 0.24), (-0.37, 0.37), (1.47, 1.50)),
    ):
        add_box(body, f"dresser_{name}", x, y, z, WOOD, STATIC_BIT)
    drawer = add_part(body, DRAWER, damping=3.0, frictionloss=1.5, armature=0.1)
    for name, x, y, z in (
        ("front", (FRONT - 0.02, FRONT), (-0.38, 0.38), (0.635, 0.855)),
        ("floor", (-0.24, FRONT - 0.02), inner, (DRAWER_FLOOR - 0.012, DRAWER_FLOOR)),
        ("rear", (-0.24, -0.225), inner, (DRAWER_FLOOR, 0.765)),
        ("side_a", (-0.225, FRONT - 0.02), (-0.36, -0.345), (DRAWER_FLOOR, 0.765)),
        ("side_b", (-0.225, FRONT - 0.02), (0.345, 0.36), (DRAWER_FLOOR, 0.765)),
    ):
        add_box(drawer, f"drawer_{name}", x, y, z, DARK, ARTICULATED_BIT)
    bar = (FRONT, FRONT + 0.035), (-0.14, 0.14), (0.78, 0.82)
    add_box(drawer, f"handle_{DRAWER.name}", *bar, DARK, ARTICULATED_BIT)
    door = add_part(body, DOOR, damping=0.4, frictionloss=0.4, armature=0.02)
    panel = (-0.025, 0.025), (-DOOR.width, 0.0), (DOOR.lower_edge, 1.50)
    add_box(door, "door_panel", *panel, WOOD, ARTICULATED_BIT, 120.0)
    bar = (0.025, 0.06), (-0.71, -0.67), (0.94, 1.30)
    add_box(door, f"handle_{DOOR.name}", *bar, DARK, ARTICULATED_BIT, 300.0)


def make_bedsit(layout: int, variation: int) -> Apartment:
    """One room; its length depends on the layout, the desk's place on the variation."""
    length = 5.0 + 0.5 * (layout % 3)
    desk, bed = (length - 0.40, 0.7 + 0.03 * variation), (length - 1.0, DEPTH - 0.45)
    dresser = ArticulatedPose((0.31, 2.0, 0.0), 0.0)
    grey, t = (0.9, 0.9, 0.88, 1.0), 0.05

    def wall(x: float, y: float, half_x: float, half_y: float) -> Solid:
        return Solid("box", (x, y, 1.3), (half_x, half_y, 1.3), color=grey, group=2)

    def inside(name: str, x: float, height: float, clearance: float, **joint: str) -> Receptacle:
        place = (dresser.position[0] + x, dresser.position[1], height)
        return Receptacle(name, place, (0.11, 0.26), dresser.yaw, clearance, **joint)

    return Apartment(
        layout=layout,
        variation=variation,
        bounds=(0.0, 0.0, length, DEPTH),
        rooms={"room": (0.0, 0.0, length, DEPTH)},
        solids=(
            wall(length / 2, -t, length / 2, t),
            wall(length / 2, DEPTH + t, length / 2, t),
            wall(-t, DEPTH / 2, t, DEPTH / 2),
            wall(length + t, DEPTH / 2, t, DEPTH / 2),
            Solid(
                "box",
                (length / 2, DEPTH / 2, -0.015),
                (length / 2, DEPTH / 2, 0.0155),
                color=DARK,
                collides=False,
            ),
            Solid("box", (*desk, 0.36), (0.35, 0.6, 0.36), color=DARK, part="desk"),
            Solid("box", (*bed, 0.25), (0.95, 0.42, 0.25), color=grey, part="bed"),
        ),
        receptacles={
            "desk": Receptacle("desk", (*desk, 0.72), (0.29, 0.54), 0.0),
            "bed": Receptacle("bed", (*bed, 0.50), (0.85, 0.32), 0.0),
            "in_drawer": inside("in_drawer", 0.11, DRAWER_FLOOR, 0.18, joint=DRAWER.name),
            "in_cupboard": inside("in_cupboard", 0.06, CUPBOARD_FLOOR, 0.55),
        },
        frames={"dresser": dresser},
        colors={"dresser": WOOD},
    )


MUG = ObjectKind(
    "mug",
    0.12,
    0.041,
    0.0465,
    (ObjectPart("cylinder", (0.0465, 0.041, 0.0), (0.9, 0.3, 0.2, 1.0)),),
)
CANS = [OBJECT_KINDS[name] for name in ("002_master_chef_can", "005_tomato_soup_can")]

BEDSIT = SceneSpec(
    name="bedsit",
    layouts={"bedsit": {"train": range(9000, 9003), "val": (9003,), "test": (9004,)}},
    make=make_bedsit,
    open_receptacles=("desk", "bed"),
    furniture=(Furniture(name="dresser", size=SIZE, build=build_dresser, parts=(DRAWER, DOOR)),),
    objects=(*CANS, *CANS, MUG, MUG),
    box_count=7,
    cylinder_count=0,
)
