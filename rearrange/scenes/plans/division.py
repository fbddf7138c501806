"""Divide a floor into rooms, from a random generator: day rooms, and strips of private rooms along them.

Rooms are rectangles that meet in the middle of their walls; those that are open to each other make L-shaped
spaces. Coordinates are metres, x to the right and y up; `Division.turned` gives the other seven ways round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import numpy as np

from rearrange.scenes.floor_plans import Rect

DAY_ROOMS = ("living", "dining", "kitchen")
LIVING_LENGTH = (3.7, 5.0)  # [m], from television to sofa and around them
SHORTEST_ROW = 8.3  # [m], of living room, dining place and kitchen one after the other
NOOK = (2.2, 4.0)  # [m], side of the corner that an L-shaped building leaves out
# Of private rooms along their strip [m]; the depth of the strip is the other side.
LENGTHS = {
    "bedroom": (3.0, 4.3),
    "bedroom_2": (2.7, 3.8),
    "bedroom_3": (2.6, 3.5),
    "bath": (1.95, 2.5),
    "bath_2": (1.9, 2.3),
    "study": (2.4, 3.3),
    "hall": (1.6, 2.3),
}
STRIP = 11.8  # [m], longest strip of private rooms along a row of day rooms
NARROWEST = 1.45  # [m], wall with a door in it, at least
ORDERS = 12  # of rooms in a strip that are tried
CORRIDOR = (1.25, 1.5)  # [m], width
SPREAD = 0.25  # of the lengths of one home around its own share of their ranges
BEDROOM_CHANCES = (0.14, 0.32, 0.32, 0.22)  # of a studio, and of one to three bedrooms


class UnfitPlanError(Exception):
    """A draw that is no plan; the message is the reason, one of a few."""


class Lengths:
    """Draws the lengths of one home: in a small home all rooms are small, else sums would hardly vary."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Draw how large the home is."""
        self.rng = rng
        self._share = float(rng.uniform())

    def draw(self, low: float, high: float) -> float:
        """A length from a range [m]."""
        share = np.clip(self._share + self.rng.normal(0.0, SPREAD), 0.0, 1.0)
        return low + float(share) * (high - low)

    def of(self, room: str) -> float:
        """The length of a private room along its strip [m]."""
        return self.draw(*LENGTHS[room])


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
        3: (_spine, _spine, _between, _beside),
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


def _least(names: Sequence[str]) -> float:
    """The shortest strip that holds these rooms [m]."""
    return sum(LENGTHS[name][0] for name in names)


def _strip(
    names: Sequence[str], start: float, end: float, low: float, high: float, lengths: Lengths
) -> dict[str, Rect]:
    """Rooms one after the other along x from start to end, or a little less; low <= y <= high."""
    wanted = np.array([lengths.of(name) for name in names])
    room = end - start
    shrink = room / wanted.sum()
    least = _least(names)
    if least > room + 1e-6:
        raise UnfitPlanError("private rooms too long for their strip")
    if shrink < 1.0:
        lowest = np.array([LENGTHS[name][0] for name in names])
        wanted = lowest + (wanted - lowest) * (room - least) / max(wanted.sum() - least, 1e-9)
    elif room - wanted.sum() < NOOK[0]:  # too little to leave outside
        if shrink > 1.35:
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


def _meet(a: Rect, b: Rect) -> float:
    """Length of the wall between two rooms [m]; 0 where they do not meet."""
    for along, across in ((0, 1), (1, 0)):
        if min(abs(a[across + 2] - b[across]), abs(b[across + 2] - a[across])) < 1e-6:
            return max(0.0, min(a[along + 2], b[along + 2]) - max(a[along], b[along]))
    return 0.0


def _well_ordered(
    names: Sequence[str],
    day: dict[str, Rect],
    strip_of: Callable[[list[str]], dict[str, Rect]],
    rng: np.random.Generator,
) -> dict[str, Rect]:
    """A strip in an order in which one gets to each room, if there is one among a few."""
    strip: dict[str, Rect] = {}
    for _ in range(ORDERS):
        strip = strip_of(_shuffled(names, rng))
        entries = [day[name] for name in ("living", "dining", "corridor") if name in day]
        if "hall" in strip and max(_meet(strip["hall"], rect) for rect in entries) > NARROWEST:
            entries.append(strip["hall"])
        inner = [rect for name, rect in strip.items() if name != "hall"]
        if all(max(_meet(rect, entry) for entry in entries) > NARROWEST for rect in inner):
            break
    return strip


def _day_row(x: float, y: float, width: float, depth: float, lengths: Lengths) -> dict[str, Rect]:
    """Living room, dining place and kitchen one after the other along x; kitchen on either end."""
    if width < SHORTEST_ROW:
        raise UnfitPlanError("day rooms too short for a row")
    rng = lengths.rng
    living = float(np.clip(rng.uniform(0.44, 0.50) * width, *LIVING_LENGTH))
    kitchen = float(np.clip(rng.uniform(0.27, 0.32) * width, 2.5, 3.3))
    a, b = x + living, x + width - kitchen
    rects = ((x, a), (a, b), (b, x + width))
    if rng.random() < 0.5:
        rects = tuple((2 * x + width - end, 2 * x + width - start) for start, end in rects)
    return {
        name: (start, y, end, y + depth)
        for name, (start, end) in zip(DAY_ROOMS, rects, strict=True)
    }


def _day_block(x: float, y: float, width: float, depth: float, lengths: Lengths) -> dict[str, Rect]:
    """Living room over the whole depth at one end along x, dining place and kitchen at the other."""
    rng = lengths.rng
    living = float(np.clip(rng.uniform(0.5, 0.58) * width, *LIVING_LENGTH))
    rest = width - living
    if depth < 4.7 or rest < 2.6:
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


def _beside(bedrooms: int, lengths: Lengths) -> Division:
    """Day rooms, and a strip of private rooms along one side, with a corridor between them or without."""
    rng, draw = lengths.rng, lengths.draw
    names = _private(bedrooms, rng)
    for luxury in ("bath_2", "study", "hall"):
        if luxury in names and _least(names) > STRIP - 0.3:
            names.remove(luxury)
    need = _least(names)
    if bedrooms and (need > 6.5 or rng.random() < 0.3):
        width = draw(max(SHORTEST_ROW, need), min(max(9.8, need + 1.2), STRIP))
        depth = draw(4.1, 5.3)
        rooms = _day_row(0.0, 0.0, width, depth, lengths)
    else:
        width, depth = draw(*((6.4, 7.0) if bedrooms == 0 else (6.6, 8.6))), draw(4.7, 6.1)
        rooms = _day_block(0.0, 0.0, width, depth, lengths)
        if rng.random() < 0.3 and depth > need:  # along the other axis
            rooms = Division(rooms).turned(True, False, False).rooms
            width, depth = depth, width
    low = depth
    if bedrooms > 1 and len(names) > 3 and rng.random() < 0.6:
        corridor = draw(*CORRIDOR)
        rooms["corridor"] = (0.0, low, width, low + corridor)
        low += corridor
        names = [name for name in names if name != "hall"]
    high = low + (draw(2.5, 3.1) if bedrooms == 0 else draw(3.0, 4.0))
    slack = width - _least(names)
    end = width
    if "corridor" not in rooms and slack > NOOK[0] and rng.random() < 0.5:
        end = width - float(rng.uniform(NOOK[0], min(NOOK[1], slack)))  # the building is an L
    strip = _well_ordered(
        names, rooms, lambda order: _strip(order, 0.0, end, low, high, lengths), rng
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
    strip = _well_ordered(
        names, rooms, lambda order: _strip(order, 0.0, block, lower, top, lengths), rng
    )
    return Division(rooms | strip, _outside(strip, block, lower, top))


def _spine(bedrooms: int, lengths: Lengths) -> Division:
    """A corridor between two strips of private rooms, which leads to the day rooms at its end."""
    rng, draw = lengths.rng, lengths.draw
    names = [name for name in _private(bedrooms, rng) if name != "hall"]
    first, second = _halves(names, rng)
    length = max(sum(lengths.of(n) for n in half) for half in (first, second))
    lower, upper, corridor = draw(3.0, 4.0), draw(3.0, 4.0), draw(*CORRIDOR)
    top = lower + corridor + upper
    for _ in range(8):
        if top < SHORTEST_ROW:
            day = _day_block(0.0, 0.0, top, draw(4.8, 5.8), lengths)
        else:
            day = _day_row(0.0, 0.0, top, draw(4.1, 5.3), lengths)
        rooms = {n: (length + r[1], r[0], length + r[3], r[2]) for n, r in day.items()}
        ahead = [n for n, r in rooms.items() if r[0] == length]
        if any(
            n != "kitchen" and rooms[n][1] <= lower and lower + corridor <= rooms[n][3]
            for n in ahead
        ):
            break
    rooms["corridor"] = (0.0, lower, length, lower + corridor)
    strips = (
        _strip(first, 0.0, length, 0.0, lower, lengths),
        _strip(second, 0.0, length, lower + corridor, top, lengths),
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


def _between(bedrooms: int, lengths: Lengths) -> Division:
    """Day rooms between two strips of private rooms."""
    rng, draw = lengths.rng, lengths.draw
    first, second = _halves(_private(bedrooms, rng), rng)
    need = max(_least(first), _least(second))
    if need > 7.0:
        raise UnfitPlanError("private rooms too long for their strip")
    width, depth = draw(6.8, 8.4), draw(max(4.9, need), max(6.6, need + 0.5))
    left, right = draw(3.0, 3.9), draw(3.0, 3.9)
    block = _day_block(left, 0.0, width, depth, lengths)

    def upright(low: float, high: float, order: list[str]) -> dict[str, Rect]:
        strip = _strip(order, 0.0, depth, low, high, lengths)
        return {name: (r[1], r[0], r[3], r[2]) for name, r in strip.items()}

    rooms, voids = dict(block), []
    for names, low, high in ((first, 0.0, left), (second, left + width, left + width + right)):
        strip = _well_ordered(names, block, partial(upright, low, high), rng)
        rooms |= strip
        end = max(r[3] for r in strip.values())
        if depth - end > 1e-6:
            voids.append((low, end, high, depth))
    return Division(rooms, tuple(voids))
