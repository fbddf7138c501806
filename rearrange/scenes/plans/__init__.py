"""Floor plans without end: the plan of a number, the same in every process.

`draw_plans` draws divisions into rooms and joins them; what is no plan is left out. Numbers of
plans are layouts from FIRST_PLAN on; which split a plan belongs to is said by its number.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np

from rearrange.scenes.floor_plans import FloorPlan, Rect
from rearrange.scenes.plans.division import BEDROOM_CHANCES, divide
from rearrange.scenes.plans.joining import join
from rearrange.scenes.plans.strips import UnfitPlanError

PLAN_ATTEMPTS = 500


def draw_plans(layout: int, rejected: Counter[str]) -> Iterator[FloorPlan]:
    """Plans of a number, of which the first that can be furnished is its own; counts what was no plan."""
    # Of all draws, so that homes which are easily drawn are not the more frequent
    bedrooms = int(np.random.default_rng([layout, 6841]).choice(4, p=BEDROOM_CHANCES))
    for attempt in range(PLAN_ATTEMPTS):
        rng = np.random.default_rng([layout, attempt, 6841])
        try:
            yield join(divide(bedrooms, rng), rng)
        except UnfitPlanError as reason:
            rejected[str(reason)] += 1


def plan_fingerprint(plan: FloorPlan) -> str:
    """Of rooms, walls and openings, to a centimetre: the same for mirror images and for turned plans."""
    faces = [_face(plan, *turn) for turn in product((False, True), repeat=3)]
    return hashlib.sha256(min(faces).encode()).hexdigest()[:12]


def _face(plan: FloorPlan, swap: bool, flip_x: bool, flip_y: bool) -> str:
    width, depth = plan.size

    def turn(r: Rect) -> tuple[int, ...]:
        x0, y0, x1, y1 = r
        if flip_x:
            x0, x1 = width - x1, width - x0
        if flip_y:
            y0, y1 = depth - y1, depth - y0
        rect = (y0, x0, y1, x1) if swap else (x0, y0, x1, y1)
        return tuple(round(100 * value) for value in rect)

    rows = [(name.split("_")[0], turn(rect)) for name, rect in plan.rooms.items()]
    for wall in plan.walls:
        for start, end, _ in wall.openings:
            line = (
                (start, wall.at, end, wall.at)
                if wall.axis == "x"
                else (wall.at, start, wall.at, end)
            )
            rows.append(("opening", turn(line)))
    return repr(sorted(rows))
