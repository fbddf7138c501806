"""Generated floor plans: what a person expects of a plan, and splits that share none."""

import hashlib
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import strategies as st

from rearrange.scenes.floor_plans import FLOOR_PLANS, FloorPlan, Rect
from rearrange.scenes.homes import generated_plan
from rearrange.scenes.plans import draw_plans
from rearrange.scenes.registry import GENERATED, LAYOUTS_OF

SPLITS = LAYOUTS_OF[GENERATED]
layouts = st.integers(min(SPLITS["train"]), max(SPLITS["test"]))


def first_plan(layout: int) -> FloorPlan:
    """The first that is drawn, which nearly always can be furnished."""
    return next(draw_plans(layout, Counter()))


def fingerprint(plan: FloorPlan) -> str:
    """Of rooms, walls and openings, to a centimetre: the same for mirror images and for turned plans."""
    faces = [face(plan, *turn) for turn in product((False, True), repeat=3)]
    return hashlib.sha256(min(faces).encode()).hexdigest()[:12]


def face(plan: FloorPlan, swap: bool, flip_x: bool, flip_y: bool) -> str:
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


def test_mirrored_and_turned_plans_have_the_same_fingerprint():
    plan = generated_plan(1000)
    mirrored = plan.stretched(1.0, 1.0, True, True)
    assert mirrored.rooms != plan.rooms
    assert fingerprint(mirrored) == fingerprint(plan)
    assert fingerprint(plan.stretched(1.02, 1.0, False, False)) != fingerprint(plan)


def check_no_plan_twice(layouts: list[int], plan_of: Callable[[int], FloorPlan]) -> None:
    prints = Counter(fingerprint(plan_of(layout)) for layout in layouts)
    prints.update(map(fingerprint, FLOOR_PLANS))
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
