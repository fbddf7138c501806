"""The cabinet with its four drawers: sizes, how it is built, and what opens."""

from __future__ import annotations

import mujoco

from rearrange.scenes.compile import (
    ARTICULATED_BIT,
    DEFAULT_COLOR,
    STATIC_BIT,
    add_box,
    add_part,
)
from rearrange.scenes.spec import Drawer, Furniture

# In its frame: origin in the centre of its footprint, +x out of its front [m].
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
HANDLE_DEPTH = 0.035  # [m]


def _drawer(
    name: str, label: str, marker: str, receptacle: str = "", tasks: tuple[str, ...] = ()
) -> Drawer:
    right, left = DRAWER_FRONTS[name][:2]
    return Drawer(
        name=name,
        range=DRAWER_RANGE,
        label=label,
        receptacle=receptacle,
        tasks=tasks,
        kind="drawer" if receptacle else "",
        laid_open=DRAWER_RANGE[1],
        opened_beyond=0.35,  # HAB: beyond 0.45 - 0.1
        aims=(0.43,),
        opened_least=0.41,
        marker=marker,
        handle=(CABINET_SIZE[0] / 2 + HANDLE_DEPTH / 2, (right + left) / 2),
        standing=0.35,
    )


# One drawer is opened and closed; HAB uses one too, and trains its skills on marker 5
DRAWERS = (
    _drawer(
        "drawer_right_top", "top right drawer", "cab_push_point_5", "drawer_right_top",
        ("open_cab", "close_cab"),
    ),
    _drawer("drawer_left_top", "top left drawer", "cab_push_point_7"),
    _drawer("drawer_middle", "middle drawer", "cab_push_point_6"),
    _drawer("drawer_bottom", "bottom drawer", "cab_push_point_4"),
)  # fmt: skip


def build_cabinet(spec: mujoco.MjSpec) -> None:
    """Add the cabinet to a spec."""
    color = dark = worktop = handle = DEFAULT_COLOR
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
        add_box(body, f"cabinet_{name}", x, y, z, part_color, STATIC_BIT)
    for part in DRAWERS:
        name, (y0, y1, z0, z1) = part.name, DRAWER_FRONTS[part.name]
        drawer = add_part(body, part, damping=3.0, frictionloss=1.5, armature=0.1)
        floor = (z0 + 0.028, z0 + 0.040)
        wall = (floor[1], floor[1] + 0.09)
        x = (-0.24, front - 0.02)
        inner = (y0 + 0.025, y1 - 0.025)
        middle, half = (y0 + y1) / 2, min(0.14, (y1 - y0) / 4)
        for panel, xs, ys, zs, part_color in (
            ("front", (front - 0.02, front), (y0, y1), (z0, z1), color),
            ("floor", x, inner, floor, dark),
            ("back", (x[0], x[0] + 0.015), inner, wall, dark),
            ("side_a", (x[0] + 0.015, x[1]), (inner[0], inner[0] + 0.015), wall, dark),
            ("side_b", (x[0] + 0.015, x[1]), (inner[1] - 0.015, inner[1]), wall, dark),
        ):
            add_box(drawer, f"{name}_{panel}", xs, ys, zs, part_color, ARTICULATED_BIT)
        add_box(
            drawer,
            f"handle_{name}",
            (front, front + HANDLE_DEPTH),
            (middle - half, middle + half),
            (z1 - 0.075, z1 - 0.035),
            handle,
            ARTICULATED_BIT,
        )


CABINET = Furniture(
    name="cabinet",
    size=CABINET_SIZE,
    build=build_cabinet,
    parts=DRAWERS,
    painted={
        "handle": tuple(f"handle_{drawer}" for drawer in DRAWER_FRONTS),
        "worktop": ("cabinet_top",),
        "cabinet": (
            "cabinet_left", "cabinet_right", *(f"{drawer}_front" for drawer in DRAWER_FRONTS),
        ),
        "cabinet_inside": (
            "cabinet_back", "cabinet_inside",
            *(f"{d}_{p}" for d in DRAWER_FRONTS for p in ("floor", "back", "side_a", "side_b")),
        ),
    },
)  # fmt: skip
