"""Generated floor plans: what a person expects of a plan, and splits that share none."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from rearrange.scenes.floor_plans import FLOOR_PLANS, FloorPlan
from rearrange.scenes.homes import generated_plan
from rearrange.scenes.plans import draw_plans, plan_fingerprint
from rearrange.scenes.registry import GENERATED, LAYOUTS_OF

SPLITS = LAYOUTS_OF[GENERATED]
layouts = st.integers(min(SPLITS["train"]), max(SPLITS["test"]))


def first_plan(layout: int) -> FloorPlan:
    """The first that is drawn, which nearly always can be furnished."""
    return next(draw_plans(layout, Counter()))


def test_mirrored_and_turned_plans_have_the_same_fingerprint():
    plan = generated_plan(1000)
    mirrored = plan.stretched(1.0, 1.0, True, True)
    assert mirrored.rooms != plan.rooms
    assert plan_fingerprint(mirrored) == plan_fingerprint(plan)
    assert plan_fingerprint(plan.stretched(1.02, 1.0, False, False)) != plan_fingerprint(plan)


def check_no_plan_twice(layouts: list[int], plan_of: Callable[[int], FloorPlan]) -> None:
    prints = Counter(plan_fingerprint(plan_of(layout)) for layout in layouts)
    prints.update(map(plan_fingerprint, FLOOR_PLANS))
    assert max(prints.values()) == 1


def test_splits_share_no_plan():
    check_no_plan_twice([*SPLITS["train"][:200], *SPLITS["val"], *SPLITS["test"]], first_plan)


@pytest.mark.slow
def test_no_plan_is_there_twice():
    check_no_plan_twice([layout for split in SPLITS.values() for layout in split], generated_plan)


def test_homes_of_all_sizes():
    bedrooms = Counter(
        sum(name.startswith("bedroom") for name in first_plan(layout).rooms)
        for layout in range(5000, 5100)
    )
    assert set(bedrooms) == {1, 2, 3}
    assert min(bedrooms.values()) >= 10
    assert any(first_plan(layout).voids for layout in range(5000, 5100))
