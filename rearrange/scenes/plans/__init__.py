"""Floor plans without end: the plan of a number, the same in every process.

`draw_plans` draws divisions into rooms and joins them; what is no plan is left out. Numbers of
plans are layouts from FIRST_PLAN on; which split a plan belongs to is said by its number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rearrange.scenes.floor_plans import FloorPlan
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
