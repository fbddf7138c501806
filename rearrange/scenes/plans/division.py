"""Divide a floor into rooms, from a random generator: day rooms, and strips of private rooms along them.

Rooms are rectangles that meet in the middle of their walls; those that are open to each other make L-shaped
spaces. Coordinates are metres, x to the right and y up; `Division.turned` gives the other seven ways round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rearrange.scenes.floor_plans import Rect
from rearrange.scenes.plans.strips import (
    NOOK,
    Lengths,
    UnfitPlanError,
    halves,
    least_strip,
    ordered_strip,
    strip_of,
)

DAY_ROOMS = ("living", "dining", "kitchen")
LIVING_LENGTH = (3.7, 5.0)  # [m], from television to sofa and around them
SHORTEST_ROW = 8.3  # [m], of living room, dining place and kitchen one after the other
STRIP = 11.8  # [m], longest strip of private rooms along a row of day rooms
WING = (2.9, 4.3)  # [m], depth of the rooms on either side of a corridor
DAYS = 8  # draws of the day rooms at the end of a corridor
CORRIDOR = (1.25, 1.5)  # [m], width
BEDROOM_CHANCES = (0.14, 0.32, 0.32, 0.22)  # of a studio, and of one to three bedrooms


@dataclass(frozen=True)
class Division:
    """Rooms, and what of the rectangle around them is outside.

    Attributes:
        rooms: By name; "bedroom_2" is the second bedroom.
        voids: Rectangles of the outline that belong to no room.
        studio: Whether the bed stands in an alcove without a door.
    """

    rooms: dict[str, Rect]
    voids: tuple[Rect, ...] = ()
    studio: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """Of the rectangle around all rooms, whose lower corner is the origin [m]."""
        return max(r[2] for r in self.rooms.values()), max(r[3] for r in self.rooms.values())

    def turned(self, swap: bool, flip_x: bool, flip_y: bool) -> Division:
        """The division with x and y exchanged, then mirrored."""
        width, depth = self.size[::-1] if swap else self.size

        def turn(r: Rect) -> Rect:
            x0, y0, x1, y1 = (r[1], r[0], r[3], r[2]) if swap else r
            x0, x1 = (width - x1, width - x0) if flip_x else (x0, x1)
            y0, y1 = (depth - y1, depth - y0) if flip_y else (y0, y1)
            return x0, y0, x1, y1

        rooms = {name: turn(rect) for name, rect in self.rooms.items()}
        return Division(rooms, tuple(map(turn, self.voids)), self.studio)


def divide(bedrooms: int, rng: np.random.Generator) -> Division:
    """A random division; raises UnfitPlanError where its lengths do not go together."""
    kinds = {
        0: (_beside,),
        1: (_beside, _beside, _corner),
        2: (_beside, _beside, _spine, _between),
        3: (_spine, _spine, _beside),
    }[bedrooms]
    division = kinds[int(rng.integers(len(kinds)))](bedrooms, Lengths(rng))
    return division.turned(*(bool(flip) for flip in rng.integers(0, 2, 3)))


def _private(bedrooms: int, rng: np.random.Generator) -> list[str]:
    """Names of the private rooms, the hall among them."""
    names = [*("bedroom", "bedroom_2", "bedroom_3")[: max(bedrooms, 1)], "bath"]
    if rng.random() < (0.0, 0.0, 0.3, 0.6)[bedrooms]:
        names.append("bath_2")
    if bedrooms in (1, 2) and rng.random() < 0.3:
        names.append("study")
    if rng.random() < 0.6:
        names.append("hall")
    return names


def _outside(rooms: dict[str, Rect], end: float, low: float, high: float) -> tuple[Rect, ...]:
    """What of a strip that should have reached to x = end lies outside."""
    last = max(r[2] for r in rooms.values())
    return ((last, low, end, high),) if end - last > 1e-6 else ()


def _day_row(width: float, depth: float, lengths: Lengths) -> dict[str, Rect]:
    """Living room, dining place and kitchen one after the other along x; kitchen on either end."""
    if width < SHORTEST_ROW:
        raise UnfitPlanError("day rooms too short for a row")
    rng = lengths.rng
    living = float(np.clip(rng.uniform(0.44, 0.50) * width, *LIVING_LENGTH))
    kitchen = float(np.clip(rng.uniform(0.27, 0.32) * width, 2.5, 3.3))
    a, b = living, width - kitchen
    rects = ((0.0, a), (a, b), (b, width))
    if rng.random() < 0.5:
        rects = tuple((width - end, width - start) for start, end in rects)
    return {
        name: (start, 0.0, end, depth) for name, (start, end) in zip(DAY_ROOMS, rects, strict=True)
    }


def _day_block(width: float, depth: float, lengths: Lengths) -> dict[str, Rect]:
    """Living room over the whole depth at one end along x, dining place and kitchen at the other."""
    rng = lengths.rng
    living = float(np.clip(rng.uniform(0.5, 0.58) * width, *LIVING_LENGTH))
    rest = width - living
    if depth < 4.7 or rest < 2.6:
        raise UnfitPlanError("day rooms too small for a block")
    cut = depth * float(rng.uniform(0.46, 0.54))
    lower, upper = (living, 0.0, width, cut), (living, cut, width, depth)
    kitchen, dining = (lower, upper) if rng.random() < 0.5 else (upper, lower)
    rooms = {"living": (0.0, 0.0, living, depth), "dining": dining, "kitchen": kitchen}
    if rng.random() < 0.5:
        rooms = {n: (width - r[2], r[1], width - r[0], r[3]) for n, r in rooms.items()}
    return rooms


def _beside(bedrooms: int, lengths: Lengths) -> Division:
    """Day rooms, and a strip of private rooms along one side, with a corridor between them or without."""
    rng, draw = lengths.rng, lengths.draw
    names = _private(bedrooms, rng)
    in_row = bedrooms > 0 and (least_strip(names) > 6.5 or rng.random() < 0.3)
    corridor = bedrooms == 3 or (bedrooms == 2 and len(names) > 3 and rng.random() < 0.6)
    if corridor:
        names = [name for name in names if name != "hall"]
    elif in_row and "hall" not in names:  # beside the kitchen, through which nobody goes
        names.append("hall")
    for luxury in ("bath_2", "study"):
        if luxury in names and least_strip(names) > STRIP - 0.3:
            names.remove(luxury)
    need = least_strip(names)
    if in_row:
        width = draw(max(SHORTEST_ROW, need), min(max(9.8, need + 1.2), STRIP))
        depth = draw(4.3, 5.4)
        rooms = _day_row(width, depth, lengths)
    else:
        width = draw(max(need, 6.4), 7.0) if bedrooms == 0 else draw(max(need, 6.6), 8.6)
        depth = draw(4.7, 6.1)
        rooms = _day_block(width, depth, lengths)
        if "hall" not in names and rooms["kitchen"][3] == depth:
            rooms = {n: (r[0], depth - r[3], r[2], depth - r[1]) for n, r in rooms.items()}
        elif rng.random() < 0.3 and depth > need:  # along the other axis
            rooms = Division(rooms).turned(True, False, False).rooms
            width, depth = depth, width
    low = depth
    if corridor:
        low += draw(*CORRIDOR)
        rooms["corridor"] = (0.0, depth, width, low)
    high = low + (draw(2.5, 3.1) if bedrooms == 0 else draw(3.0, 4.0))
    slack, end = width - need, width
    if not corridor and slack > NOOK[0] and rng.random() < 0.5:
        end = width - float(rng.uniform(NOOK[0], min(NOOK[1], slack)))  # the building is an L
    strip = ordered_strip(
        names,
        rooms,
        lambda order: strip_of(order, 0.0, end, low, high, lengths),
        rng,
        alcove=bedrooms == 0,
    )
    return Division(rooms | strip, _outside(strip, width, low, high), bedrooms == 0)


def _corner(bedrooms: int, lengths: Lengths) -> Division:
    """Private rooms in one corner, day rooms in an L around them."""
    rng, draw = lengths.rng, lengths.draw
    names = [n for n in _private(bedrooms, rng) if n not in ("study", "bath_2")]
    lower = draw(3.9, 4.7)
    block = sum(lengths.of(name) for name in names)
    leg, height = draw(2.8, 3.7), draw(3.1, 4.0)
    if block > 8.2 or block < 4.8:
        raise UnfitPlanError("private rooms too many or few for a corner")
    width, top = block + leg, lower + height
    elbow = float(np.clip(width - draw(3.0, 4.2), *LIVING_LENGTH))
    rooms = {
        "living": (0.0, 0.0, elbow, lower),
        "dining": (elbow, 0.0, width, lower),
        "kitchen": (block, lower, width, top),
    }
    if elbow > block + 0.5 or width - elbow < 2.4:
        raise UnfitPlanError("day rooms do not go around the corner")
    strip = ordered_strip(
        names, rooms, lambda order: strip_of(order, 0.0, block, lower, top, lengths), rng
    )
    return Division(rooms | strip, _outside(strip, block, lower, top))


def _spine(bedrooms: int, lengths: Lengths) -> Division:
    """A corridor between two strips of private rooms, which leads to the day rooms at its end."""
    rng, draw = lengths.rng, lengths.draw
    names = [name for name in _private(bedrooms, rng) if name != "hall"]
    first, second = halves(names, rng)
    length = max(sum(lengths.of(n) for n in half) for half in (first, second))
    corridor = draw(*CORRIDOR)
    top = corridor + draw(6.0, 8.2)
    for _ in range(DAYS):
        if top < SHORTEST_ROW:
            day = _day_block(top, draw(4.8, 5.8), lengths)
        else:
            day = _day_row(top, draw(4.3, 5.4), lengths)
        rooms = {n: (length + r[1], r[0], length + r[3], r[2]) for n, r in day.items()}
        spans = _ends_of_corridor(rooms, length, corridor, top)
        if spans:
            break
    else:
        raise UnfitPlanError("no way from the corridor to the day rooms")
    lower = float(rng.uniform(*spans[int(rng.integers(len(spans)))]))
    rooms["corridor"] = (0.0, lower, length, lower + corridor)
    strips = (
        strip_of(first, 0.0, length, 0.0, lower, lengths),
        strip_of(second, 0.0, length, lower + corridor, top, lengths),
    )
    for strip in strips:  # what is left of the length lies outside, at the far end of the corridor
        shift = length - max(r[2] for r in strip.values())
        rooms |= {name: (r[0] + shift, r[1], r[2] + shift, r[3]) for name, r in strip.items()}
    spans = ((0.0, lower), (lower + corridor, top))
    return Division(rooms, _far_voids(rooms, strips, spans))


def _ends_of_corridor(
    rooms: dict[str, Rect], x: float, width: float, top: float
) -> list[tuple[float, float]]:
    """Between which y a corridor that ends at x may begin, to lead to one day room but the kitchen."""
    low, high = top - width - WING[1], top - width - WING[0]
    spans = [
        (max(r[1], low, WING[0]), min(r[3] - width, high, WING[1]))
        for name, r in rooms.items()
        if r[0] == x and name != "kitchen"
    ]
    return [span for span in spans if span[1] > span[0]]


def _far_voids(
    rooms: dict[str, Rect], strips: Sequence[dict[str, Rect]], spans: Sequence[tuple[float, float]]
) -> tuple[Rect, ...]:
    """What lies outside at x = 0 beside strips that begin later."""
    voids = []
    for strip, (low, high) in zip(strips, spans, strict=True):
        start = min(rooms[name][0] for name in strip)
        if start > 1e-6:
            voids.append((0.0, low, start, high))
    return tuple(voids)


def _between(_: int, lengths: Lengths) -> Division:
    """Day rooms between two bedrooms, one with a bath and one with a hall beside it."""
    rng, draw = lengths.rng, lengths.draw
    first = ["bedroom_2", "bath"]
    second = ["bedroom", "hall"]  # the hall beside the kitchen, through which nobody goes
    need = max(least_strip(first), least_strip(second))
    width, depth = draw(6.8, 8.4), draw(max(4.9, need), max(6.6, need + 0.5))
    left, right = draw(3.0, 3.9), draw(3.0, 3.9)
    block = _day_block(width, depth, lengths)
    if block["living"][0] > 0.0:
        block = {n: (width - r[2], r[1], width - r[0], r[3]) for n, r in block.items()}
    block = {n: (left + r[0], r[1], left + r[2], r[3]) for n, r in block.items()}

    def upright(low: float, high: float, order: list[str]) -> dict[str, Rect]:
        strip = strip_of(order, 0.0, depth, low, high, lengths)
        return {name: (r[1], r[0], r[3], r[2]) for name, r in strip.items()}

    rooms, voids = dict(block), []
    for names, low, high in ((first, 0.0, left), (second, left + width, left + width + right)):
        strip = ordered_strip(names, block, partial(upright, low, high), rng)
        rooms |= strip
        end = max(r[3] for r in strip.values())
        if depth - end > 1e-6:
            voids.append((low, end, high, depth))
    return Division(rooms, tuple(voids))
