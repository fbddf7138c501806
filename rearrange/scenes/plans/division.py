"""Divide a floor into rooms, from a random generator: day rooms, and strips of private rooms along them.

Rooms are rectangles that meet in the middle of their walls; those that are open to each other make L-shaped
spaces. Coordinates are metres, x to the right and y up; `Division.turned` gives the other seven ways round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from rearrange.scenes.floor_plans import Rect

DAY_ROOMS = ("living", "dining", "kitchen")
LIVING_LENGTH = (3.7, 4.7)  # [m], from television to sofa and around them
SHORTEST_ROW = 8.3  # [m], of living room, dining place and kitchen one after the other
NOOK = (2.2, 4.0)  # [m], side of the corner that an L-shaped building leaves out
# Of private rooms along their strip [m]; the depth of the strip is the other side.
LENGTHS = {
    "bedroom": (3.3, 4.1),
    "bedroom_2": (2.9, 3.6),
    "bedroom_3": (2.8, 3.4),
    "bath": (2.2, 2.7),
    "bath_2": (2.1, 2.5),
    "study": (2.6, 3.2),
    "hall": (1.7, 2.3),
}
BEDROOM_CHANCES = (0.14, 0.32, 0.32, 0.22)  # of a studio, and of one to three bedrooms


class UnfitPlanError(Exception):
    """A draw that is no plan; the message is the reason, one of a few."""


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
        2: (_beside, _corner, _spine, _between),
        3: (_spine, _spine, _between, _beside),
    }[bedrooms]
    division = kinds[int(rng.integers(len(kinds)))](bedrooms, rng)
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


def _strip(
    names: Sequence[str],
    start: float,
    end: float,
    low: float,
    high: float,
    rng: np.random.Generator,
) -> dict[str, Rect]:
    """Rooms one after the other along x from start to end, or a little less; low <= y <= high."""
    wanted = np.array([rng.uniform(*LENGTHS[name]) for name in names])
    room = end - start
    shrink = room / wanted.sum()
    least = sum(LENGTHS[name][0] for name in names)
    if least > room + 1e-6:
        raise UnfitPlanError("private rooms too long for their strip")
    if shrink < 1.0:
        lowest = np.array([LENGTHS[name][0] for name in names])
        wanted = lowest + (wanted - lowest) * (room - least) / (wanted.sum() - least)
    elif room - wanted.sum() < 2.2:  # too little to leave outside
        if shrink > 1.3:
            raise UnfitPlanError("private rooms too short for their strip")
        wanted *= shrink
    edges = [start, *(start + part for part in accumulate(wanted.tolist()))]
    if abs(edges[-1] - end) < 1e-6:
        edges[-1] = end
    return {
        name: (edges[i], low, edges[i + 1], high) for i, name in enumerate(names)
    }  # the rest is outside


def _outside(rooms: dict[str, Rect], end: float, low: float, high: float) -> tuple[Rect, ...]:
    """What of a strip that should have reached to x = end lies outside."""
    last = max(r[2] for r in rooms.values())
    return ((last, low, end, high),) if end - last > 1e-6 else ()


def _shuffled(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The names in random order, the second bath beside the bedroom, so that it may belong to it."""
    order = [names[int(i)] for i in rng.permutation(len(names))]
    if "bath_2" in order and "bedroom" in order:
        order.remove("bath_2")
        index = order.index("bedroom")
        order.insert(index + (index > 0), "bath_2")
    return order


def _day_row(
    x: float, y: float, width: float, depth: float, rng: np.random.Generator
) -> dict[str, Rect]:
    """Living room, dining place and kitchen one after the other along x; kitchen on either end."""
    if width < SHORTEST_ROW:
        raise UnfitPlanError("day rooms too short for a row")
    share = rng.uniform(0.44, 0.50)
    living = float(np.clip(share * width, *LIVING_LENGTH))
    kitchen = float(np.clip(rng.uniform(0.27, 0.32) * width, 2.5, 3.3))
    a, b = x + living, x + width - kitchen
    rects = ((x, a), (a, b), (b, x + width))
    if rng.random() < 0.5:
        rects = tuple((2 * x + width - end, 2 * x + width - start) for start, end in rects)
    return {
        name: (start, y, end, y + depth)
        for name, (start, end) in zip(DAY_ROOMS, rects, strict=True)
    }


def _day_block(
    x: float, y: float, width: float, depth: float, rng: np.random.Generator
) -> dict[str, Rect]:
    """Living room over the whole depth at one end along x, dining place and kitchen at the other."""
    living = float(np.clip(rng.uniform(0.5, 0.58) * width, *LIVING_LENGTH))
    rest = width - living
    if depth < 4.9 or rest < 2.8:
        raise UnfitPlanError("day rooms too small for a block")
    cut = y + depth * float(rng.uniform(0.46, 0.54))
    a = x + living
    lower, upper = (a, y, x + width, cut), (a, cut, x + width, y + depth)
    kitchen, dining = (lower, upper) if rng.random() < 0.5 else (upper, lower)
    rooms = {"living": (x, y, a, y + depth), "dining": dining, "kitchen": kitchen}
    if rng.random() < 0.5:
        rooms = {
            n: (2 * x + width - r[2], r[1], 2 * x + width - r[0], r[3]) for n, r in rooms.items()
        }
    return rooms


def _beside(bedrooms: int, rng: np.random.Generator) -> Division:
    """Day rooms, and a strip of private rooms along one side, with a corridor between them or without."""
    names = _private(bedrooms, rng)
    need = sum(LENGTHS[name][0] for name in names)
    if bedrooms and (need > 6.2 or rng.random() < 0.3):
        width, depth = (
            float(rng.uniform(max(SHORTEST_ROW, need), max(9.6, need + 1.0))),
            rng.uniform(4.3, 5.2),
        )
        if width > 11.5:
            raise UnfitPlanError("private rooms too many for one strip")
        rooms = _day_row(0.0, 0.0, width, float(depth), rng)
    else:
        width, depth = float(rng.uniform(7.0, 8.4)), float(rng.uniform(5.0, 6.0))
        rooms = _day_block(0.0, 0.0, width, depth, rng)
        if rng.random() < 0.3:  # along the other axis
            rooms = Division(rooms).turned(True, False, False).rooms
            width, depth = depth, width
    low = float(depth)
    if bedrooms > 1 and len(names) > 3 and rng.random() < 0.6:
        corridor = float(rng.uniform(1.25, 1.5))
        rooms["corridor"] = (0.0, low, width, low + corridor)
        low += corridor
        names = [name for name in names if name != "hall"]
    high = low + float(rng.uniform(2.9, 3.3) if bedrooms == 0 else rng.uniform(3.2, 4.0))
    least = sum(LENGTHS[name][0] for name in names)
    end = width
    if "corridor" not in rooms and width - least > NOOK[0] and rng.random() < 0.5:
        end = width - float(
            rng.uniform(NOOK[0], min(NOOK[1], width - least))
        )  # the building is an L
    strip = _strip(_shuffled(names, rng), 0.0, end, low, high, rng)
    return Division(rooms | strip, _outside(strip, width, low, high), bedrooms == 0)


def _corner(bedrooms: int, rng: np.random.Generator) -> Division:
    """Private rooms in one corner, day rooms in an L around them."""
    names = [n for n in _private(bedrooms, rng) if n not in ("study", "bath_2")]
    lower = float(rng.uniform(3.9, 4.7))
    block = sum(float(rng.uniform(*LENGTHS[name])) for name in names)
    leg, height = float(rng.uniform(3.0, 3.7)), float(rng.uniform(3.3, 4.0))
    if block > 8.2 or block < 4.8:
        raise UnfitPlanError("private rooms too many or few for a corner")
    width, top = block + leg, lower + height
    elbow = float(np.clip(width - rng.uniform(3.0, 4.2), *LIVING_LENGTH))
    rooms = {
        "living": (0.0, 0.0, elbow, lower),
        "dining": (elbow, 0.0, width, lower),
        "kitchen": (block, lower, width, top),
    }
    if elbow > block + 0.5 or width - elbow < 2.4:
        raise UnfitPlanError("day rooms do not go around the corner")
    strip = _strip(_shuffled(names, rng), 0.0, block, lower, top, rng)
    return Division(rooms | strip, _outside(strip, block, lower, top))


def _spine(bedrooms: int, rng: np.random.Generator) -> Division:
    """A corridor between two strips of private rooms, which leads to the day rooms at its end."""
    names = [name for name in _private(bedrooms, rng) if name != "hall"]
    first, second = _halves(names, rng)
    length = max(sum(float(rng.uniform(*LENGTHS[n])) for n in half) for half in (first, second))
    lower, upper = (float(depth) for depth in rng.uniform(3.1, 4.0, 2))
    corridor = float(rng.uniform(1.25, 1.5))
    top = lower + corridor + upper
    width = float(rng.uniform(4.3, 5.2))
    row = _day_row(0.0, 0.0, top, width, rng)
    rooms = {n: (length + r[1], r[0], length + r[3], r[2]) for n, r in row.items()}
    rooms["corridor"] = (0.0, lower, length, lower + corridor)
    strips = (
        _strip(first, 0.0, length, 0.0, lower, rng),
        _strip(second, 0.0, length, lower + corridor, top, rng),
    )
    for strip in strips:  # what is left of the length lies outside, at the far end of the corridor
        shift = length - max(r[2] for r in strip.values())
        rooms |= {name: (r[0] + shift, r[1], r[2] + shift, r[3]) for name, r in strip.items()}
    spans = ((0.0, lower), (lower + corridor, top))
    return Division(rooms, _far_voids(rooms, strips, spans))


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


def _halves(names: list[str], rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Two strips of about the same length."""
    halves: tuple[list[str], list[str]] = ([], [])
    sums = [0.0, 0.0]
    rest = [name for name in names if name != "bath_2"]
    rest.sort(key=lambda name: -LENGTHS[name][0] * float(rng.uniform(0.9, 1.1)))
    for name in rest:
        side = int(sums[1] < sums[0])
        halves[side].append(name)
        sums[side] += LENGTHS[name][0]
    if "bath_2" in names:  # with the bedroom, to which it may belong, else where there is room
        side = 0 if "bedroom" in halves[0] else 1
        halves[side if sums[side] - sums[1 - side] < 1.0 else 1 - side].append("bath_2")
    return _shuffled(halves[0], rng), _shuffled(halves[1], rng)


def _between(bedrooms: int, rng: np.random.Generator) -> Division:
    """Day rooms between two strips of private rooms."""
    first, second = _halves(_private(bedrooms, rng), rng)
    width, depth = float(rng.uniform(7.2, 8.4)), float(rng.uniform(5.2, 6.6))
    left, right = (float(part) for part in rng.uniform(3.2, 3.9, 2))
    block = _day_block(left, 0.0, width, depth, rng)
    a = _strip(first, 0.0, depth, 0.0, left, rng)
    b = _strip(second, 0.0, depth, left + width, left + width + right, rng)
    voids = _outside(a, depth, 0.0, left) + _outside(b, depth, left + width, left + width + right)

    def upright(r: Rect) -> Rect:
        return r[1], r[0], r[3], r[2]

    rooms = block | {name: upright(rect) for name, rect in (a | b).items()}
    return Division(rooms, tuple(map(upright, voids)))
