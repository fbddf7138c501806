"""Put pieces of furniture into a building: nothing overlaps, and the robot still gets everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, sin

import numpy as np

from rearrange.scenes.apartment import Receptacle
from rearrange.scenes.building import YAW, Building
from rearrange.scenes.cabinet import CABINET
from rearrange.scenes.floor_plans import Rect, Spot
from rearrange.scenes.fridge import FRIDGE
from rearrange.scenes.pieces import Piece
from rearrange.scenes.placement import CELL, Box2, FloorGrid, any_overlap, inside

ROBOT_RADIUS = 0.32  # [m], base radius 0.3 and a little air
EASY_RADIUS = (
    0.40  # [m], apartments are drawn so that even this disc gets everywhere: passages of 0.8 m
)
REACH = 0.66  # [m], from a standing spot to the farthest point of an open receptacle
CLOSED_REACH = 0.80  # [m], the same into the fridge and the drawer

OPENING = (FRIDGE, CABINET)  # furniture that opens
CLOSED_RECEPTACLES = tuple(
    part.receptacle for piece in OPENING for part in piece.parts if part.receptacle
)

Part = tuple[Piece, float, float, float]  # piece, x, y, yaw in the frame of its group


class RejectedError(Exception):
    """This draw cannot be furnished; the message is the reason, one of a few."""


class Furnishing(Building):
    """A building and what stands in it."""

    def __init__(self, layout: int, variation: int, rng: np.random.Generator) -> None:
        """Begin with nothing."""
        super().__init__(layout, variation, rng)
        self.pieces: list[Piece] = []  # in the world
        self.names: dict[str, int] = {}
        self._accepted: list[Box2] = []  # footprints when all was in reach the last time
        self._accepted_grid: FloorGrid | None = None
        self._points: dict[Receptacle, np.ndarray] = {}  # see `_points_on`

    def _try(
        self, parts: Sequence[Part], x: float, y: float, yaw: float, room: Rect | None = None
    ) -> bool:
        """Place a group of pieces, all or none."""
        footprints, keepouts = [], []
        for piece, px, py, pyaw in parts:
            for flat in piece.footprints():
                placed = _carried(_carried(flat, px, py, pyaw), x, y, yaw)
                if not inside(placed, room or self.bounds):
                    return False
                if any_overlap(placed, self.footprints, -1e-4):
                    return False
                if any_overlap(placed, self.keepouts, -1e-4):
                    return False
                footprints.append(placed)
        c, s = cos(yaw), sin(yaw)
        poses = [
            (x + c * px - s * py, y + s * px + c * py, yaw + pyaw) for _, px, py, pyaw in parts
        ]
        for (piece, *_), pose in zip(parts, poses, strict=True):
            keepouts.extend(_carried(area, *pose) for area in piece.keepouts)
        for area in keepouts:
            if not inside(area, self.bounds) or any_overlap(area, self.footprints, -1e-4):
                return False
        # Moved only now: most places are not free
        moved = [piece.moved(*pose) for (piece, *_), pose in zip(parts, poses, strict=True)]
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
            yaw, gap = YAW[spot.side], 0.01
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

    def _choose(self, spots: Sequence[Spot], place: Callable[[Spot], bool], required: bool) -> None:
        for index in self.rng.permutation(len(spots)):
            if place(spots[int(index)]):
                return
        if required:
            raise RejectedError("no place for the front door")

    def _optional(self, place: Callable[[], bool]) -> bool:
        """Place something that the apartment can do without; undo it where it blocks the way."""
        marks = self._marks()
        if not place():
            return False
        if self._reachable():
            return True
        self._undo(marks)
        return False

    def _marks(self) -> tuple[int, int, int]:
        """How much stands now, for `_undo`."""
        return len(self.pieces), len(self.footprints), len(self.keepouts)

    def _undo(self, marks: tuple[int, int, int]) -> None:
        """Take back what has been placed since."""
        for items, mark in zip((self.pieces, self.footprints, self.keepouts), marks, strict=True):
            del items[mark:]

    def _forget(self, names: set[str]) -> None:
        """Take back the last group, if it was placed."""
        while self.pieces and self.pieces[-1].name in names:
            piece = self.pieces.pop()
            del self.footprints[len(self.footprints) - len(piece.footprints()) :]

    def _name(self, kind: str) -> str:
        self.names[kind] = self.names.get(kind, 1) + 1
        return f"{kind}_{self.names[kind]:02d}"

    def _add(self, spots: Sequence[Spot], *parts: Part, ends: float = 0.5, tries: int = 20) -> bool:
        return self._optional(lambda: self._on_wall(parts, spots, tries, ends))

    def _check(self) -> None:
        if not self._reachable():
            raise RejectedError("something is out of reach")

    def _reachable(self) -> bool:
        """Whether every receptacle placed so far is in reach of where the robot can get to."""
        grid = self._grid()
        easy = grid.main_component()
        if not easy.any() or not self._rooms_connected(grid, easy):
            return False
        for piece in self.pieces:
            for receptacle in piece.receptacles:
                points = self._points.get(receptacle)
                if points is None:
                    points = self._points[receptacle] = _points_on(receptacle)
                reach = CLOSED_REACH if receptacle.name in CLOSED_RECEPTACLES else REACH
                # A wider robot stands farther away, by the difference of the radii.
                if not grid.within(easy, points, reach + EASY_RADIUS - ROBOT_RADIUS + CELL / 2):
                    return False
        self._accepted, self._accepted_grid = list(self.footprints), grid
        return True

    def _grid(self) -> FloorGrid:
        """Of all that stands; what stood when all was in reach the last time is not drawn again."""
        done = len(self._accepted)
        if self._accepted_grid is not None and self.footprints[:done] == self._accepted:
            return self._accepted_grid.extended(self.footprints[done:])
        return FloorGrid(self.plan.size, self.footprints, EASY_RADIUS)

    def _rooms_connected(self, grid: FloorGrid, cells: np.ndarray) -> bool:
        # A tenth of a square metre
        return all(grid.count(cells, rect) >= 40 for rect in self.plan.rooms.values())


def _carried(box: Box2, x: float, y: float, yaw: float) -> Box2:
    c, s = cos(yaw), sin(yaw)
    return (x + c * box[0] - s * box[1], y + s * box[0] + c * box[1], box[2], box[3], box[4] + yaw)


def ahead(point: tuple[float, float], yaw: float, distance: float) -> tuple[float, float]:
    """The point at a distance [m] from another, in the direction of `yaw`."""
    return (point[0] + cos(yaw) * distance, point[1] + sin(yaw) * distance)


def _points_on(receptacle: Receptacle) -> np.ndarray:
    """A 5 x 5 lattice on the usable rectangle; a drawer's is that of the open drawer [25, 2]."""
    c, s = cos(receptacle.yaw), sin(receptacle.yaw)
    u = np.linspace(-1.0, 1.0, 5)
    local = np.stack(
        np.meshgrid(u * receptacle.half_extents[0], u * receptacle.half_extents[1]), -1
    )
    return local.reshape(-1, 2) @ np.array([(c, s), (-s, c)]) + receptacle.position[:2]
