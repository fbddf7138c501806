"""Floors made for navigation: 3 to 8 furnished rooms, most along a corridor, the same for the same name.

A layout is a division into rooms with doors; a variation mirrors, colours and furnishes it. Splits are
by layout. Furniture is placed by rejection sampling: a piece that would cut off a part of the floor is
left out, so that every room can be reached through its door.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from rearrange.scenes import decoration, furniture, pieces
from rearrange.scenes.apartment import Solid
from rearrange.scenes.palettes import palette_of
from rearrange.scenes.pieces import Color, Palette, Piece
from rearrange.scenes.placement import CELL, Box2, FloorGrid, inside, overlap

# Of 24 training layouts PointNav had learned too much by heart: 0.97 there, 93 % in those of val
LAYOUTS_OF_SPLIT = {
    "train": (*range(24), *range(36, 84)),
    "val": tuple(range(24, 30)),
    "test": tuple(range(30, 36)),
}
VARIATION_COUNT = 3
CORRIDOR = "corridor"
CEILING, LINTEL = 2.6, 2.1  # [m], height of rooms and of doors
WALL = 0.1  # [m], thickness of inner and outer walls
DOOR, OPENING = 0.9, 1.8  # [m], width of doors and of wide openings
AIR = 0.3  # [m], radius of a disc that must get everywhere: passages are 0.6 m wide
STRANDED = 0.5  # [m^2], of floor that a piece of furniture may cut off
_YAWS = {"S": math.pi / 2, "N": -math.pi / 2, "W": 0.0, "E": math.pi}

Rect = tuple[float, float, float, float]  # x_min, y_min, x_max, y_max


class Plan:
    """The division of a floor: rooms, and walls with doors between them.

    Attributes:
        size: Of the floor [m].
        rooms: Named rectangles, which meet in the middle of their walls.
        walls: Stretches of inner wall (x_min, y_min, x_max, y_max) [m].
        lintels: What lies over the doors, likewise.
    """

    def __init__(self, layout: int) -> None:
        """Draw the layout of that number; redrawn until every room has a way to every other."""
        for attempt in range(100):
            rng = np.random.default_rng([2718, layout, attempt])
            self.size, rects = _divide(rng)
            names = [CORRIDOR if corridor else f"room_{i}" for i, (_, corridor) in enumerate(rects)]
            self.rooms = {name: rect for name, (rect, _) in zip(names, rects, strict=True)}
            self.walls: list[Rect] = []
            self.lintels: list[Rect] = []
            if self._build(rng):
                return
        raise RuntimeError(f"no way between the rooms of layout {layout}")

    def _build(self, rng: np.random.Generator) -> bool:
        """Walls and doors; False if some room cannot have a door."""
        shared = {
            (a, b): stretch
            for a, b in combinations(self.rooms, 2)
            if (stretch := _shared(self.rooms[a], self.rooms[b])) is not None
        }
        doors = _choose_doors(shared, list(self.rooms), rng)
        for pair, (axis, at, start, end) in shared.items():
            gaps = []
            if pair in doors:
                roomy = end - start > OPENING + 0.8 and CORRIDOR not in pair
                width = OPENING if roomy and rng.random() < 0.3 else DOOR
                low = float(rng.uniform(start + 0.15, end - 0.15 - width))
                gaps.append((low, low + width))
                self.lintels.append(_stretch(axis, at, low, low + width))
            for low, high in _outside(start - WALL / 2, end + WALL / 2, gaps):
                self.walls.append(_stretch(axis, at, low, high))
        return len(_connected(doors, next(iter(self.rooms)))) == len(self.rooms)


def _divide(rng: np.random.Generator) -> tuple[tuple[float, float], list[tuple[Rect, bool]]]:
    """Size of a floor [m], and its rooms with whether each is a corridor."""
    count = int(rng.integers(3, 9))
    if count >= 4 and rng.random() < 0.8:
        lower, upper = (float(depth) for depth in rng.uniform(3.2, 4.6, 2))
        width = (count + 1) // 2 * float(rng.uniform(3.3, 4.2))
        corridor = float(rng.uniform(1.3, 1.6))
        top = lower + corridor + upper
        rooms = [((0.0, lower, width, lower + corridor), True)]
        for number, y0, y1 in ((count // 2, 0.0, lower), (count - count // 2, top - upper, top)):
            edges = np.linspace(0.0, width, number + 1)
            edges[1:-1] += rng.uniform(-0.5, 0.5, number - 1)
            ends = edges.tolist()
            rooms += [((x0, y0, x1, y1), False) for x0, x1 in pairwise(ends)]
        return (width, top), rooms
    area = count * float(rng.uniform(13.0, 18.0))
    width = math.sqrt(area * float(rng.uniform(1.0, 1.5)))
    rects: list[Rect] = [(0.0, 0.0, width, area / width)]
    while len(rects) < count:
        rects.sort(key=lambda r: (r[2] - r[0]) * (r[3] - r[1]))
        x0, y0, x1, y1 = rects.pop()
        share = float(rng.uniform(0.4, 0.6))
        if x1 - x0 > y1 - y0:
            x = x0 + share * (x1 - x0)
            rects += [(x0, y0, x, y1), (x, y0, x1, y1)]
        else:
            y = y0 + share * (y1 - y0)
            rects += [(x0, y0, x1, y), (x0, y, x1, y1)]
    return (width, area / width), [(rect, False) for rect in rects]


def _shared(a: Rect, b: Rect) -> tuple[str, float, float, float] | None:
    """The wall between two rooms: the axis along which it runs, where it is, start and end."""
    for axis, across, along in (("y", 0, 1), ("x", 1, 0)):
        for first, second in ((a, b), (b, a)):
            if abs(first[across + 2] - second[across]) < 1e-6:
                start = max(first[along], second[along])
                end = min(first[along + 2], second[along + 2])
                if end - start > 1e-6:
                    return axis, first[across + 2], start, end
    return None


def _choose_doors(
    shared: dict[tuple[str, str], tuple[str, float, float, float]],
    rooms: list[str],
    rng: np.random.Generator,
) -> set[tuple[str, str]]:
    """A tree of doors over all rooms, with those to the corridor first, and a few more."""
    wide = [pair for pair, (_, _, start, end) in shared.items() if end - start > DOOR + 0.4]
    order = sorted(wide, key=lambda pair: (CORRIDOR not in pair) + float(rng.random()) * 0.9)
    group = {room: room for room in rooms}
    doors = set()
    for a, b in order:
        if group[a] != group[b]:
            old = group[b]
            group.update({room: group[a] for room, root in group.items() if root == old})
            doors.add((a, b))
        elif rng.random() < 0.25:
            doors.add((a, b))
    return doors


def _connected(doors: set[tuple[str, str]], first: str) -> set[str]:
    """The rooms that can be reached from one."""
    found, new = set(), {first}
    while new:
        found |= new
        new = {b for pair in doors for a, b in (pair, pair[::-1]) if a in found} - found
    return found


def _stretch(axis: str, at: float, start: float, end: float) -> Rect:
    """A piece of wall."""
    half = WALL / 2
    if axis == "x":
        return start, at - half, end, at + half
    return at - half, start, at + half, end


def _outside(
    start: float, end: float, gaps: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """What is left of a stretch without at most one gap."""
    if not gaps:
        return [(start, end)]
    low, high = gaps[0]
    return [(start, low), (high, end)]


class Furnisher:
    """Builds one floor.

    Attributes:
        solids: All geometry.
        rooms: Named rectangles.
        size: Of the floor [m].
    """

    def __init__(self, layout: int, variation: int) -> None:
        """Build and furnish variation `variation` of layout `layout`."""
        plan = Plan(layout)
        self.rng = np.random.default_rng([3141, layout, variation])
        self.size = plan.size
        self.palette = palette_of(layout % 5, variation + layout)
        flips = bool(variation & 1), bool(self.rng.integers(2))
        walls, lintels = (
            [_flip(r, self.size, *flips) for r in rs] for rs in (plan.walls, plan.lintels)
        )
        self.rooms = {name: _flip(r, self.size, *flips) for name, r in plan.rooms.items()}
        self.solids: list[Solid] = []
        self.counts: Counter[str] = Counter()  # pieces so far by the name of their kind
        self._shell()
        for rect in walls:
            self._slab(rect, (0.0, CEILING), self.palette.wall, 2)
        for rect in lintels:
            self._slab(rect, (LINTEL, CEILING), self.palette.wall, 2)
        self.footprints: list[Box2] = [_flat(rect) for rect in walls]
        self.grid = FloorGrid(self.size, self.footprints, AIR)
        self._furnish()

    def _slab(self, rect: Rect, z: tuple[float, float], color: Color, group: int) -> None:
        x0, y0, x1, y1 = rect
        self.solids.append(pieces.box((x0, x1), (y0, y1), z, color, z[1] > 0.0, group))

    def _shell(self) -> None:
        """Outer walls, floor and ceiling."""
        width, depth = self.size
        wall, accent = self.palette.wall, self.palette.accent_wall
        high = (0.0, CEILING)
        self._slab((-WALL, -WALL, width + WALL, 0.0), high, accent, 2)
        self._slab((-WALL, depth, width + WALL, depth + WALL), high, wall, 2)
        self._slab((-WALL, 0.0, 0.0, depth), high, wall, 2)
        self._slab((width, 0.0, width + WALL, depth), high, wall, 2)
        self._slab((0.0, 0.0, width, depth), (-0.03, 0.0), self.palette.floor, 0)
        self._slab((0.0, 0.0, width, depth), (CEILING, CEILING + 0.05), self.palette.white, 3)

    def _furnish(self) -> None:
        rooms = [name for name in self.rooms if name != CORRIDOR]
        area = {name: _area(self.rooms[name]) for name in rooms}
        rooms.sort(key=lambda name: -area[name])
        for index, name in enumerate(rooms):
            later = LATER_KINDS[int(self.rng.integers(len(LATER_KINDS)))]
            kind = FIRST_KINDS[index] if index < len(FIRST_KINDS) else later
            for piece, at_wall in kind(self.palette, self.rng):
                self._place(piece, self.rooms[name], at_wall)

    def _place(self, piece: Piece, room: Rect, at_wall: bool, tries: int = 15) -> bool:
        """Put a piece somewhere in a room, or leave it out."""
        gap = WALL / 2 + 0.01
        x0, y0, x1, y1 = inner = (room[0] + gap, room[1] + gap, room[2] - gap, room[3] - gap)
        for _ in range(tries):
            side = "SNWE"[int(self.rng.integers(4))]
            x, y = float(self.rng.uniform(x0, x1)), float(self.rng.uniform(y0, y1))
            if at_wall:
                x, y = {"S": (x, y0), "N": (x, y1), "W": (x0, y), "E": (x1, y)}[side]
            moved = piece.moved(x, y, _YAWS[side])
            flats = moved.footprints()
            if all(inside(f, inner) for f in flats) and not any(
                overlap(f, other, 0.02) for f in flats for other in self.footprints
            ):
                before = self.grid.free.copy()
                for flat in flats:
                    self.grid.add(flat)
                if self._all_reachable():
                    self.footprints += flats
                    self._add(moved)
                    return True
                self.grid.free = before
        return False

    def _add(self, piece: Piece) -> None:
        """Take the solids of a piece, under a name of its own in this building."""
        kind = piece.name.rstrip("_0123456789")
        self.counts[kind] += 1
        part = f"{kind}_{self.counts[kind]:02d}"
        self.solids += [replace(solid, part=part) for solid in piece.solids]

    def _all_reachable(self) -> bool:
        """Whether a disc with some air gets nearly everywhere where it fits."""
        stranded = self.grid.free & ~self.grid.main_component()
        return stranded.sum() * CELL**2 <= STRANDED


def _flip(rect: Rect, size: tuple[float, float], flip_x: bool, flip_y: bool) -> Rect:
    x0, y0, x1, y1 = rect
    if flip_x:
        x0, x1 = size[0] - x1, size[0] - x0
    if flip_y:
        y0, y1 = size[1] - y1, size[1] - y0
    return x0, y0, x1, y1


def _flat(rect: Rect) -> Box2:
    x0, y0, x1, y1 = rect
    return (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, 0.0


def _area(rect: Rect) -> float:
    return (rect[2] - rect[0]) * (rect[3] - rect[1])


Furniture = list[tuple[Piece, bool]]  # pieces, and whether each stands against a wall
RoomKind = Callable[[Palette, np.random.Generator], Furniture]


def _living(p: Palette, rng: np.random.Generator) -> Furniture:
    return [
        (furniture.sofa(p, float(rng.uniform(1.8, 2.4)), 0), True),
        (furniture.tv_stand(p, float(rng.uniform(1.3, 1.8)), 0.5, 1.1), True),
        (furniture.coffee_table(p, 0.6, 1.0, 0.42), False),
        (furniture.armchair(p, "armchair", p.cushion), False),
        (furniture.bookcase(p, "bookcase", 0.9, 1.9, (p.cushion, p.rug)), True),
        (decoration.plant(p, "plant", 1.2), False),
    ]


def _kitchen(p: Palette, rng: np.random.Generator) -> Furniture:
    counters = [(furniture.counter(p, f"counter_{i}", 0.9, i == 0, i == 1), True) for i in range(3)]
    return [
        *counters,
        (furniture.pantry(p, 0.7), True),
        (furniture.dining_table(p, float(rng.uniform(1.2, 1.7)), 0.85, 0.74, 1), False),
        *((furniture.chair(p, f"chair_{i}", p.cushion), False) for i in range(2)),
    ]


def _bedroom(p: Palette, rng: np.random.Generator) -> Furniture:
    return [
        (furniture.bed(p, float(rng.uniform(1.0, 1.8))), True),
        (furniture.wardrobe(p, float(rng.uniform(1.2, 1.8))), True),
        (furniture.dresser(p, 1.0), True),
        (furniture.nightstand(p, "nightstand", True), True),
    ]


def _study(p: Palette, rng: np.random.Generator) -> Furniture:
    return [
        (furniture.desk(p, float(rng.uniform(1.2, 1.6))), True),
        *(
            (furniture.bookcase(p, f"case_{i}", 0.8, 1.8, (p.rug, p.fabric)), True)
            for i in range(2)
        ),
        (furniture.office_chair(p), False),
        (decoration.floor_lamp(p, "lamp"), False),
    ]


def _bath(p: Palette, rng: np.random.Generator) -> Furniture:
    del rng
    fittings = (furniture.bathtub(p), furniture.toilet(p), furniture.washbasin(p))
    return [(piece, True) for piece in fittings]


# What the largest room is, then the next; the others are drawn.
FIRST_KINDS: tuple[RoomKind, ...] = (_living, _kitchen)
LATER_KINDS: tuple[RoomKind, ...] = (_bedroom, _study, _bath)
