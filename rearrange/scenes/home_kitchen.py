"""Kitchens of generated homes: the line along one wall or around a corner, and an island before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, pi, sin

from rearrange.scenes import furniture, pieces
from rearrange.scenes.building import YAW
from rearrange.scenes.cabinet import CABINET_SIZE
from rearrange.scenes.floor_plans import Rect, Spot
from rearrange.scenes.fridge import FRIDGE_SIZE
from rearrange.scenes.furnisher import FRIDGE_ASIDE, Furnisher, cabinet_piece, fridge_piece
from rearrange.scenes.furnishing import Part, RejectedError
from rearrange.scenes.furniture import COUNTER_DEPTH, COUNTER_HEIGHT
from rearrange.scenes.pieces import Palette, Piece

LINE_WITH_CABINET = 5.1  # [m], wall for the kitchen line and the cabinet in it
FILLER = 0.30  # [m], worktop between the corner and its next unit: the way of the arm to it
LEG_TRIES = 6  # draws of the units of a line around one corner
AISLE = (0.95, 1.2)  # [m], between the line and the island
BEYOND_ISLAND = 0.75  # [m], free behind it at least, where there are no stools
ISLAND_DEPTH = 0.72  # [m]
ISLAND_TRIES = 10
BESIDE_FRIDGE = 1.1  # [m], from the middle of the fridge to the island, that the door may swing
AROUND_CORNER = 0.25  # chance of a line in L where a straight one would go as well
BESIDE = 0.6  # chance that the cabinet in a straight line stands beside the fridge


class HomeKitchen(Furnisher):
    """Furnishes kitchens."""

    def _place_kitchen(self) -> None:
        """Around a corner or along a wall, as the plan and chance have it."""
        corners = self.plan.kitchen_corners
        placed = False
        if corners and (not self.plan.kitchen or self.rng.uniform() < AROUND_CORNER):
            placed = self._place_around_corner(corners)
        if not placed:
            if not self.plan.kitchen:
                raise RejectedError("no corner for the kitchen line")
            super()._place_kitchen()
        if not self._reachable():
            raise RejectedError("kitchen out of reach")

    def _place_cabinet(self) -> bool:
        """In the kitchen if it finds a wall there, else as a sideboard in the dining place."""
        part = (cabinet_piece(), CABINET_SIZE[0] / 2 + 0.005, 0.0, 0.0)
        x0, y0, x1, y1 = self.plan.rooms["kitchen"]
        near = [
            spot
            for spot in self.plan.cabinet
            if x0 <= spot.rect[0] <= spot.rect[2] <= x1 and y0 <= spot.rect[1] <= spot.rect[3] <= y1
        ]
        if near and self._on_wall([part], near):
            return True
        return super()._place_cabinet()

    def _cabinet_in_line(self) -> bool:
        longest = max(map(_length, self.plan.kitchen))
        return longest > LINE_WITH_CABINET and bool(self.rng.uniform() < 0.75)

    def _place_in_line(self) -> int:
        """Often beside the fridge: before both floor stays free, before the worktops an island may stand."""
        return 0 if self.rng.uniform() < BESIDE else super()._place_in_line()

    def _end_of_line(self) -> list[Piece]:
        """A cupboard, so that the last worktop is not in a corner, where the arm does not get to its end."""
        cupboard = furniture.pantry(self.palette, float(self.rng.uniform(0.34, 0.44)))
        return [replace(cupboard, name="cupboard")]

    def _place_around_corner(self, corners: Sequence[tuple[Spot, Spot]]) -> bool:
        """Fridge and some of the units on the first leg, the others on the second."""
        for index in self.rng.permutation(len(corners)):
            first, second = corners[int(index)]
            x0, y0, x1, y1 = self._inner(first.rect)
            a0, b0, a1, b1 = self._inner(second.rect)
            corner = {"W": (x0, b1), "N": (a1, y1), "E": (x1, b0), "S": (a0, y0)}[first.side]
            room = (
                (x1 - x0 if first.side in "NS" else y1 - y0),
                (a1 - a0 if second.side in "NS" else b1 - b0),
            )
            for _ in range(LEG_TRIES):
                parts, lengths, alone = self._legs()
                if lengths[0] > room[0] or lengths[1] > room[1]:
                    continue
                marks = self._marks()
                if self._try(parts, *corner, YAW[first.side]):
                    if not alone or self._place_cabinet():
                        self._find_articulated()
                        return True
                    self._undo(marks)
        return False

    def _legs(self) -> tuple[list[Part], tuple[float, float], bool]:
        """Parts from the corner on, the lengths of both legs [m], and whether the cabinet stands alone.

        In the frame of the corner the first leg runs along -y and the second along +x.
        """
        p, rng = self.palette, self.rng
        upper = bool(rng.uniform() < 0.6)
        widths = rng.uniform(0.84, 1.0, 2)
        names = ["counter_left", "counter_right"]
        left, right = (
            furniture.counter(p, name, float(width), upper, hob=name == "counter_right")
            for name, width in zip(names, widths, strict=True)
        )
        basin = furniture.sink(p, float(rng.uniform(0.76, 0.88)))
        before, after = [([left], [basin, right]), ([left, basin], [right])][int(rng.integers(2))]
        alone = bool(rng.uniform() < 0.4)
        if not alone:
            after.append(cabinet_piece())
        parts: list[Part] = [(corner_unit(p), 0.0, 0.0, 0.0)]
        y = -(COUNTER_DEPTH + FILLER + 0.002)
        for unit in reversed(before):
            parts.append((unit, 0.01, y - unit.half_width, 0.0))
            y -= 2 * unit.half_width + 0.002
        y -= FRIDGE_SIZE[1] / 2 + 0.03
        parts.append((fridge_piece(), 0.03 + FRIDGE_SIZE[0] / 2, y, 0.0))
        pantry = furniture.pantry(p, float(rng.uniform(FRIDGE_ASIDE, FRIDGE_ASIDE + 0.1)))
        y -= FRIDGE_SIZE[1] / 2 + 0.01 + pantry.half_width
        parts.append((pantry, 0.01, y, 0.0))
        x = COUNTER_DEPTH + FILLER + 0.002
        for unit in after:
            back = CABINET_SIZE[0] / 2 if unit.name == "cabinet" else 0.0
            parts.append((unit, x + unit.half_width, -0.01 - back, -pi / 2))
            x += 2 * unit.half_width + 0.002
        return parts, (pantry.half_width - y + 0.02, x + 0.02), alone

    def _place_island(self) -> None:
        """Before the worktops beside the fridge, with stools on its far side where there is room."""
        p, rng = self.palette, self.rng
        pose = self.fridge
        worktops = [
            self._in_frame(pose.position, pose.yaw, piece)
            for piece in self.pieces
            if piece.name in ("counter_left", "sink", "counter_right")
            and abs(sin(piece.receptacles[0].yaw - pose.yaw)) < 0.1
        ]
        front = COUNTER_DEPTH - FRIDGE_SIZE[0] / 2
        nearest = (
            BESIDE_FRIDGE if min(worktops) < BESIDE_FRIDGE else BESIDE_FRIDGE + CABINET_SIZE[1]
        )
        for _ in range(ISLAND_TRIES):
            length = float(rng.uniform(1.0, 1.6))
            slack = max(worktops) + 0.6 - nearest - length
            if slack < 0.0:
                continue
            x = front + float(rng.uniform(*AISLE)) + ISLAND_DEPTH / 2
            y = nearest + length / 2 + float(rng.uniform(0.0, slack))
            if rng.uniform() < 0.6:
                parts: list[Part] = [
                    (furniture.stool(p, self._name("stool"), 0.17, 0.62), 0.58, side, 0.0)
                    for side in (-0.3, 0.3)
                ]
            else:
                parts = []
            parts.insert(0, (island_with_room(p, length), 0.0, 0.0, 0.0))
            world = _carried_point(pose.position, pose.yaw, (x, y))
            if self._optional(lambda: self._try(parts, *world, pose.yaw)):  # noqa: B023
                return

    def _in_frame(self, origin: Sequence[float], yaw: float, piece: Piece) -> float:
        """Where along the line the receptacle of a piece is, from a pose [m]."""
        x, y, _ = piece.receptacles[0].position
        return -sin(yaw) * (x - origin[0]) + cos(yaw) * (y - origin[1])

    def _furnish_kitchen(self, rect: Rect, spots: list[Spot]) -> None:
        """A small round table where there is no island but room; a bin."""
        p, rng = self.palette, self.rng
        if not any(piece.name == "island" for piece in self.pieces) and rng.uniform() < 0.3:
            table: list[Part] = [(furniture.bistro_table(p), 0.0, 0.0, 0.0)]
            table += [
                (furniture.stool(p, self._name("stool")), x, y, 0.0)
                for x, y in ((0.0, -0.5), (0.5, 0.0))
            ]
            middle = (rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2
            x = middle[0] + float(rng.uniform(-0.5, 0.5))
            y = middle[1] + float(rng.uniform(-0.5, 0.5))
            turn = float(rng.integers(4)) * pi / 2
            self._optional(lambda: self._try(table, x, y, turn, rect))
        self._add(spots, (furniture.bin_(p), 0.17, 0.0, 0.0), ends=0.8)


def corner_unit(p: Palette) -> Piece:
    """Base units and worktop of an inner corner, FILLER longer than the corner on both legs.

    The origin is the corner of the walls; the first leg runs along -y, the second along +x.
    """
    d, reach = COUNTER_DEPTH + 0.01, COUNTER_DEPTH + FILLER
    top, below, plinth = (
        (COUNTER_HEIGHT - 0.04, COUNTER_HEIGHT),
        (0.10, COUNTER_HEIGHT - 0.04),
        (0.0, 0.10),
    )
    f, k, dark = d - 0.03, d - 0.08, pieces.shade(p.front, 0.45)
    solids = (
        pieces.box((0.01, d), (-reach, -0.01), top, p.worktop),
        pieces.box((d, reach), (-d, -0.01), top, p.worktop),
        pieces.box((0.01, f), (-reach, -0.01), below, p.front),
        pieces.box((f, reach), (-f, -0.01), below, p.front),
        pieces.box((0.01, k), (-reach, -0.01), plinth, dark),
        pieces.box((k, reach), (-k, -0.01), plinth, dark),
    )
    areas = (
        pieces.keepout(0.01, d, -reach, -0.01),
        pieces.keepout(d, reach, -d, -0.01),
    )
    return Piece("corner_unit", solids, areas=areas)


def island_with_room(p: Palette, length: float) -> Piece:
    """An island, and the floor that stays free around it."""
    half = ISLAND_DEPTH / 2
    free = pieces.keepout(half + 0.01, half + BEYOND_ISLAND, -length / 2, length / 2)
    return replace(furniture.island(p, length), keepouts=(free,))


def _carried_point(
    origin: Sequence[float], yaw: float, point: tuple[float, float]
) -> tuple[float, float]:
    """A point of a frame in the world."""
    c, s = cos(yaw), sin(yaw)
    return origin[0] + c * point[0] - s * point[1], origin[1] + s * point[0] + c * point[1]


def _length(spot: Spot) -> float:
    x0, y0, x1, y1 = spot.rect
    return x1 - x0 if spot.side in "NS" else y1 - y0
