"""Join the rooms of a division: doors, wide openings and walls, and where furniture may go.

Nobody goes through a kitchen, a bath or a bedroom to another room, but to the bath that belongs to the bedroom.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rearrange.scenes.floor_plans import FloorPlan, InnerWall, Rect, Spot
from rearrange.scenes.plans.division import DAY_ROOMS, Division
from rearrange.scenes.plans.strips import UnfitPlanError

DOOR, BATH_DOOR = 1.08, 1.05  # [m], width of doors
BESIDE_DOOR = 0.16  # [m], from a door to the next corner, at least
KITCHEN_OVERHANG = 1.9  # [m], by which the kitchen line may reach into the room beside the kitchen
KITCHEN_LINE = 4.65  # [m], shortest wall for the line without the cabinet
# [m], shortest walls for the legs of a line around a corner, fridge first, with one or two units beside it
KITCHEN_LEGS = ((3.05, 2.6), (3.8, 1.85))
NEXT_CLOCKWISE = {"W": "N", "N": "E", "E": "S", "S": "W"}  # where the second leg stands
MOUTH = 0.9  # [m], free before the open end of a hall or corridor
CABINET_WALL = 1.1  # [m], likewise for the cabinet
FROM_WALL, FROM_OPEN = 0.95, 0.3  # [m], of the middle of the dining table from walls and open sides
SIDES = {"S": (1, 0), "N": (3, 0), "W": (0, 1), "E": (2, 1)}  # index of the side, axis along it
# Through which rooms one gets to a private one, the best first
WAYS = ("corridor", "hall", "living", "dining")


@dataclass(frozen=True)
class Border:
    """Where two rooms meet.

    Attributes:
        axis: "x": along x at y = `at`; "y": along y at x = `at`.
        at: Coordinate [m].
        start: Where it begins [m].
        end: Where it ends [m].
    """

    axis: str
    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """[m]."""
        return self.end - self.start


@dataclass
class Joined:
    """How rooms are joined: openings by border, and the pairs that have no wall between them."""

    borders: dict[frozenset[str], Border]
    openings: dict[frozenset[str], tuple[float, float, bool]]
    open: set[frozenset[str]]


def join(division: Division, rng: np.random.Generator) -> FloorPlan:
    """The plan of a division; raises UnfitPlanError with the reason if there is none."""
    rooms = division.rooms
    borders = {
        frozenset(pair): border
        for pair in combinations(rooms, 2)
        if (border := border_of(rooms[pair[0]], rooms[pair[1]])) is not None
    }
    joined = Joined(borders, {}, set())
    _join_day_rooms(joined, rng)
    for name in ("hall", "corridor"):
        if name in rooms:
            _join_passage(name, joined, rng)
    for name in rooms:
        if name not in (*DAY_ROOMS, "hall", "corridor"):
            _join_private(name, joined, division.studio, rng)
    kitchen = _kitchen_spots(rooms, joined, KITCHEN_LINE)
    corners = _kitchen_corners(_kitchen_spots(rooms, joined, min(KITCHEN_LEGS[1])))
    if not kitchen and not corners:
        raise UnfitPlanError("no wall long enough for the kitchen line")
    cabinet = [s for n in ("kitchen", "dining") for s in free_spots(n, rooms, joined, CABINET_WALL)]
    television = free_spots("living", rooms, joined, 2.4)
    if not television:
        raise UnfitPlanError("no wall for the television")
    doors = _front_doors(division, joined)
    return FloorPlan(
        size=division.size,
        rooms=rooms,
        walls=tuple(_walls(division, joined)),
        kitchen=tuple(kitchen),
        kitchen_corners=tuple(corners),
        cabinet=tuple(cabinet),
        cabinet_in_line=True,
        television=tuple(television),
        dining=(_dining_place(rooms, joined),),
        doors=tuple(doors),
        voids=division.voids,
        mouths=tuple(_mouths(joined)),
    )


def border_of(a: Rect, b: Rect) -> Border | None:
    """Where two rectangles meet, if they share more than a corner."""
    for axis, across, along in (("y", 0, 1), ("x", 1, 0)):
        for first, second in ((a, b), (b, a)):
            if abs(first[across + 2] - second[across]) < 1e-6:
                start, end = (
                    max(first[along], second[along]),
                    min(first[along + 2], second[along + 2]),
                )
                if end - start > 1e-6:
                    return Border(axis, first[across + 2], start, end)
    return None


def _join_day_rooms(joined: Joined, rng: np.random.Generator) -> None:
    """Open to each other, or kitchen or living room behind a wide opening."""
    apart = str(rng.choice(("", "kitchen", "living"), p=(0.45, 0.33, 0.22)))
    for a, b in combinations(DAY_ROOMS, 2):
        pair = frozenset((a, b))
        if pair not in joined.borders:
            continue
        if apart not in pair:
            joined.open.add(pair)
        elif "dining" in pair:
            _open_wide(pair, joined, float(rng.uniform(1.3, 2.0)), rng)
    if frozenset(("kitchen", "dining")) not in joined.borders:
        raise UnfitPlanError("kitchen away from the dining place")


def _join_passage(name: str, joined: Joined, rng: np.random.Generator) -> None:
    """A hall or corridor and a day room; where it only ends there, it is open."""
    for day in ("dining", "living"):  # nobody has to go through the kitchen
        pair = frozenset((name, day))
        border = joined.borders.get(pair)
        if border is None or border.length < 1.2:
            continue
        if border.length < 2.4:
            joined.open.add(pair)
        else:
            _open_wide(pair, joined, min(float(rng.uniform(1.3, 2.2)), border.length - 0.6), rng)
        if name == "hall" or day == "living" or rng.random() < 0.5:
            return
    if not any(name in pair for pair in (*joined.openings, *joined.open)):
        raise UnfitPlanError(f"no way from the {name} to the day rooms")


def _join_private(name: str, joined: Joined, studio: bool, rng: np.random.Generator) -> None:
    """A private room by a door, from where it is best entered; an alcove by an opening."""
    en_suite = name == "bath_2" and rng.random() < 0.8
    ways = ("bedroom", *WAYS) if en_suite else WAYS
    if studio and name == "bedroom":
        ways = ("living", "dining")
    for way in ways:
        pair = frozenset((name, way))
        border = joined.borders.get(pair)
        width = BATH_DOOR if name.startswith("bath") else DOOR
        if border is None or border.length < width + 2 * BESIDE_DOOR:
            continue
        if studio and name == "bedroom":
            if border.length < 2.0:
                continue
            _open_wide(pair, joined, min(border.length - 0.4, float(rng.uniform(1.7, 2.4))), rng)
            return
        slack = border.length - width - 2 * BESIDE_DOOR
        # Near one end, so that the longer part of the wall is left for furniture
        shift = min(float(rng.exponential(0.25)), slack) if slack > 0 else 0.0
        start = border.start + BESIDE_DOOR + (shift if rng.random() < 0.5 else slack - shift)
        joined.openings[pair] = (start, start + width, True)
        return
    raise UnfitPlanError(f"no way to the {name.split('_')[0]}")


def _open_wide(
    pair: frozenset[str], joined: Joined, width: float, rng: np.random.Generator
) -> None:
    """An opening in the wall between two rooms, with a lintel or without."""
    border = joined.borders[pair]
    width = min(width, border.length - 0.3)
    if width < 1.2:
        raise UnfitPlanError("rooms meet in too short a wall for an opening")
    start = border.start + 0.15 + float(rng.uniform(0.0, border.length - 0.3 - width))
    joined.openings[pair] = (start, start + width, bool(width < 1.8 or rng.random() < 0.5))


def _walls(division: Division, joined: Joined) -> list[InnerWall]:
    """Walls where rooms meet, those in line joined to one; and the walls to what lies outside."""
    walls = []
    for pair, border in joined.borders.items():
        if pair in joined.open:
            continue
        gaps = (joined.openings[pair],) if pair in joined.openings else ()
        walls.append(InnerWall(border.axis, border.at, border.start, border.end, gaps))
    walls.sort(key=lambda w: (w.axis, w.at, w.start))
    merged: list[InnerWall] = []
    for wall in walls:
        last = merged[-1] if merged else None
        if (
            last
            and (last.axis, wall.start) == (wall.axis, last.end)
            and abs(last.at - wall.at) < 1e-6
        ):
            merged[-1] = InnerWall(
                wall.axis, wall.at, last.start, wall.end, last.openings + wall.openings
            )
        else:
            merged.append(wall)
    for void in division.voids:
        for rect in division.rooms.values():
            border = border_of(void, rect)
            if border is not None:
                merged.append(InnerWall(border.axis, border.at, border.start, border.end))
    return merged


def free_spots(name: str, rooms: dict[str, Rect], joined: Joined, least: float = 0.5) -> list[Spot]:
    """The stretches of wall of a room between doors and open sides."""
    rect = rooms[name]
    spots = []
    for side, (index, along) in SIDES.items():
        gaps = []
        for pair, border in joined.borders.items():
            if (
                name not in pair
                or abs(border.at - rect[index]) > 1e-6
                or (border.axis == "x") != (along == 0)
            ):
                continue
            if pair in joined.open:
                gaps.append((border.start, border.end))
            elif pair in joined.openings:
                gaps.append(joined.openings[pair][:2])
        low, end = rect[along], rect[along + 2]
        for start, stop in (*sorted(gaps), (end, end)):
            if start - low >= least:
                spots.append(Spot(_span(rect, along, low, start), side))
            low = max(low, stop)
    return spots


def _span(rect: Rect, along: int, low: float, high: float) -> Rect:
    """A rectangle cut to a span of x (along = 0) or y."""
    return (low, rect[1], high, rect[3]) if along == 0 else (rect[0], low, rect[2], high)


def _dining_place(rooms: dict[str, Rect], joined: Joined) -> Rect:
    """Where the middle of the table may be: farther from walls than from open sides."""
    rect = rooms["dining"]
    free = [rect[0], rect[1], rect[2], rect[3]]
    for side, (index, along) in SIDES.items():
        walled = sum(
            _length(s, along) for s in free_spots("dining", rooms, joined) if s.side == side
        )
        inset = FROM_WALL if walled > 0.5 * (rect[along + 2] - rect[along]) else FROM_OPEN
        free[index] += inset if index < 2 else -inset
    for i in (0, 1):
        if free[i] > free[i + 2]:
            free[i] = free[i + 2] = (rect[i] + rect[i + 2]) / 2
    return free[0], free[1], free[2], free[3]


def _length(spot: Spot, along: int) -> float:
    return spot.rect[along + 2] - spot.rect[along]


def _kitchen_spots(rooms: dict[str, Rect], joined: Joined, least: float) -> list[Spot]:
    """Walls of the kitchen for its line, where it is open with what they have beyond it in line."""
    beyond = [
        spot
        for name in ("dining", "living")
        if frozenset((name, "kitchen")) in joined.open
        for spot in free_spots(name, rooms, joined, 0.2)
    ]
    spots = []
    for spot in free_spots("kitchen", rooms, joined):
        index, along = SIDES[spot.side]
        low, high = spot.rect[along], spot.rect[along + 2]
        for other in beyond:
            if other.side != spot.side or abs(other.rect[index] - spot.rect[index]) > 1e-6:
                continue
            start, end = other.rect[along], other.rect[along + 2]
            if abs(start - high) < 1e-6:
                high = min(end, high + KITCHEN_OVERHANG)
            elif abs(end - low) < 1e-6:
                low = max(start, low - KITCHEN_OVERHANG)
        if high - low >= least:
            spots.append(Spot(_span(spot.rect, along, low, high), spot.side))
    return spots


def _kitchen_corners(walls: list[Spot]) -> list[tuple[Spot, Spot]]:
    """Pairs of walls that meet, the first for the fridge: its worktops lead clockwise to the second."""
    corners = []
    for first in walls:
        for second in walls:
            if second.side != NEXT_CLOCKWISE[first.side]:
                continue
            (i, a), (j, b) = SIDES[first.side], SIDES[second.side]
            long_enough = any(
                _length(first, a) >= legs[0] and _length(second, b) >= legs[1]
                for legs in KITCHEN_LEGS
            )
            meet = abs(first.rect[j] - second.rect[j]) + abs(first.rect[i] - second.rect[i])
            if long_enough and meet < 1e-6:
                corners.append((first, second))
    return corners


def _mouths(joined: Joined) -> list[Rect]:
    """The floor around the open ends of halls and corridors."""
    return [
        (border.start, border.at - MOUTH, border.end, border.at + MOUTH)
        if border.axis == "x"
        else (border.at - MOUTH, border.start, border.at + MOUTH, border.end)
        for pair, border in joined.borders.items()
        if pair in joined.open and pair & {"hall", "corridor"}
    ]


def _front_doors(division: Division, joined: Joined) -> list[Spot]:
    """Stretches of outer wall for the front door: of the corridor, else of the hall, else of day rooms."""
    rooms, (width, depth) = division.rooms, division.size
    bounds = (0.0, 0.0, width, depth)
    outer: dict[str, list[Spot]] = {}
    for name in ("corridor", "hall", "dining", "kitchen", "living"):
        if name in rooms:
            outer[name] = [
                spot
                for spot in free_spots(name, rooms, joined, 1.22)
                if abs(spot.rect[SIDES[spot.side][0]] - bounds[SIDES[spot.side][0]]) < 1e-6
            ]
    for name in ("hall", "corridor", "dining", "living", "kitchen"):
        if outer.get(name):
            return outer[name]
    raise UnfitPlanError("no outer wall for the front door")
