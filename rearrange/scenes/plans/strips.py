"""Strips of private rooms: their lengths, and an order in which one gets to each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from rearrange.scenes.floor_plans import Rect

NOOK = (1.8, 4.0)  # [m], side of the corner that an L-shaped building leaves out
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
ALCOVE = 2.1  # [m], border of a studio's alcove and the day room that it is open to, at least
NARROWEST = 1.45  # [m], wall with a door in it, at least
ORDERS = 30  # of rooms in a strip that are tried
SPREAD = 0.25  # of the lengths of one home around its own share of their ranges


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


def least_strip(names: Sequence[str]) -> float:
    """The shortest strip that holds these rooms [m]."""
    return sum(LENGTHS[name][0] for name in names)


def strip_of(
    names: Sequence[str], start: float, end: float, low: float, high: float, lengths: Lengths
) -> dict[str, Rect]:
    """Rooms one after the other along x from start to end, or a little less; low <= y <= high."""
    wanted = np.array([lengths.of(name) for name in names])
    room = end - start
    shrink = room / wanted.sum()
    least = least_strip(names)
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


def shuffled(names: Sequence[str], rng: np.random.Generator) -> list[str]:
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


def ordered_strip(
    names: Sequence[str],
    day: dict[str, Rect],
    strip_from: Callable[[list[str]], dict[str, Rect]],
    rng: np.random.Generator,
    alcove: bool = False,
) -> dict[str, Rect]:
    """A strip in an order in which one gets to each room, an alcove openly, if one is found."""
    strip: dict[str, Rect] = {}
    for _ in range(ORDERS):
        strip = strip_from(shuffled(names, rng))
        entries = [day[name] for name in ("living", "dining", "corridor") if name in day]
        inner = [rect for name, rect in strip.items() if name != "hall"]
        if "hall" in strip:
            if max(_meet(strip["hall"], rect) for rect in entries) < NARROWEST:
                continue
            entries.append(strip["hall"])
        if alcove and max(_meet(strip["bedroom"], rect) for rect in entries[:2]) < ALCOVE:
            continue
        if all(max(_meet(rect, entry) for entry in entries) > NARROWEST for rect in inner):
            break
    return strip


def halves(names: list[str], rng: np.random.Generator) -> tuple[list[str], list[str]]:
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
    return shuffled(halves[0], rng), shuffled(halves[1], rng)
