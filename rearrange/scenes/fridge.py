"""The fridge: its sizes, how it is built, and what opens."""

from __future__ import annotations

import math
from typing import Any

import mujoco

from rearrange.scenes.compile import (
    ARTICULATED_BIT,
    DEFAULT_COLOR,
    STATIC_BIT,
    add_box,
    add_part,
)
from rearrange.scenes.spec import Door, Furniture

# In its frame: origin in the centre of its footprint, +x out of its front [m].
FRIDGE_SIZE = (0.68, 0.70, 1.76)
FRIDGE_SHELF_HEIGHT = 0.95
FRIDGE_SHELF_RECT = (-0.08, 0.20, -0.25, 0.25)  # usable part: x_min, x_max, y_min, y_max
FRIDGE_SHELF_CLEARANCE = 0.38
FRIDGE_HINGE = (0.31, 0.345)  # x, y of the hinge axis

FRIDGE_DOOR = Door(
    name="fridge_door",
    range=(0.0, 2.356),
    label="fridge",
    receptacle="fridge_middle",
    tasks=("open_fridge", "close_fridge"),
    kind="fridge",
    laid_open=1.5,  # habitat-lab
    opened_beyond=1.07,  # HAB: beyond 1.22 - 0.15
    aims=(1.45, 1.35, 1.25),
    opened_least=1.2,
    central_share=math.sqrt(
        0.5
    ),  # half of the area; habitat-lab uses the central half of the shelf
    marker="fridge_push_point",
    hinge=FRIDGE_HINGE,
    width=2 * FRIDGE_HINGE[1],
    depth=(-0.10, 0.025),  # with the bin on its inside
    lower_edge=0.57,
    handle=(0.0425, -0.62),
    handle_span=(0.56, 0.68, 0.06),
    before_closed=(0.66, -0.1),
    # In chains of Prepare Groceries in training apartments Pick took 187 of 198 things from y < 0, 27 of 36
    # from 0 to 0.3 m and 20 of 50 from beyond
    before_open=(0.75, -0.3),
    pushed=(0.58, 0.66),
)


def build_fridge(spec: mujoco.MjSpec) -> None:
    """Add the fridge to a spec."""
    color = DEFAULT_COLOR
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
        add_box(body, f"fridge_{name}", x, y, z, part_color, STATIC_BIT)
    _add_fridge_door(body, color, inside)


def _add_fridge_door(body: Any, color: tuple[float, ...], inside: tuple[float, ...]) -> None:
    height = FRIDGE_SIZE[2]
    door = add_part(body, FRIDGE_DOOR, damping=0.4, frictionloss=0.4, armature=0.02)
    door_y = (-FRIDGE_DOOR.width, 0.0)
    add_box(
        door,
        "fridge_door_panel",
        (-0.025, 0.025),
        door_y,
        (FRIDGE_DOOR.lower_edge, height),
        color,
        ARTICULATED_BIT,
        120.0,
    )
    add_box(door, "fridge_door_bin", (-0.10, -0.025), (-0.60, -0.09), (0.62, 0.72), inside, 0, 60.0)
    add_box(
        door,
        "handle_fridge_door",
        (0.025, 0.06),
        (-0.64, -0.60),
        (0.82, 1.28),
        color,
        ARTICULATED_BIT,
        300.0,
    )


FRIDGE = Furniture(
    name="fridge",
    size=FRIDGE_SIZE,
    build=build_fridge,
    parts=(FRIDGE_DOOR,),
    painted={
        "fridge": (
            "fridge_freezer", "fridge_left", "fridge_right", "fridge_top", "fridge_door_panel",
        ),
        "handle": ("handle_fridge_door",),
    },
)  # fmt: skip
