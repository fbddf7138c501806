"""The building of an apartment: walls, floors, ceiling, and the stretches of wall to put things against."""

from __future__ import annotations

from math import pi

import numpy as np

from rearrange.scenes import pieces
from rearrange.scenes.apartment import CEILING_GROUP, WALL_GROUP, Solid
from rearrange.scenes.floor_plans import (
    FLOOR_PLANS,
    WALL_THICKNESS,
    FloorPlan,
    InnerWall,
    Rect,
    Spot,
)
from rearrange.scenes.palettes import palette_of
from rearrange.scenes.pieces import Color, Palette
from rearrange.scenes.placement import Box2

CEILING = 2.6  # [m]
LINTEL = 2.1  # [m], top of door openings
OUTER_THICKNESS = 0.12  # [m]
YAW = {"S": pi / 2, "N": -pi / 2, "W": 0.0, "E": pi}  # of what stands against a wall of that side
SIDES = {yaw: side for side, yaw in YAW.items()}

Span = tuple[float, float]  # from, to [m]


class Building:
    """The empty apartment of a layout and a variation."""

    def __init__(self, layout: int, variation: int, rng: np.random.Generator) -> None:
        """Draw size, mirror image and colours."""
        self.layout, self.variation, self.rng = layout, variation, rng
        self.plan = self._draw_plan()
        self.palette: Palette = palette_of(layout, variation)
        width, depth = self.plan.size
        self.bounds = (0.0, 0.0, width, depth)
        self.building: list[Solid] = []
        self.footprints: list[Box2] = []
        self.keepouts: list[Box2] = []

    def _draw_plan(self) -> FloorPlan:
        """One of the plans drawn by hand, resized; all four mirror images appear in every layout."""
        mirror = self.variation % 4
        return FLOOR_PLANS[self.layout].stretched(
            float(self.rng.uniform(0.97, 1.06)),
            float(self.rng.uniform(0.97, 1.06)),
            bool(mirror & 1),
            bool(mirror & 2),
        )

    def _build(self) -> None:
        p = self.palette
        width, depth = self.plan.size
        t = OUTER_THICKNESS
        accent = int(self.rng.integers(4))
        colors = [p.accent_wall if i == accent else p.wall for i in range(4)]
        self._build_outer_walls(colors)
        above = (CEILING, CEILING + 0.05)
        white = (0.97, 0.97, 0.96, 1.0)
        self.building.append(
            pieces.box(
                (-t, width + t), (-t, depth + t), above, white, group=CEILING_GROUP
            )  # the ceiling
        )
        self.runs: list[
            tuple[float, float, float, float]
        ] = [  # x, y of the start, length, yaw of the normal
            (0.0, 0.0, width, YAW["S"]),
            (0.0, depth, width, YAW["N"]),
            (0.0, 0.0, depth, YAW["W"]),
            (width, 0.0, depth, YAW["E"]),
        ]
        self.outer_runs = tuple(self.runs)
        for inner in self.plan.walls:
            self._build_inner_wall(inner)
        self._build_floors()

    def _build_outer_walls(self, colors: list[Color]) -> None:
        """South, north, west and east."""
        width, depth = self.plan.size
        t, standing = OUTER_THICKNESS, (0.0, CEILING)
        self._wall((-t, width + t), (-t, 0.0), standing, colors[0])
        self._wall((-t, width + t), (depth, depth + t), standing, colors[1])
        self._wall((-t, 0.0), (0.0, depth), standing, colors[2])
        self._wall((width, width + t), (0.0, depth), standing, colors[3])

    def _build_floors(self) -> None:
        """Thin slabs that only give colour."""
        p = self.palette
        width, depth = self.plan.size
        slab = pieces.box((0.0, width), (0.0, depth), (-0.03, 0.0005), p.floor, collides=False)
        self.building.append(slab)
        for name, rect in self.plan.rooms.items():
            color = p.tile if name in ("kitchen", "bath") else p.floor
            slab = pieces.box(
                (rect[0], rect[2]), (rect[1], rect[3]), (-0.02, 0.001), color, collides=False
            )
            self.building.append(slab)

    def _wall(self, x: Span, y: Span, z: Span, color: Color) -> None:
        self.building.append(pieces.box(x, y, z, color, group=WALL_GROUP))
        if z[0] == 0.0:
            self.footprints.append(_flat(x, y))

    def _build_inner_wall(self, inner: InnerWall) -> None:
        """Its stretches between the openings, and lintels over these; both sides can be furnished."""
        along_x, color = inner.axis == "x", self.palette.wall
        width, depth = self.plan.size
        half = WALL_THICKNESS / 2
        across = (inner.at - half, inner.at + half)
        spans, low = [], inner.start
        for start, end, _ in inner.openings:
            spans.append((low, start))
            low = end
        spans.append((low, inner.end))
        for a, b in spans:
            if b - a < 0.01:
                continue
            low_end = a - (half if a == inner.start and a > 0.01 else 0.0)
            high_end = b + (
                half if b == inner.end and b < (width, depth)[not along_x] - 0.01 else 0.0
            )
            along = (low_end, high_end)
            self._wall(*((along, across) if along_x else (across, along)), (0.0, CEILING), color)
            if along_x:
                self.runs += [(a, across[0], b - a, YAW["N"]), (a, across[1], b - a, YAW["S"])]
            else:
                self.runs += [(across[0], a, b - a, YAW["E"]), (across[1], a, b - a, YAW["W"])]
        for a, b, lintel in inner.openings:
            middle, reach = (a + b) / 2, (b - a) / 2
            if along_x:
                self.keepouts.append((middle, inner.at, reach, 0.85, 0.0))
            else:
                self.keepouts.append((inner.at, middle, 0.85, reach, 0.0))
            if lintel:
                xy = ((a, b), across) if along_x else (across, (a, b))
                self._wall(*xy, (LINTEL, CEILING), color)

    def _inner(self, rect: Rect) -> Rect:
        """A room without half the thickness of its inner walls."""
        half = WALL_THICKNESS / 2
        return (
            rect[0] + (half if rect[0] > 0.01 else 0.0),
            rect[1] + (half if rect[1] > 0.01 else 0.0),
            rect[2] - (half if rect[2] < self.bounds[2] - 0.01 else 0.0),
            rect[3] - (half if rect[3] < self.bounds[3] - 0.01 else 0.0),
        )

    def _around(self, rect: Rect) -> list[Spot]:
        """The stretches of real wall around a room; open sides are left out."""
        spots = []
        for x, y, length, yaw in self.runs:
            side = SIDES[yaw]
            if side in "SN":
                across, start, limit = y, x, (rect[0], rect[2])
                at = rect[1] if side == "S" else rect[3]
            else:
                across, start, limit = x, y, (rect[1], rect[3])
                at = rect[0] if side == "W" else rect[2]
            low, high = max(start, limit[0]), min(start + length, limit[1])
            if abs(across - at) > WALL_THICKNESS or high - low < 0.5:
                continue
            span = (low, rect[1], high, rect[3]) if side in "SN" else (rect[0], low, rect[2], high)
            spots.append(Spot(span, side))
        return spots


def _flat(x: tuple[float, float], y: tuple[float, float]) -> Box2:
    return ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, (x[1] - x[0]) / 2, (y[1] - y[0]) / 2, 0.0)
