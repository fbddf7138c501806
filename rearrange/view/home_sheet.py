"""The contact sheet of homes: each from above, with the names of its rooms and receptacles.

Not imported by `rearrange.render`, since it needs whole apartments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from rearrange.render.camera import Camera, look_from
from rearrange.render.caster import GeomTable
from rearrange.render.overlay import View
from rearrange.render.picture import RgbOptions, render_rgb
from rearrange.render.sheet import Colour, Picture, Sheet, Tag, draw_tags
from rearrange.scenes.apartment import CEILING_GROUP, Apartment
from rearrange.scenes.compile import build_spec
from rearrange.scenes.registry import spec_of_layout

TILE = Camera(height=400, width=480, horizontal_fov=64.0)
COLUMNS = 6
GAP, CAPTION = 14, 22
CUT = 1.3  # [m], walls and cupboards are cut off here
STEEP = math.radians(88.0)
ROOM_PLATE: Colour = (214, 228, 244)
THING_PLATE: Colour = (255, 246, 214)
SHORT = {
    "table_01": "table",
    "table_02": "low table",
    "chair_01": "chair",
    "tvstand": "TV",
    "drawer_right_top": "drawer",
    "counter_left": "left",
    "counter_right": "right",
}


def home_sheet(homes: Sequence[Apartment]) -> Picture:
    """All homes in rows on one page [H, W, 3]."""
    columns = min(COLUMNS, len(homes))
    rows = math.ceil(len(homes) / columns)
    step = TILE.width + GAP, TILE.height + GAP + CAPTION
    sheet = Sheet(columns * step[0] + GAP, rows * step[1] + GAP)
    for index, home in enumerate(homes):
        row, column = divmod(index, columns)
        left, top = GAP + column * step[0], GAP + CAPTION + row * step[1]
        sheet.put(picture_from_above(home), left, top, caption_of(home))
    return sheet.pixels


def caption_of(home: Apartment) -> str:
    """Name, rooms and floor area."""
    area = sum((r[2] - r[0]) * (r[3] - r[1]) for r in home.rooms.values())
    return f"{home.name}: {len(home.rooms)} rooms, {area:.0f} m2"


def is_turned(home: Apartment) -> bool:
    """Return whether +x is up in its picture, and not +y: the longer side lies across."""
    x0, y0, x1, y1 = home.bounds
    return x1 - x0 < y1 - y0


def picture_from_above(home: Apartment, camera: Camera = TILE) -> Picture:
    """A home with its ceiling off and its walls cut, rooms and receptacles named [H, W, 3]."""
    model = build_spec(home).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    x0, y0, x1, y1 = home.bounds
    corners = [(x, y, 0.8) for x in (x0, x1) for y in (y0, y1)]
    heading = 0.0 if is_turned(home) else math.pi / 2
    eye, rotation = look_from(camera, corners, heading, STEEP, margin=0.03)
    depth = np.empty((camera.height, camera.width), np.float32)
    table = GeomTable.from_model(model, (CEILING_GROUP,))
    light = RgbOptions(clip_above=CUT, sky_lamps=8, shadow_size=1024)
    image = render_rgb(table, data.geom_xpos, data.geom_xmat, camera, eye, rotation, light, depth)
    view = View(camera, eye, rotation, depth)
    tags, spec = [], spec_of_layout(home.layout)
    for name, rect in home.rooms.items():
        middle = ((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2, 0.0)
        tags.append(_tag(view, name.replace("_", " "), middle, ROOM_PLATE))
    for name, receptacle in home.receptacles.items():
        part = spec.part_of(name)
        text = SHORT.get(name, name if part is None else part.label)
        tags.append(_tag(view, text, receptacle.position, THING_PLATE))
    return draw_tags(image, tags, size=10)


def _tag(view: View, text: str, point: tuple[float, float, float], plate: Colour) -> Tag:
    (column, row), _ = view.project(point)
    return Tag(text, (float(column), float(row)), plate)
