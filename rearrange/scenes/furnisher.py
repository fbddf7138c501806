"""Furnish one apartment: first what tasks need, then the other rooms, then decoration."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from rearrange.scenes import decoration, furniture, pieces
from rearrange.scenes.apartment import OPEN_RECEPTACLES, Apartment, ArticulatedPose, Receptacle
from rearrange.scenes.building import YAW
from rearrange.scenes.cabinet import (
    CABINET_SIZE,
    DRAWER_CLEARANCE,
    DRAWER_FLOOR_HEIGHT,
    DRAWER_RECT,
    DRAWERS,
)
from rearrange.scenes.floor_plans import Spot
from rearrange.scenes.fridge import (
    FRIDGE_DOOR,
    FRIDGE_SHELF_CLEARANCE,
    FRIDGE_SHELF_HEIGHT,
    FRIDGE_SHELF_RECT,
    FRIDGE_SIZE,
)
from rearrange.scenes.furnishing import CLOSED_RECEPTACLES, Part, RejectedError, ahead
from rearrange.scenes.pieces import Piece
from rearrange.scenes.rooms import Rooms

FRIDGE_ASIDE = 0.40  # [m], free floor beside the fridge, on the side of its handle


class LivingSet(NamedTuple):
    """Pieces of a living room that stand in one group, drawn and not yet placed.

    Attributes:
        sofa: With or without a chaise.
        table: The low table before it.
        stand: Of the television.
        depth: Of the table [m].
        length: Of the table, along the sofa [m].
        shift: How far the table is moved along the sofa, away from the chaise [m].
    """

    sofa: Piece
    table: Piece
    stand: Piece
    depth: float
    length: float
    shift: float


class Furnisher(Rooms):
    """Furnishes a building, first with what tasks need."""

    def __init__(self, layout: int, variation: int, rng: np.random.Generator) -> None:
        super().__init__(layout, variation, rng)
        self.fridge = self.cabinet = ArticulatedPose((0.0, 0.0, 0.0), 0.0)

    def furnish(self) -> Apartment:
        """Build and furnish the apartment; raises RejectedError where this draw does not work out."""
        self.furnish_needed()
        self._decorate()
        self._check()
        return self._apartment()

    def furnish_needed(self) -> None:
        """Build it and place all but decoration."""
        self._build()
        self._choose(self.plan.doors, self._place_front_door, required=True)
        self._place_kitchen()
        self._place_living()
        self._check()
        self._place_dining()
        self._place_chair()
        self._check()
        for room, rect in self.plan.rooms.items():
            kind = room.split("_")[0]  # "bedroom_2" is another bedroom
            if kind == "bedroom":
                self._furnish_bedroom(rect)
            elif kind == "study":
                self._furnish_study(rect)
            elif kind == "bath":
                self._furnish_bath(rect)

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
            frames={"fridge": self.fridge, "cabinet": self.cabinet},
            colors={
                "ground": (0.55, 0.57, 0.56, 1.0),
                "fridge": p.fridge,
                "cabinet": p.front,
                "worktop": p.worktop,
                "handle": p.metal,
            },
        )

    def _place_front_door(self, spot: Spot) -> bool:
        piece = decoration.front_door(self.palette)
        x0, y0, x1, y1 = spot.rect
        yaw = YAW[spot.side]
        a, b = (x0, x1) if spot.side in "NS" else (y0, y1)
        t = float(self.rng.uniform(a + 0.6, b - 0.6))
        point = {"W": (x0, t), "E": (x1, t), "S": (t, y0), "N": (t, y1)}[spot.side]
        self.pieces.append(piece.moved(*point, yaw))
        self.keepouts.append((*ahead(point, yaw, 0.5), 0.5, 0.5, yaw))
        return True

    def _place_kitchen(self) -> None:
        p, rng = self.palette, self.rng
        upper = bool(rng.uniform() < 0.6)
        left = furniture.counter(p, "counter_left", float(rng.uniform(0.84, 1.0)), upper)
        right = furniture.counter(
            p, "counter_right", float(rng.uniform(0.84, 1.0)), upper, hob=True
        )
        basin = furniture.sink(p, float(rng.uniform(0.76, 0.88)))
        in_line = self._cabinet_in_line()
        units: list[Piece] = [left, basin, right]
        if in_line:
            units.insert(self._place_in_line(), cabinet_piece())
        units += self._end_of_line()
        # The door is hinged towards the worktops. A pantry keeps the fridge out of the corner: a wall
        # beside it would leave no room for base and arm in front of the open door.
        pantry = furniture.pantry(p, float(rng.uniform(FRIDGE_ASIDE, FRIDGE_ASIDE + 0.1)))
        parts: list[Part] = [
            (pantry, 0.0, -FRIDGE_SIZE[1] / 2 - 0.01 - pantry.half_width, 0.0),
            (fridge_piece(), 0.02 + FRIDGE_SIZE[0] / 2, 0.0, 0.0),
        ]
        y = FRIDGE_SIZE[1] / 2 + 0.03
        for unit in units:
            x = CABINET_SIZE[0] / 2 if unit.name == "cabinet" else 0.0
            parts.append((unit, x, y + unit.half_width, 0.0))
            y += 2 * unit.half_width + 0.002
        if not self._on_wall(parts, self.plan.kitchen, ends=0.7):
            raise RejectedError("no wall for the kitchen line")
        if not in_line and not self._place_cabinet():
            raise RejectedError("no wall for the cabinet")
        self._find_articulated()

    def _place_cabinet(self) -> bool:
        """The cabinet on a wall of its own."""
        part = (cabinet_piece(), CABINET_SIZE[0] / 2 + 0.005, 0.0, 0.0)
        return self._on_wall([part], self.plan.cabinet)

    def _find_articulated(self) -> None:
        """Keep where fridge and cabinet stand."""
        for piece in self.pieces:
            if piece.name == "fridge":
                self.fridge = _pose_of(piece)
            elif piece.name == "cabinet":
                self.cabinet = _pose_of(piece)

    def _cabinet_in_line(self) -> bool:
        """Whether the cabinet is part of the kitchen line."""
        return self.plan.cabinet_in_line and bool(self.rng.uniform() < 0.6)

    def _place_in_line(self) -> int:
        """How many units stand between fridge and cabinet."""
        return int(self.rng.integers(0, 4))

    def _end_of_line(self) -> list[Piece]:
        """What ends the kitchen line."""
        return []

    def _draw_living(self) -> LivingSet:
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
        sofa = furniture.sofa(p, length, chaise)
        return LivingSet(sofa, table, stand, table_depth, table_length, shift)

    def _place_living(self) -> None:
        p, rng, group = self.palette, self.rng, self._draw_living()
        table_x = 0.42 + float(rng.uniform(0.84, 1.0)) + group.depth / 2
        sofa_x = table_x + group.depth / 2 + float(rng.uniform(0.82, 0.92)) + 0.88
        carpet = decoration.rug(p.rug, (sofa_x - 0.5 - 0.95) / 2, float(rng.uniform(1.0, 1.3)))
        parts: list[Part] = [
            (group.stand, 0.0, 0.0, 0.0),
            (group.table, table_x, -group.shift, 0.0),
            (group.sofa, sofa_x, 0.0, pi),
            (carpet, (sofa_x - 0.5 + 0.95) / 2, 0.0, 0.0),
        ]
        if not self._on_wall(parts, self.plan.television, ends=0.0):
            raise RejectedError("no room for sofa and television")
        self.living = (*self.pieces[-3].solids[0].position[:2], self.pieces[-2].receptacles[0].yaw)
        self.coffee_half = (group.depth / 2, group.length / 2)

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
                    (decoration.rug(p.rug, depth / 2 + 0.55, length / 2 + 0.5), 0.0, 0.0, 0.0)
                )
            parts.append((decoration.pendant(p), 0.0, 0.0, 0.0))
            rect = self.plan.dining[int(rng.integers(len(self.plan.dining)))]
            x, y = float(rng.uniform(rect[0], rect[2])), float(rng.uniform(rect[1], rect[3]))
            long_x = rect[2] - rect[0] >= rect[3] - rect[1]
            turned = long_x if rng.uniform() < 0.7 else not long_x
            if self._try(parts, x, y, pi / 2 if turned else 0.0) and self._reachable():
                return
            self._forget({"table_01"} | {part[0].name for part in parts})
        raise RejectedError("no room for the dining table")

    def _place_chair(self) -> None:
        """chair_01: an armchair or a plain chair near the coffee table or along a wall."""
        p, rng = self.palette, self.rng
        marks = self._marks()
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
            self._undo(marks)
        raise RejectedError("no room for the chair")


def fridge_piece() -> Piece:
    """The space that the fridge needs, with its shelf; the body itself is built in fridge.py."""
    dx, dy, dz = FRIDGE_SIZE
    body = pieces.box((-dx / 2, dx / 2), (-dy / 2, dy / 2), (0.0, dz), (1.0, 1.0, 1.0, 1.0))
    x0, x1, y0, y1 = FRIDGE_SHELF_RECT
    shelf = pieces.surface(
        FRIDGE_DOOR.receptacle, (x0, x1, y0, y1), FRIDGE_SHELF_HEIGHT, FRIDGE_SHELF_CLEARANCE
    )
    front = dx / 2 + 0.001
    # Room to stand beside the open door and to get around it, and for the door to swing to its limit
    # (tip 0.5 m beyond the hinge).
    area = pieces.keepout(front, front + 1.3, -dy / 2 - FRIDGE_ASIDE, 1.08)
    return Piece("fridge", (body,), (shelf,), (area,))


def cabinet_piece() -> Piece:
    """The space that the cabinet needs, with its receptacle; cabinet.py builds the body."""
    dx, dy, dz = CABINET_SIZE
    body = pieces.box((-dx / 2, dx / 2 + 0.02), (-dy / 2, dy / 2), (0.0, dz), (1.0, 1.0, 1.0, 1.0))
    x0, x1, y0, y1 = DRAWER_RECT
    drawer = DRAWERS[0]
    inside_drawer = replace(
        pieces.surface(drawer.receptacle, (x0, x1, y0, y1), DRAWER_FLOOR_HEIGHT, DRAWER_CLEARANCE),
        joint=drawer.name,
    )
    front = dx / 2 + 0.021
    # Room to stand before an open drawer, where it is closed (1.3 m would do to open it).
    area = pieces.keepout(front, front + 1.6, -dy / 2 - 0.02, dy / 2 + 0.02)
    return Piece("cabinet", (body,), (inside_drawer,), (area,))


def _pose_of(piece: Piece) -> ArticulatedPose:
    """Frame of a placed fridge or cabinet, worked out from its receptacle."""
    receptacle = piece.receptacles[0]
    x0, x1, y0, y1 = FRIDGE_SHELF_RECT if piece.name == "fridge" else DRAWER_RECT
    px, py = (x0 + x1) / 2, (y0 + y1) / 2
    c, s = cos(receptacle.yaw), sin(receptacle.yaw)
    x, y, _ = receptacle.position
    return ArticulatedPose((x - c * px + s * py, y - s * px - c * py, 0.0), receptacle.yaw)
