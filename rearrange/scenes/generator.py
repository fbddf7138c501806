"""Furnish a floor plan: the macro layouts, 21 variations each, the same for the same numbers.

A variation resizes, mirrors and recolours the plan of its layout and then places furniture by
rejection sampling: first what tasks need (kitchen, table, sofa, TV, chair), then bedroom, study
and bath, then decoration. A piece that would block the way is left out; an apartment whose
receptacles cannot all be reached is thrown away and drawn again with the next attempt number, so
the result is valid by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import cos, pi, sin

import numpy as np

from rearrange.errors import UserError
from rearrange.scenes import furniture
from rearrange.scenes.apartment import (
    CLOSED_RECEPTACLES,
    LAYOUTS_OF_SPLIT,
    OPEN_RECEPTACLES,
    VARIATION_COUNT,
    Apartment,
    ArticulatedPose,
    Receptacle,
    Solid,
)
from rearrange.scenes.compile import (
    CABINET_SIZE,
    DRAWER_CLEARANCE,
    DRAWER_FLOOR_HEIGHT,
    DRAWER_RECT,
    FRIDGE_SHELF_CLEARANCE,
    FRIDGE_SHELF_HEIGHT,
    FRIDGE_SHELF_RECT,
    FRIDGE_SIZE,
)
from rearrange.scenes.floor_plans import FLOOR_PLANS, WALL_THICKNESS, FloorPlan, Rect, Spot
from rearrange.scenes.furniture import Color, Palette, Piece
from rearrange.scenes.palettes import palette_of
from rearrange.scenes.placement import CELL, Box2, FloorGrid, inside, overlap

CEILING = 2.6  # [m]
LINTEL = 2.1  # [m], top of door openings
OUTER_THICKNESS = 0.12  # [m]
ROBOT_RADIUS = 0.32  # [m], base radius 0.3 and a little air
EASY_RADIUS = (
    0.40  # [m], apartments are drawn so that even this disc gets everywhere: passages of 0.8 m
)
REACH = 0.66  # [m], from a standing spot to the farthest point of an open receptacle
CLOSED_REACH = 0.80  # [m], the same into the fridge and the drawer
FRIDGE_ASIDE = 0.40  # [m], free floor beside the fridge, on the side of its handle
ATTEMPTS = 400
_YAW = {"S": pi / 2, "N": -pi / 2, "W": 0.0, "E": pi}

Part = tuple[Piece, float, float, float]  # piece, x, y, yaw in the frame of its group


class _RejectedError(Exception):
    """This draw cannot be furnished."""


def apartments_of_split(split: str) -> list[tuple[int, int]]:
    """All (layout, variation) of "train", "val" or "test"."""
    if split not in LAYOUTS_OF_SPLIT:
        raise UserError(f"split must be one of {', '.join(LAYOUTS_OF_SPLIT)}, not {split!r}")
    return [(layout, v) for layout in LAYOUTS_OF_SPLIT[split] for v in range(VARIATION_COUNT)]


@lru_cache(maxsize=256)
def generate_apartment(layout: int, variation: int) -> Apartment:
    """The apartment of that name; cached, do not change what it holds.

    Args:
        layout: 0 to 10; 3 validation, 4 test, the others train.
        variation: 0 to 20.
    """
    if not 0 <= layout < len(FLOOR_PLANS) or not 0 <= variation < VARIATION_COUNT:
        raise UserError(
            f"apartment ({layout}, {variation}) does not exist: "
            f"layouts are 0 to {len(FLOOR_PLANS) - 1}, "
            f"variations 0 to {VARIATION_COUNT - 1}"
        )
    return draw_apartment(layout, variation)


def draw_apartment(layout: int, variation: int) -> Apartment:
    """As `generate_apartment`, but for any variation from 0 on, also beyond those of the splits."""
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([layout, variation, attempt])
        try:
            return _Furnisher(layout, variation, rng).furnish()
        except _RejectedError:
            continue
    raise RuntimeError(f"no valid apartment for layout {layout}, variation {variation}")


class _Furnisher:
    def __init__(self, layout: int, variation: int, rng: np.random.Generator) -> None:
        self.layout, self.variation, self.rng = layout, variation, rng
        mirror = variation % 4  # all four mirror images appear in every layout
        self.plan: FloorPlan = FLOOR_PLANS[layout].stretched(
            float(rng.uniform(0.97, 1.06)),
            float(rng.uniform(0.97, 1.06)),
            bool(mirror & 1),
            bool(mirror & 2),
        )
        self.palette: Palette = palette_of(layout, variation)
        width, depth = self.plan.size
        self.bounds = (0.0, 0.0, width, depth)
        self.pieces: list[Piece] = []  # in the world
        self.footprints: list[Box2] = []
        self.accepted: list[Box2] = []  # footprints when all was in reach the last time
        self.accepted_grid: FloorGrid | None = None
        self.keepouts: list[Box2] = []
        self.building: list[Solid] = []
        self.fridge = self.cabinet = ArticulatedPose((0.0, 0.0, 0.0), 0.0)
        self.names: dict[str, int] = {}

    # --- the order of the work -------------------------------------------------------------------

    def furnish(self) -> Apartment:
        self._build_walls()
        self._choose(self.plan.doors, self._place_front_door, required=True)
        self._place_kitchen()
        self._place_living()
        self._check()
        self._place_dining()
        self._place_chair()
        self._check()
        for room, rect in self.plan.rooms.items():
            if room == "bedroom":
                self._furnish_bedroom(rect)
            elif room == "study":
                self._furnish_study(rect)
            elif room == "bath":
                self._furnish_bath(rect)
        self._decorate()
        self._check()
        return self._apartment()

    def _apartment(self) -> Apartment:
        solids = list(self.building)
        receptacles: dict[str, Receptacle] = {}
        for piece in self.pieces:
            for receptacle in piece.receptacles:
                receptacles[receptacle.name] = receptacle
            if piece.name not in ("fridge", "cabinet"):
                solids.extend(replace(solid, part=piece.name) for solid in piece.solids)
        p = self.palette
        return Apartment(
            layout=self.layout,
            variation=self.variation,
            bounds=self.bounds,
            rooms=dict(self.plan.rooms),
            solids=tuple(solids),
            receptacles={name: receptacles[name] for name in OPEN_RECEPTACLES + CLOSED_RECEPTACLES},
            fridge=self.fridge,
            cabinet=self.cabinet,
            colors={
                "ground": (0.55, 0.57, 0.56, 1.0),
                "fridge": p.fridge,
                "cabinet": p.front,
                "worktop": p.worktop,
                "handle": p.metal,
            },
        )

    # --- building --------------------------------------------------------------------------------

    def _build_walls(self) -> None:
        p = self.palette
        width, depth = self.plan.size
        t = OUTER_THICKNESS

        def wall(
            x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], color: Color
        ) -> None:
            self.building.append(furniture.box(x, y, z, color, group=2))
            if z[0] == 0.0:
                self.footprints.append(_flat(x, y))

        accent = int(self.rng.integers(4))
        colors = [p.accent_wall if i == accent else p.wall for i in range(4)]
        wall((-t, width + t), (-t, 0.0), (0.0, CEILING), colors[0])
        wall((-t, width + t), (depth, depth + t), (0.0, CEILING), colors[1])
        wall((-t, 0.0), (0.0, depth), (0.0, CEILING), colors[2])
        wall((width, width + t), (0.0, depth), (0.0, CEILING), colors[3])
        ceiling = furniture.box(
            (-t, width + t),
            (-t, depth + t),
            (CEILING, CEILING + 0.05),
            (0.97, 0.97, 0.96, 1.0),
            group=3,
        )
        self.building.append(ceiling)
        half = WALL_THICKNESS / 2
        self.runs: list[
            tuple[float, float, float, float]
        ] = [  # x, y of the start, length, yaw of the normal
            (0.0, 0.0, width, _YAW["S"]),
            (0.0, depth, width, _YAW["N"]),
            (0.0, 0.0, depth, _YAW["W"]),
            (width, 0.0, depth, _YAW["E"]),
        ]
        self.outer_runs = tuple(self.runs)
        for inner in self.plan.walls:
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
                top = depth if inner.axis == "y" else width
                high_end = b + (half if b == inner.end and b < top - 0.01 else 0.0)
                along = (low_end, high_end)
                wall(
                    *((along, across) if inner.axis == "x" else (across, along)),
                    (0.0, CEILING),
                    p.wall,
                )
                if inner.axis == "x":
                    self.runs += [
                        (a, across[0], b - a, _YAW["N"]),
                        (a, across[1], b - a, _YAW["S"]),
                    ]
                else:
                    self.runs += [
                        (across[0], a, b - a, _YAW["E"]),
                        (across[1], a, b - a, _YAW["W"]),
                    ]
            for a, b, lintel in inner.openings:
                middle, reach = (a + b) / 2, (b - a) / 2
                if inner.axis == "x":
                    self.keepouts.append((middle, inner.at, reach, 0.85, 0.0))
                else:
                    self.keepouts.append((inner.at, middle, 0.85, reach, 0.0))
                if lintel:
                    xy = ((a, b), across) if inner.axis == "x" else (across, (a, b))
                    wall(*xy, (LINTEL, CEILING), p.wall)
        # Floors: thin slabs that only give colour.
        slab = furniture.box((0.0, width), (0.0, depth), (-0.03, 0.0005), p.floor, collides=False)
        self.building.append(slab)
        for name, rect in self.plan.rooms.items():
            color = p.tile if name in ("kitchen", "bath") else p.floor
            slab = furniture.box(
                (rect[0], rect[2]), (rect[1], rect[3]), (-0.02, 0.001), color, collides=False
            )
            self.building.append(slab)

    def _inner(self, rect: Rect) -> Rect:
        """A room without half the thickness of its inner walls."""
        half = WALL_THICKNESS / 2
        return (
            rect[0] + (half if rect[0] > 0.01 else 0.0),
            rect[1] + (half if rect[1] > 0.01 else 0.0),
            rect[2] - (half if rect[2] < self.bounds[2] - 0.01 else 0.0),
            rect[3] - (half if rect[3] < self.bounds[3] - 0.01 else 0.0),
        )

    # --- placing ---------------------------------------------------------------------------------

    def _try(
        self, parts: Sequence[Part], x: float, y: float, yaw: float, room: Rect | None = None
    ) -> bool:
        """Place a group of pieces, all or none."""
        c, s = cos(yaw), sin(yaw)
        moved = [
            piece.moved(x + c * px - s * py, y + s * px + c * py, yaw + pyaw)
            for piece, px, py, pyaw in parts
        ]
        footprints, keepouts = [], []
        for piece, (local, px, py, pyaw) in zip(moved, parts, strict=True):
            for flat in local.footprints():
                placed = _carried(_carried(flat, px, py, pyaw), x, y, yaw)
                if not inside(placed, room or self.bounds):
                    return False
                if any(overlap(placed, other, -1e-4) for other in self.footprints):
                    return False
                if any(overlap(placed, other, -1e-4) for other in self.keepouts):
                    return False
                footprints.append(placed)
            keepouts.extend(piece.keepouts)
        for area in keepouts:
            if not inside(area, self.bounds) or any(
                overlap(area, other, -1e-4) for other in self.footprints
            ):
                return False
        self.pieces += moved
        self.footprints += footprints
        self.keepouts += keepouts
        return True

    def _on_wall(
        self, parts: Sequence[Part], spots: Sequence[Spot], tries: int = 25, ends: float = 0.35
    ) -> bool:
        """Place a group against a wall of one of the spots; often (`ends`) pushed into a corner."""
        low, high = np.inf, -np.inf
        for piece, px, py, pyaw in parts:
            for flat in piece.footprints():
                b = _carried(flat, px, py, pyaw)
                reach = abs(sin(b[4])) * b[2] + abs(cos(b[4])) * b[3]
                low, high = min(low, b[1] - reach), max(high, b[1] + reach)
        for _ in range(tries):
            spot = spots[int(self.rng.integers(len(spots)))]
            x0, y0, x1, y1 = self._inner(spot.rect)
            yaw, gap = _YAW[spot.side], 0.01
            # Along the wall: local +y is +y for W, -y for E, -x for S, +x for N.
            sign = {"W": 1, "E": -1, "S": -1, "N": 1}[spot.side]
            a, b = (x0, x1) if spot.side in "NS" else (y0, y1)
            t0, t1 = (a - low, b - high) if sign > 0 else (a + high, b + low)
            t0, t1 = t0 + gap, t1 - gap
            if t1 < t0:
                continue
            draw = self.rng.uniform()
            t = t0 if draw < ends / 2 else t1 if draw < ends else float(self.rng.uniform(t0, t1))
            point = {
                "W": (x0 + gap, t),
                "E": (x1 - gap, t),
                "S": (t, y0 + gap),
                "N": (t, y1 - gap),
            }[spot.side]
            if self._try(parts, *point, yaw):
                return True
        return False

    def _around(self, rect: Rect) -> list[Spot]:
        """The stretches of real wall around a room; open sides are left out."""
        spots = []
        for x, y, length, yaw in self.runs:
            side = next(name for name, angle in _YAW.items() if angle == yaw)
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

    def _choose(self, spots: Sequence[Spot], place: Callable[[Spot], bool], required: bool) -> None:
        for index in self.rng.permutation(len(spots)):
            if place(spots[int(index)]):
                return
        if required:
            raise _RejectedError

    def _optional(self, place: Callable[[], bool]) -> bool:
        """Place something that the apartment can do without; undo it where it blocks the way."""
        marks = (len(self.pieces), len(self.footprints), len(self.keepouts))
        if not place():
            return False
        if self._reachable():
            return True
        for items, mark in zip((self.pieces, self.footprints, self.keepouts), marks, strict=True):
            del items[mark:]
        return False

    # --- groups that tasks need ------------------------------------------------------------------

    def _place_front_door(self, spot: Spot) -> bool:
        piece = furniture.front_door(self.palette)
        x0, y0, x1, y1 = spot.rect
        yaw = _YAW[spot.side]
        a, b = (x0, x1) if spot.side in "NS" else (y0, y1)
        t = float(self.rng.uniform(a + 0.6, b - 0.6))
        point = {"W": (x0, t), "E": (x1, t), "S": (t, y0), "N": (t, y1)}[spot.side]
        self.pieces.append(piece.moved(*point, yaw))
        self.keepouts.append((*_ahead(point, yaw, 0.5), 0.5, 0.5, yaw))
        return True

    def _place_kitchen(self) -> None:
        p, rng = self.palette, self.rng
        upper = bool(rng.uniform() < 0.6)
        left = furniture.counter(p, "counter_left", float(rng.uniform(0.84, 1.0)), upper)
        right = furniture.counter(
            p, "counter_right", float(rng.uniform(0.84, 1.0)), upper, hob=True
        )
        basin = furniture.sink(p, float(rng.uniform(0.76, 0.88)))
        in_line = self.plan.cabinet_in_line and bool(rng.uniform() < 0.6)
        units: list[Piece] = [left, basin, right]
        if in_line:
            units.insert(int(rng.integers(0, 4)), _cabinet_piece())
        # The door is hinged towards the worktops. A pantry keeps the fridge out of the corner: a wall
        # beside it would leave no room for base and arm in front of the open door.
        pantry = furniture.pantry(p, float(rng.uniform(FRIDGE_ASIDE, FRIDGE_ASIDE + 0.1)))
        parts: list[Part] = [
            (pantry, 0.0, -FRIDGE_SIZE[1] / 2 - 0.01 - pantry.half_width, 0.0),
            (_fridge_piece(), 0.02 + FRIDGE_SIZE[0] / 2, 0.0, 0.0),
        ]
        y = FRIDGE_SIZE[1] / 2 + 0.03
        for unit in units:
            x = CABINET_SIZE[0] / 2 if unit.name == "cabinet" else 0.0
            parts.append((unit, x, y + unit.half_width, 0.0))
            y += 2 * unit.half_width + 0.002
        if not self._on_wall(parts, self.plan.kitchen, ends=0.7):
            raise _RejectedError
        if not in_line and not self._on_wall(
            [(_cabinet_piece(), CABINET_SIZE[0] / 2 + 0.005, 0.0, 0.0)], self.plan.cabinet
        ):
            raise _RejectedError
        for piece in self.pieces:
            if piece.name == "fridge":
                self.fridge = _pose_of(piece)
            elif piece.name == "cabinet":
                self.cabinet = _pose_of(piece)

    def _place_living(self) -> None:
        p, rng = self.palette, self.rng
        length = float(rng.uniform(1.9, 2.35))
        chaise = int(rng.choice([0, 0, 1, -1]))
        table_depth = float(rng.uniform(0.50, 0.60))
        table_length = float(rng.uniform(0.95, 1.15))
        height = float(rng.uniform(0.40, 0.48))
        shift = 0.0
        if chaise:
            length, table_length, shift = max(length, 2.3), 0.90, -chaise * 0.40
        if not chaise and rng.uniform() < 0.3:
            table_depth = table_length = 2 * float(rng.uniform(0.40, 0.44))
            table = furniture.round_coffee_table(p, table_depth / 2, height)
        else:
            table = furniture.coffee_table(p, table_depth, table_length, height)
        stand = furniture.tv_stand(
            p, float(rng.uniform(1.4, 1.8)), float(rng.uniform(0.46, 0.54)), 1.2
        )
        table_x = 0.42 + float(rng.uniform(0.84, 1.0)) + table_depth / 2
        sofa_x = table_x + table_depth / 2 + float(rng.uniform(0.82, 0.92)) + 0.88
        carpet = furniture.rug(p.rug, (sofa_x - 0.5 - 0.95) / 2, float(rng.uniform(1.0, 1.3)))
        parts: list[Part] = [
            (stand, 0.0, 0.0, 0.0),
            (table, table_x, -shift, 0.0),
            (furniture.sofa(p, length, chaise), sofa_x, 0.0, pi),
            (carpet, (sofa_x - 0.5 + 0.95) / 2, 0.0, 0.0),
        ]
        if not self._on_wall(parts, self.plan.television, ends=0.0):
            raise _RejectedError
        self.living = (*self.pieces[-3].solids[0].position[:2], self.pieces[-2].receptacles[0].yaw)
        self.coffee_half = (table_depth / 2, table_length / 2)

    def _place_dining(self) -> None:
        p, rng = self.palette, self.rng
        for _ in range(30):
            length, depth = float(rng.uniform(1.25, 1.6)), float(rng.uniform(0.64, 0.70))
            side = int(rng.choice([0, 0, 1, -1]))
            height = float(rng.uniform(0.73, 0.76))
            parts: list[Part] = [
                (furniture.dining_table(p, length, depth, height, side), 0.0, 0.0, 0.0)
            ]
            head = length / 2 + 0.12
            parts += [
                (furniture.chair(p, self._name("chair"), p.cushion), 0.0, sy * head, -sy * pi / 2)
                for sy in (-1, 1)
            ]
            if side:
                for sy in (-1, 1):
                    y = sy * (length / 2 - 0.36)  # between the legs of the table
                    x = -side * (depth / 2 + 0.12)
                    yaw = 0.0 if side > 0 else pi
                    parts.append((furniture.chair(p, self._name("chair"), p.cushion), x, y, yaw))
            if rng.uniform() < 0.6:
                parts.append(
                    (furniture.rug(p.rug, depth / 2 + 0.55, length / 2 + 0.5), 0.0, 0.0, 0.0)
                )
            parts.append((furniture.pendant(p), 0.0, 0.0, 0.0))
            rect = self.plan.dining[int(rng.integers(len(self.plan.dining)))]
            x, y = float(rng.uniform(rect[0], rect[2])), float(rng.uniform(rect[1], rect[3]))
            long_x = rect[2] - rect[0] >= rect[3] - rect[1]
            turned = long_x if rng.uniform() < 0.7 else not long_x
            if self._try(parts, x, y, pi / 2 if turned else 0.0) and self._reachable():
                return
            self._forget({"table_01"} | {part[0].name for part in parts})
        raise _RejectedError

    def _forget(self, names: set[str]) -> None:
        """Take back the last group, if it was placed."""
        while self.pieces and self.pieces[-1].name in names:
            piece = self.pieces.pop()
            del self.footprints[len(self.footprints) - len(piece.footprints()) :]

    def _place_chair(self) -> None:
        """chair_01: an armchair or a plain chair near the coffee table or along a wall."""
        p, rng = self.palette, self.rng
        marks = (len(self.pieces), len(self.footprints), len(self.keepouts))
        for attempt in range(40):
            if rng.uniform() < 0.6:
                piece, depth = furniture.armchair(p, "chair_01", p.cushion), 0.30
            else:
                piece, depth = furniture.chair(p, "chair_01", p.fabric, 0.46), 0.23
            x, y, yaw = self.living
            if attempt < 25:
                side = 1.0 if rng.uniform() < 0.5 else -1.0
                away = self.coffee_half[1] + depth + float(rng.uniform(0.72, 1.0))
                local = (float(rng.uniform(-0.4, 0.5)), side * away)
                turn = -side * pi / 2 + float(rng.uniform(-0.35, 0.35))
                ok = self._try([(piece, *local, turn)], x, y, yaw)
            else:
                rooms = [self.plan.rooms[r] for r in ("living", "dining")]
                rect = rooms[int(rng.integers(len(rooms)))]
                ok = self._on_wall(
                    [(piece, 0.42, 0.0, float(rng.uniform(-0.2, 0.2)))], self._around(rect), 8, 0.2
                )
            if not ok:
                continue
            if self._reachable():
                return
            for items, mark in zip(
                (self.pieces, self.footprints, self.keepouts), marks, strict=True
            ):
                del items[mark:]
        raise _RejectedError

    # --- other rooms and decoration --------------------------------------------------------------

    def _name(self, kind: str) -> str:
        self.names[kind] = self.names.get(kind, 1) + 1
        return f"{kind}_{self.names[kind]:02d}"

    def _add(self, spots: Sequence[Spot], *parts: Part, ends: float = 0.5, tries: int = 20) -> bool:
        return self._optional(lambda: self._on_wall(parts, spots, tries, ends))

    def _furnish_bedroom(self, rect: Rect) -> None:
        p, rng = self.palette, self.rng
        spots = self._around(rect)
        width = float(rng.choice([1.4, 1.6, 1.6, 1.8]))
        for _ in range(4):
            bed = self._bed(width)
            side = width / 2 + 0.30
            parts: list[Part] = [
                (bed, 0.0, 0.0, 0.0),
                (furniture.nightstand(p, self._name("nightstand"), True), 0.0, side, 0.0),
                (
                    furniture.nightstand(p, self._name("nightstand"), bool(rng.uniform() < 0.5)),
                    0.0,
                    -side,
                    0.0,
                ),
                (furniture.rug(p.rug, 0.75, width / 2 + 0.5), 1.65, 0.0, 0.0),
            ]
            if self._add(spots, *parts, ends=0.0, tries=30):
                break
            if width < 1.3 and self._add(spots, *parts[:2], ends=0.9, tries=30):
                break
            width -= 0.2
        self._add(
            spots, (furniture.wardrobe(p, float(rng.uniform(1.2, 1.6))), 0.0, 0.0, 0.0), ends=0.9
        )
        if rng.uniform() < 0.6:
            self._add(spots, (furniture.dresser(p, float(rng.uniform(0.8, 1.1))), 0.0, 0.0, 0.0))
        if rng.uniform() < 0.5:
            self._add(spots, (furniture.stool(p, self._name("stool")), 0.2, 0.0, 0.0))

    def _furnish_study(self, rect: Rect) -> None:
        p, rng = self.palette, self.rng
        spots = self._around(rect)
        self._add(
            spots,
            (furniture.desk(p, float(rng.uniform(1.2, 1.5))), 0.0, 0.0, 0.0),
            (
                furniture.office_chair(p),
                0.82,
                -0.18 + float(rng.uniform(-0.08, 0.08)),
                pi + float(rng.uniform(-0.5, 0.5)),
            ),
            ends=0.2,
        )
        self._add(spots, (self._bookcase(1.1), 0.0, 0.0, 0.0))
        if rng.uniform() < 0.5:
            self._add(spots, (self._bed(0.9), 0.0, 0.0, 0.0), ends=0.9)
        else:
            self._add(
                spots, (furniture.armchair(p, self._name("armchair"), p.fabric), 0.45, 0.0, 0.0)
            )
        middle = ((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2)
        self._try([(furniture.round_rug(p.rug, 0.8), 0.0, 0.0, 0.0)], *middle, 0.0)

    def _furnish_bath(self, rect: Rect) -> None:
        p = self.palette
        spots = self._around(rect)
        self._add(spots, (furniture.bathtub(p), 0.0, 0.0, 0.0), ends=0.9, tries=40)
        self._add(spots, (furniture.washbasin(p), 0.0, 0.0, 0.0), tries=40)
        self._add(spots, (furniture.toilet(p), 0.0, 0.0, 0.0), tries=40)

    def _furnish_kitchen(self, rect: Rect, spots: list[Spot]) -> None:
        """An island with stools or a small round table where there is room; a bin."""
        p, rng = self.palette, self.rng
        stools = [self._name("stool"), self._name("stool")]
        if rng.uniform() < 0.5:
            length = float(rng.uniform(1.1, 1.5))
            parts: list[Part] = [(furniture.island(p, length), 0.0, 0.0, 0.0)]
            parts += [
                (furniture.stool(p, name, 0.17, 0.62), 0.58, y, 0.0)
                for name, y in zip(stools, (-0.3, 0.3), strict=True)
            ]
        else:
            parts = [(furniture.bistro_table(p), 0.0, 0.0, 0.0)]
            parts += [
                (furniture.stool(p, name), x, y, 0.0)
                for name, x, y in zip(stools, (0.0, 0.5), (-0.5, 0.0), strict=True)
            ]

        def place() -> bool:
            for _ in range(12):
                x, y = float(rng.uniform(rect[0], rect[2])), float(rng.uniform(rect[1], rect[3]))
                if self._try(parts, x, y, float(rng.integers(4)) * pi / 2, rect):
                    return True
            return False

        for _ in range(3):
            if self._optional(place):
                break
        self._add(spots, (furniture.bin_(p), 0.17, 0.0, 0.0), ends=0.8)

    def _bed(self, width: float) -> Piece:
        """With a name of its own: there may be one in the bedroom and one in the study."""
        return replace(furniture.bed(self.palette, width), name=self._name("bed"))

    def _bookcase(self, width: float) -> Piece:
        p, rng = self.palette, self.rng
        books = [p.cushion, p.rug, p.fabric, p.bedding, p.accent_wall]
        colors = tuple(books[int(i)] for i in rng.permutation(len(books))[:4])
        height = float(rng.choice([1.2, 1.9]))
        return furniture.bookcase(p, self._name("bookcase"), width, height, colors)

    def _decorate(self) -> None:
        p, rng = self.palette, self.rng
        rooms = self.plan.rooms
        open_rooms = [name for name in ("living", "dining", "hall") if name in rooms]
        spots = {name: self._around(rooms[name]) for name in rooms}
        self._furnish_kitchen(rooms["kitchen"], spots["kitchen"])
        everywhere = [spot for name in open_rooms for spot in spots[name]]
        self._add(
            spots["living"], (furniture.floor_lamp(p, self._name("lamp")), 0.22, 0.0, 0.0), ends=0.7
        )
        self._add(spots["living"], (self._bookcase(float(rng.uniform(0.8, 1.3))), 0.0, 0.0, 0.0))
        hall = spots.get("hall", everywhere)
        if rng.uniform() < 0.7:
            self._add(hall, (furniture.console(p, float(rng.uniform(0.9, 1.2))), 0.0, 0.0, 0.0))
        else:
            self._add(hall, (furniture.shoe_bench(p, float(rng.uniform(0.8, 1.1))), 0.0, 0.0, 0.0))
        for name in ("living", "dining", "bedroom", "living")[: 2 + int(rng.integers(3))]:
            pot = furniture.plant(p, self._name("plant"), float(rng.uniform(0.9, 1.5)))
            self._add(spots[name], (pot, 0.24, 0.0, 0.0), ends=0.8)
        if rng.uniform() < 0.5:
            self._add(everywhere, (furniture.stool(p, self._name("stool")), 0.2, 0.0, 0.0))
        self._hang_windows_and_pictures()

    def _hang_windows_and_pictures(self) -> None:
        p, rng = self.palette, self.rng
        colors = (p.cushion, p.rug, p.bedding, p.fabric, p.accent_wall)
        windows = pictures = 0
        for attempt in range(70):
            outer = attempt < 30
            runs = self.outer_runs if outer else self.runs
            if (outer and windows >= 5) or (not outer and pictures >= 6):
                continue
            x, y, length, yaw = runs[int(rng.integers(len(runs)))]
            if outer:
                width = float(rng.uniform(0.9, 1.5))
                piece, z = furniture.window(p, width), (0.94, 2.16)
                width += 0.12
            else:
                width, height = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.4, 0.6))
                color = colors[int(rng.integers(len(colors)))]
                piece = furniture.picture(p.wood_dark, color, width, height, 1.55)
                z = (1.55 - height / 2, 1.55 + height / 2)
            if length < width + 0.4:
                continue
            t = float(rng.uniform(width / 2 + 0.2, length - width / 2 - 0.2))
            along_x = abs(sin(yaw)) > 0.5
            point = (x + t, y) if along_x else (x, y + t)
            if self._wall_is_free(point, yaw, width, z):
                self.pieces.append(piece.moved(*point, yaw))
                windows, pictures = windows + outer, pictures + (not outer)

    def _wall_is_free(
        self, point: tuple[float, float], yaw: float, width: float, z: tuple[float, float]
    ) -> bool:
        """Whether nothing stands or hangs there, and no other wall ends there."""
        area: Box2 = (*_ahead(point, yaw, 0.16), 0.15, width / 2 + 0.12, yaw)
        solids = [s for s in self.building if s.collides]
        solids += [s for piece in self.pieces for s in piece.solids if piece.name != "pendant"]
        for solid in solids:
            half = solid.size[2] if solid.kind == "box" else solid.size[1]
            if solid.position[2] + half < z[0] or solid.position[2] - half > z[1]:
                continue
            sx, sy = solid.size[0], solid.size[1] if solid.kind == "box" else solid.size[0]
            if overlap(area, (*solid.position[:2], sx, sy, solid.yaw)):
                return False
        return True

    # --- validity --------------------------------------------------------------------------------

    def _grid(self) -> FloorGrid:
        """Of all that stands; what stood when all was in reach the last time is not drawn again."""
        done = len(self.accepted)
        if self.accepted_grid is not None and self.footprints[:done] == self.accepted:
            return self.accepted_grid.extended(self.footprints[done:])
        return FloorGrid(self.plan.size, self.footprints)

    def _reachable(self) -> bool:
        """Whether every receptacle placed so far is in reach of where the robot can get to."""
        grid = self._grid()
        easy = grid.main_component(EASY_RADIUS)
        if not easy.any() or not self._rooms_connected(grid, easy):
            return False
        receptacles = [r for piece in self.pieces for r in piece.receptacles]
        reach = np.array(
            [CLOSED_REACH if r.name in CLOSED_RECEPTACLES else REACH for r in receptacles]
        )
        near = grid.nearest(easy, np.concatenate([_points_on(r) for r in receptacles])).reshape(
            -1, 25
        )
        # A wider robot stands farther away, by the difference of the radii.
        if not (near.max(axis=1) <= reach + EASY_RADIUS - ROBOT_RADIUS + CELL / 2).all():
            return False
        self.accepted, self.accepted_grid = list(self.footprints), grid
        return True

    def _rooms_connected(self, grid: FloorGrid, cells: np.ndarray) -> bool:
        for rect in self.plan.rooms.values():
            i = (grid.x > rect[0]) & (grid.x < rect[2])
            j = (grid.y > rect[1]) & (grid.y < rect[3])
            if cells[np.ix_(i, j)].sum() < 40:  # a tenth of a square metre
                return False
        return True

    def _check(self) -> None:
        if not self._reachable():
            raise _RejectedError


def _flat(x: tuple[float, float], y: tuple[float, float]) -> Box2:
    return ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, (x[1] - x[0]) / 2, (y[1] - y[0]) / 2, 0.0)


def _carried(box: Box2, x: float, y: float, yaw: float) -> Box2:
    c, s = cos(yaw), sin(yaw)
    return (x + c * box[0] - s * box[1], y + s * box[0] + c * box[1], box[2], box[3], box[4] + yaw)


def _ahead(point: tuple[float, float], yaw: float, distance: float) -> tuple[float, float]:
    return (point[0] + cos(yaw) * distance, point[1] + sin(yaw) * distance)


def _points_on(receptacle: Receptacle) -> np.ndarray:
    """A 5 x 5 lattice on the usable rectangle; a drawer's is that of the open drawer [25, 2]."""
    c, s = cos(receptacle.yaw), sin(receptacle.yaw)
    u = np.linspace(-1.0, 1.0, 5)
    local = np.stack(
        np.meshgrid(u * receptacle.half_extents[0], u * receptacle.half_extents[1]), -1
    )
    return local.reshape(-1, 2) @ np.array([(c, s), (-s, c)]) + receptacle.position[:2]


def _fridge_piece() -> Piece:
    """The space that the fridge needs, with its shelf; the body itself is built in compile.py."""
    dx, dy, dz = FRIDGE_SIZE
    body = furniture.box((-dx / 2, dx / 2), (-dy / 2, dy / 2), (0.0, dz), (1.0, 1.0, 1.0, 1.0))
    x0, x1, y0, y1 = FRIDGE_SHELF_RECT
    shelf = furniture.surface(
        "fridge_middle", (x0, x1, y0, y1), FRIDGE_SHELF_HEIGHT, FRIDGE_SHELF_CLEARANCE
    )
    front = dx / 2 + 0.001
    # Room to stand beside the open door and to get around it, and for the door to swing to its limit
    # (tip 0.5 m beyond the hinge).
    area = furniture.keepout(front, front + 1.3, -dy / 2 - FRIDGE_ASIDE, 1.08)
    return Piece("fridge", (body,), (shelf,), (area,))


def _cabinet_piece() -> Piece:
    """The space that the cabinet needs, with its receptacle; compile.py builds the body."""
    dx, dy, dz = CABINET_SIZE
    body = furniture.box(
        (-dx / 2, dx / 2 + 0.02), (-dy / 2, dy / 2), (0.0, dz), (1.0, 1.0, 1.0, 1.0)
    )
    x0, x1, y0, y1 = DRAWER_RECT
    inside_drawer = replace(
        furniture.surface(
            "drawer_right_top", (x0, x1, y0, y1), DRAWER_FLOOR_HEIGHT, DRAWER_CLEARANCE
        ),
        joint="drawer_right_top",
    )
    front = dx / 2 + 0.021
    # Room to stand before an open drawer, where it is closed (1.3 m would do to open it).
    area = furniture.keepout(front, front + 1.6, -dy / 2 - 0.02, dy / 2 + 0.02)
    return Piece("cabinet", (body,), (inside_drawer,), (area,))


def _pose_of(piece: Piece) -> ArticulatedPose:
    """Frame of a placed fridge or cabinet, worked out from its receptacle."""
    receptacle = piece.receptacles[0]
    x0, x1, y0, y1 = FRIDGE_SHELF_RECT if piece.name == "fridge" else DRAWER_RECT
    px, py = (x0 + x1) / 2, (y0 + y1) / 2
    c, s = cos(receptacle.yaw), sin(receptacle.yaw)
    x, y, _ = receptacle.position
    return ArticulatedPose((x - c * px + s * py, y - s * px - c * py, 0.0), receptacle.yaw)
