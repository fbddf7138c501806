"""Apartments by number, the same for the same numbers in every process.

A variation of one of the eleven plans drawn by hand resizes, mirrors and recolours it; a variation of a
generated plan recolours it. Both then place furniture by rejection sampling. A piece that would block the way
is left out; an apartment whose receptacles cannot all be reached is thrown away and drawn again with the next
attempt number, so the result is valid by construction.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from rearrange.errors import UserError
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.floor_plans import FLOOR_PLANS
from rearrange.scenes.furnisher import Furnisher
from rearrange.scenes.furnishing import RejectedError
from rearrange.scenes.homes import HomeFurnisher
from rearrange.scenes.registry import (
    DEFAULT_HOMES,
    LAYOUTS_OF_SPLIT,
    VARIATION_COUNT,
    kept_by_apartment,
    layouts_of,
    ranges_of,
    spec_of_homes,
    spec_of_layout,
    split_of_layout,
)

# Most take some ten; one of the plans' apartments, (4814, 5), took 429
ATTEMPTS = 4000


def apartments_of_split(split: str, homes: str = DEFAULT_HOMES) -> list[tuple[int, int]]:
    """All (layout, variation) of "train", "val" or "test" of a collection of homes."""
    return [
        (n, v) for n in layouts_of(split, homes) for v in range(spec_of_homes(homes).variations)
    ]


@kept_by_apartment
def generate_apartment(layout: int, variation: int) -> Apartment:
    """The apartment of that name; cached, do not change what it holds.

    Args:
        layout: Number of a plan; `layouts_of` says which there are.
        variation: 0 to 20.
    """
    if split_of_layout(layout) is None or not 0 <= variation < VARIATION_COUNT:
        ranges = "; ".join(ranges_of(split) for split in LAYOUTS_OF_SPLIT)
        raise UserError(
            f"apartment ({layout}, {variation}) does not exist: layouts are {ranges}; "
            f"variations 0 to {VARIATION_COUNT - 1}"
        )
    return spec_of_layout(layout).make(layout, variation)


def draw_apartment(layout: int, variation: int, rejected: Counter[str] | None = None) -> Apartment:
    """As `generate_apartment`, but for any variation from 0 on, also beyond those of the splits.

    Args:
        layout: Number of a plan.
        variation: From 0 on.
        rejected: Reason -> how many draws were thrown away for it, added to.
    """
    kind = Furnisher if layout in range(len(FLOOR_PLANS)) else HomeFurnisher
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([layout, variation, attempt])
        try:
            return kind(layout, variation, rng).furnish()
        except RejectedError as reason:
            if rejected is not None:
                rejected[str(reason)] += 1
    raise RuntimeError(f"no valid apartment for layout {layout}, variation {variation}")
