"""The macro layouts: rooms, walls with door openings, and where groups of furniture may go.

Nominal coordinates of a 10 x 8 m apartment, x to the right and y up; `FloorPlan.stretched` resizes
and mirrors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Rect = tuple[float, float, float, float]  # x_min, y_min, x_max, y_max
WALL_THICKNESS = 0.10


@dataclass(frozen=True)
class InnerWall:
    """A straight inner wall along one axis.

    Attributes:
        axis: "x": runs along x at y = `at`; "y": runs along y at x = `at`.
        at: Coordinate of its middle plane [m].
        start: Where it begins [m].
        end: Where it ends [m].
        openings: Openings as (start, end, has a lintel).
    """

    axis: str
    at: float
    start: float
    end: float
    openings: tuple[tuple[float, float, bool], ...] = ()


@dataclass(frozen=True)
class Spot:
    """A stretch of wall for a group of furniture: the wall on `side` (N, E, S, W) of `rect`."""

    rect: Rect
    side: str


@dataclass(frozen=True)
class FloorPlan:
    """One macro layout.

    Attributes:
        size: Inner size of the building [m].
        rooms: Named rectangles; open-plan rooms are named by what they are used for.
        walls: Inner walls.
        kitchen: Where the kitchen line may stand.
        cabinet: Where the cabinet may stand when it is not part of the line.
        cabinet_in_line: Whether the line may contain the cabinet.
        television: Where the TV stand, and with it the living room, may go.
        dining: Where the middle of the dining table may be, per choice.
        doors: Where the front door may be.
        voids: What of the rectangle around the rooms lies outside the building.
        kitchen_corners: Pairs of walls that meet, for a kitchen line in L; the fridge on the first.
        mouths: Floor that stays free where a hall or corridor opens into a room.
    """

    size: tuple[float, float]
    rooms: dict[str, Rect]
    walls: tuple[InnerWall, ...]
    kitchen: tuple[Spot, ...]
    cabinet: tuple[Spot, ...]
    cabinet_in_line: bool
    television: tuple[Spot, ...]
    dining: tuple[Rect, ...]
    doors: tuple[Spot, ...]
    voids: tuple[Rect, ...] = ()
    kitchen_corners: tuple[tuple[Spot, Spot], ...] = ()
    mouths: tuple[Rect, ...] = ()

    def stretched(self, sx: float, sy: float, mirror_x: bool, mirror_y: bool) -> FloorPlan:
        """The plan resized by (sx, sy) and mirrored."""
        width, depth = self.size[0] * sx, self.size[1] * sy

        def fx(x: float) -> float:
            return width - x * sx if mirror_x else x * sx

        def fy(y: float) -> float:
            return depth - y * sy if mirror_y else y * sy

        def rect(r: Rect) -> Rect:
            x0, x1 = sorted((fx(r[0]), fx(r[2])))
            y0, y1 = sorted((fy(r[1]), fy(r[3])))
            return (x0, y0, x1, y1)

        def spot(s: Spot) -> Spot:
            side = s.side
            if mirror_x:
                side = {"E": "W", "W": "E"}.get(side, side)
            if mirror_y:
                side = {"N": "S", "S": "N"}.get(side, side)
            return Spot(rect(s.rect), side)

        def wall(w: InnerWall) -> InnerWall:
            along, across = (fx, fy) if w.axis == "x" else (fy, fx)
            start, end = sorted((along(w.start), along(w.end)))
            # Openings keep their nominal width: only their middle moves.
            openings = []
            for a, b, lintel in w.openings:
                middle, half = along((a + b) / 2), (b - a) / 2
                openings.append((middle - half, middle + half, lintel))
            return InnerWall(w.axis, across(w.at), start, end, tuple(sorted(openings)))

        return replace(
            self,
            size=(width, depth),
            rooms={name: rect(r) for name, r in self.rooms.items()},
            walls=tuple(wall(w) for w in self.walls),
            kitchen=tuple(spot(s) for s in self.kitchen),
            cabinet=tuple(spot(s) for s in self.cabinet),
            television=tuple(spot(s) for s in self.television),
            dining=tuple(rect(r) for r in self.dining),
            doors=tuple(spot(s) for s in self.doors),
        )


# 0: open plan in the west, bedroom and study in a column in the east.
_LAYOUT_0 = FloorPlan(
    size=(10.0, 8.0),
    rooms={
        "kitchen": (0.0, 0.0, 6.0, 2.6),
        "dining": (0.0, 2.6, 6.0, 4.2),
        "living": (0.0, 4.2, 6.0, 8.0),
        "bedroom": (6.0, 4.2, 10.0, 8.0),
        "study": (6.0, 0.0, 10.0, 4.2),
    },
    walls=(
        InnerWall("y", 6.0, 0.0, 8.0, ((2.4, 3.5, True), (4.8, 5.9, True))),
        InnerWall("x", 4.2, 6.0, 10.0),
    ),
    kitchen=(Spot((0.0, 0.0, 6.0, 2.6), "S"),),
    cabinet=(Spot((0.0, 1.0, 6.0, 4.2), "W"),),
    cabinet_in_line=True,
    television=(Spot((0.0, 4.4, 6.0, 8.0), "W"), Spot((0.6, 3.4, 5.0, 8.0), "N")),
    dining=((1.0, 2.7, 4.6, 3.7),),
    doors=(Spot((4.4, 6.0, 6.0, 8.0), "N"), Spot((0.0, 2.2, 4.0, 4.4), "W")),
)

# 1: bedroom and bath in the north-west, an L-shaped open plan around them.
_LAYOUT_1 = FloorPlan(
    size=(10.0, 8.0),
    rooms={
        "living": (0.0, 0.0, 5.6, 4.3),
        "dining": (5.6, 0.0, 10.0, 3.6),
        "kitchen": (6.5, 3.6, 10.0, 8.0),
        "bedroom": (0.0, 4.3, 4.2, 8.0),
        "bath": (4.2, 5.3, 6.5, 8.0),
    },
    walls=(
        InnerWall("x", 4.3, 0.0, 4.2, ((2.5, 3.6, True),)),
        InnerWall("y", 4.2, 4.3, 8.0),
        InnerWall("x", 5.3, 4.2, 6.5, ((4.8, 5.85, True),)),
        InnerWall("y", 6.5, 5.3, 8.0),
    ),
    kitchen=(Spot((6.5, 3.0, 10.0, 8.0), "E"),),
    cabinet=(Spot((6.5, 4.0, 8.6, 8.0), "N"), Spot((5.6, 0.0, 10.0, 2.6), "E")),
    cabinet_in_line=True,
    television=(Spot((0.0, 0.0, 5.6, 4.3), "W"), Spot((0.4, 0.0, 5.0, 4.3), "S")),
    dining=((6.2, 1.2, 8.4, 3.0),),
    doors=(Spot((5.0, 0.0, 7.4, 2.0), "S"), Spot((6.5, 6.0, 8.0, 8.0), "N")),
)

# 2: living room in the north-west behind a wide opening, bedroom in the south-west, kitchen and
# dining east.
_LAYOUT_2 = FloorPlan(
    size=(10.0, 8.0),
    rooms={
        "bedroom": (0.0, 0.0, 4.0, 3.7),
        "hall": (4.0, 0.0, 5.6, 3.7),
        "living": (0.0, 3.7, 5.4, 8.0),
        "dining": (5.6, 0.0, 10.0, 3.7),
        "kitchen": (5.4, 3.7, 10.0, 8.0),
    },
    walls=(
        InnerWall("y", 4.0, 0.0, 3.7, ((2.1, 3.2, True),)),
        InnerWall("x", 3.7, 0.0, 4.0),
        InnerWall("y", 5.4, 6.4, 8.0),
    ),
    kitchen=(Spot((5.4, 3.2, 10.0, 8.0), "E"), Spot((5.4, 2.2, 10.0, 7.0), "E")),
    cabinet=(Spot((5.4, 4.0, 10.0, 8.0), "N"), Spot((5.6, 0.0, 10.0, 2.4), "E")),
    cabinet_in_line=True,
    television=(Spot((0.0, 3.7, 5.4, 8.0), "W"), Spot((0.0, 3.7, 4.2, 8.0), "S")),
    dining=((6.3, 1.2, 8.6, 3.4),),
    doors=(Spot((4.0, 0.0, 5.6, 3.0), "S"),),
)

# 3 (validation): bedroom in the middle of the south, study south-east, kitchen along the west.
_LAYOUT_3 = FloorPlan(
    size=(10.0, 8.0),
    rooms={
        "kitchen": (0.0, 0.0, 3.2, 5.0),
        "dining": (0.0, 5.0, 5.2, 8.0),
        "living": (5.2, 3.8, 10.0, 8.0),
        "bedroom": (3.2, 0.0, 7.0, 3.8),
        "study": (7.0, 0.0, 10.0, 3.4),
    },
    walls=(
        InnerWall("y", 3.2, 0.0, 3.8),
        InnerWall("x", 3.8, 3.2, 7.0, ((3.5, 4.6, True),)),
        InnerWall("y", 7.0, 0.0, 3.8),
        InnerWall("x", 3.4, 7.0, 10.0, ((7.2, 8.3, True),)),
    ),
    kitchen=(Spot((0.0, 0.0, 3.2, 5.0), "W"), Spot((0.0, 0.6, 3.2, 6.0), "W")),
    cabinet=(Spot((0.0, 0.0, 3.2, 3.8), "E"), Spot((0.0, 5.5, 5.0, 8.0), "N")),
    cabinet_in_line=True,
    television=(Spot((5.0, 4.0, 10.0, 8.0), "E"),),
    dining=((2.4, 5.4, 4.4, 6.8),),
    doors=(Spot((3.4, 5.0, 6.4, 8.0), "N"), Spot((1.0, 0.0, 3.2, 2.0), "S")),
)

# 4 (test): half-closed kitchen in the south-east, bedroom south-west, bath and hall between them.
_LAYOUT_4 = FloorPlan(
    size=(10.2, 8.2),
    rooms={
        "bedroom": (0.0, 0.0, 3.6, 4.2),
        "bath": (3.6, 0.0, 5.7, 2.3),
        "hall": (3.6, 2.3, 5.7, 4.2),
        "kitchen": (5.7, 0.0, 10.2, 4.2),
        "living": (0.0, 4.2, 5.4, 8.2),
        "dining": (5.4, 4.2, 10.2, 8.2),
    },
    walls=(
        InnerWall("y", 3.6, 0.0, 4.2),
        InnerWall("x", 4.2, 0.0, 3.6, ((2.3, 3.4, True),)),
        InnerWall("x", 2.3, 3.6, 5.7, ((4.1, 5.15, True),)),
        InnerWall("y", 5.7, 0.0, 4.2, ((2.6, 3.9, True),)),
        InnerWall("x", 4.2, 5.7, 10.2, ((6.5, 8.6, False),)),
    ),
    kitchen=(Spot((5.7, 0.0, 10.2, 4.2), "E"), Spot((5.7, 0.0, 10.2, 4.2), "S")),
    cabinet=(
        Spot((5.7, 0.0, 10.2, 4.2), "S"),
        Spot((5.7, 0.0, 10.2, 4.2), "W"),
        Spot((5.4, 4.2, 10.2, 8.2), "N"),
        Spot((5.4, 4.6, 10.2, 8.2), "E"),
    ),
    cabinet_in_line=False,
    television=(Spot((0.0, 4.4, 5.4, 8.2), "W"), Spot((0.4, 4.4, 5.4, 8.2), "N")),
    dining=((6.4, 5.8, 8.6, 6.9),),
    doors=(Spot((4.4, 5.0, 6.2, 8.2), "N"),),
)

# 5 to 10 (training): three plans were too few. A Navigate trained on 0 to 2 had 94 % in them, furnished as in
# training or not, and 87 % in 3.

# 5: bedroom, study and an empty room in a row along the south, an open plan in the north.
_LAYOUT_5 = FloorPlan(
    size=(10.0, 8.0),
    rooms={
        "living": (0.0, 3.2, 5.0, 8.0),
        "dining": (5.0, 3.2, 7.0, 8.0),
        "kitchen": (7.0, 3.2, 10.0, 8.0),
        "bedroom": (0.0, 0.0, 4.0, 3.2),
        "study": (4.0, 0.0, 7.2, 3.2),
        "hall": (7.2, 0.0, 10.0, 3.2),
    },
    walls=(
        InnerWall("x", 3.2, 0.0, 10.0, ((2.5, 3.6, True), (4.6, 5.7, True), (7.5, 8.55, True))),
        InnerWall("y", 4.0, 0.0, 3.2),
        InnerWall("y", 7.2, 0.0, 3.2),
    ),
    kitchen=(Spot((6.6, 3.2, 10.0, 8.0), "E"), Spot((5.0, 4.6, 10.0, 8.0), "N")),
    cabinet=(Spot((6.0, 4.0, 10.0, 8.0), "N"), Spot((6.6, 3.4, 10.0, 8.0), "E")),
    cabinet_in_line=False,
    television=(Spot((0.0, 3.2, 5.4, 8.0), "W"), Spot((0.0, 3.4, 4.6, 8.0), "N")),
    dining=((5.2, 4.8, 6.8, 6.4),),
    doors=(Spot((4.6, 5.4, 6.8, 8.0), "N"),),
)

# 6: bedroom north-west and study north-east with the dining table between them, the rest open in the south.
_LAYOUT_6 = FloorPlan(
    size=(10.4, 8.0),
    rooms={
        "kitchen": (0.0, 0.0, 5.2, 4.6),
        "living": (5.2, 0.0, 10.4, 4.6),
        "bedroom": (0.0, 4.6, 3.7, 8.0),
        "dining": (3.7, 4.6, 7.0, 8.0),
        "study": (7.0, 4.6, 10.4, 8.0),
    },
    walls=(
        InnerWall("y", 3.7, 4.6, 8.0),
        InnerWall("y", 7.0, 4.6, 8.0, ((4.9, 6.0, True),)),
        InnerWall("x", 4.6, 0.0, 3.7, ((2.3, 3.4, True),)),
        InnerWall("x", 4.6, 7.0, 10.4),
    ),
    kitchen=(Spot((0.0, 0.0, 5.4, 2.6), "S"), Spot((0.0, 0.0, 3.0, 4.6), "W")),
    cabinet=(Spot((0.0, 0.6, 4.0, 4.4), "W"), Spot((0.0, 0.0, 5.2, 2.6), "S")),
    cabinet_in_line=False,
    television=(Spot((5.2, 0.0, 10.4, 4.6), "E"),),
    dining=((4.8, 5.6, 5.8, 6.8),),
    doors=(Spot((3.9, 6.0, 6.8, 8.0), "N"), Spot((0.0, 2.0, 3.0, 4.4), "W")),
)

# 7: kitchen behind walls in the north-west, bedroom north-east, study south-east.
_LAYOUT_7 = FloorPlan(
    size=(10.2, 8.2),
    rooms={
        "living": (0.0, 0.0, 5.2, 4.6),
        "dining": (5.2, 0.0, 7.4, 4.6),
        "study": (7.4, 0.0, 10.2, 3.2),
        "kitchen": (0.0, 4.6, 5.4, 8.2),
        "bedroom": (5.4, 4.6, 10.2, 8.2),
    },
    walls=(
        InnerWall("x", 4.6, 0.0, 5.4, ((2.0, 3.5, False),)),
        InnerWall("y", 5.4, 4.6, 8.2),
        InnerWall("x", 4.6, 5.4, 10.2, ((5.8, 6.9, True),)),
        InnerWall("y", 7.4, 0.0, 3.2),
        InnerWall("x", 3.2, 7.4, 10.2, ((7.8, 8.9, True),)),
    ),
    kitchen=(Spot((0.0, 5.0, 5.4, 8.2), "N"),),
    cabinet=(Spot((0.0, 4.6, 3.0, 8.2), "W"), Spot((3.0, 4.6, 5.4, 7.4), "E")),
    cabinet_in_line=True,
    television=(Spot((0.0, 0.0, 5.2, 4.6), "W"),),
    dining=((5.4, 1.2, 6.4, 3.0),),
    doors=(Spot((4.6, 0.0, 7.0, 2.0), "S"), Spot((8.6, 3.2, 10.2, 4.6), "E")),
)

# 8: long and narrow; bath south-west, bedroom south-east, everything else along the north.
_LAYOUT_8 = FloorPlan(
    size=(11.8, 7.2),
    rooms={
        "bath": (0.0, 0.0, 2.7, 2.2),
        "living": (0.0, 2.2, 5.0, 7.2),
        "dining": (4.2, 0.0, 7.8, 3.6),
        "kitchen": (5.0, 3.6, 11.8, 7.2),
        "bedroom": (7.8, 0.0, 11.8, 3.5),
    },
    walls=(
        InnerWall("x", 2.2, 0.0, 2.7),
        InnerWall("y", 2.7, 0.0, 2.2, ((0.7, 1.75, True),)),
        InnerWall("y", 7.8, 0.0, 3.5),
        InnerWall("x", 3.5, 7.8, 11.8, ((8.3, 9.4, True),)),
    ),
    kitchen=(Spot((5.2, 4.4, 11.8, 7.2), "N"),),
    cabinet=(Spot((9.0, 3.6, 11.8, 7.2), "E"),),
    cabinet_in_line=True,
    television=(Spot((0.0, 2.2, 5.0, 7.2), "W"), Spot((0.0, 2.6, 4.4, 7.2), "N")),
    dining=((5.3, 1.0, 6.5, 2.4),),
    doors=(Spot((2.7, 0.0, 5.0, 2.0), "S"), Spot((10.0, 3.6, 11.8, 6.0), "E")),
)

# 9: a hall between bedroom and study in the north leads to the open plan in the south.
_LAYOUT_9 = FloorPlan(
    size=(10.4, 9.0),
    rooms={
        "living": (0.0, 0.0, 5.0, 5.2),
        "dining": (5.0, 0.0, 7.2, 5.2),
        "kitchen": (7.2, 0.0, 10.4, 5.6),
        "bedroom": (0.0, 5.2, 3.8, 9.0),
        "hall": (3.8, 5.2, 6.4, 9.0),
        "study": (6.4, 5.6, 10.4, 9.0),
    },
    walls=(
        InnerWall("y", 3.8, 5.2, 9.0, ((6.2, 7.3, True),)),
        InnerWall("x", 5.2, 0.0, 3.8),
        InnerWall("y", 6.4, 5.6, 9.0, ((7.4, 8.5, True),)),
        InnerWall("x", 5.6, 6.4, 10.4),
    ),
    kitchen=(Spot((7.0, 0.0, 10.4, 5.6), "E"),),
    cabinet=(Spot((7.2, 2.0, 10.4, 5.6), "N"),),
    cabinet_in_line=True,
    television=(Spot((0.0, 0.0, 5.0, 5.2), "W"), Spot((0.0, 0.0, 4.6, 5.0), "S")),
    dining=((5.6, 1.6, 6.6, 4.0),),
    doors=(Spot((3.8, 7.0, 6.4, 9.0), "N"), Spot((4.8, 0.0, 7.0, 2.0), "S")),
)

# 10: bedroom in the middle of the north between living room and kitchen, bath south-west.
_LAYOUT_10 = FloorPlan(
    size=(11.4, 7.8),
    rooms={
        "living": (0.0, 2.4, 4.2, 7.8),
        "bath": (0.0, 0.0, 2.6, 2.4),
        "dining": (4.2, 0.0, 8.0, 3.8),
        "bedroom": (4.2, 3.8, 7.8, 7.8),
        "kitchen": (7.8, 0.0, 11.4, 7.8),
    },
    walls=(
        InnerWall("y", 4.2, 3.8, 7.8),
        InnerWall("y", 7.8, 3.8, 7.8),
        InnerWall("x", 3.8, 4.2, 7.8, ((6.3, 7.4, True),)),
        InnerWall("x", 2.4, 0.0, 2.6, ((1.2, 2.25, True),)),
        InnerWall("y", 2.6, 0.0, 2.4),
    ),
    kitchen=(Spot((8.0, 1.6, 11.4, 7.8), "E"),),
    cabinet=(Spot((7.8, 4.2, 11.4, 7.8), "N"), Spot((8.6, 0.0, 11.4, 2.6), "S")),
    cabinet_in_line=True,
    television=(Spot((0.0, 2.8, 4.2, 7.8), "N"), Spot((0.0, 2.4, 4.6, 7.8), "W")),
    dining=((5.0, 1.0, 6.8, 2.2),),
    doors=(Spot((2.7, 0.0, 4.6, 2.0), "S"),),
)

FLOOR_PLANS = (
    _LAYOUT_0, _LAYOUT_1, _LAYOUT_2, _LAYOUT_3, _LAYOUT_4, _LAYOUT_5,
    _LAYOUT_6, _LAYOUT_7, _LAYOUT_8, _LAYOUT_9, _LAYOUT_10,
)  # fmt: skip
