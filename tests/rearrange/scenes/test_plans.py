"""Generated floor plans: what a person expects of a plan, and splits that share none."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearrange.errors import UserError
from rearrange.scenes.apartment import GENERATED, LAYOUTS_OF, layouts_of, split_of_layout
from rearrange.scenes.floor_plans import FLOOR_PLANS, FloorPlan
from rearrange.scenes.homes import find_plan, generated_plan
from rearrange.scenes.plans import draw_plans, plan_fingerprint
from rearrange.scenes.plans.joining import border_of

SPLITS = LAYOUTS_OF[GENERATED]
layouts = st.integers(min(SPLITS["train"]), max(SPLITS["test"]))


def first_plan(layout: int) -> FloorPlan:
    """The first that is drawn, which nearly always can be furnished."""
    return next(draw_plans(layout, Counter()))


def ways(plan: FloorPlan) -> set[frozenset[str]]:
    """Pairs of rooms between which one can walk: an opening in the wall between them, or no wall."""
    found = set()
    for a in plan.rooms:
        for b in plan.rooms:
            border = border_of(plan.rooms[a], plan.rooms[b]) if a < b else None
            if border is None:
                continue
            walls = [
                w
                for w in plan.walls
                if w.axis == border.axis
                and abs(w.at - border.at) < 1e-6
                and min(w.end, border.end) - max(w.start, border.start) > 1e-6
            ]
            doors = [
                o for w in walls for o in w.openings if border.start < o[0] and o[1] < border.end
            ]
            if doors or not walls:
                found.add(frozenset((a, b)))
    return found


def reached(start: str, joined: set[frozenset[str]], closed: set[str]) -> set[str]:
    """Rooms that one gets to from a room without going through closed ones."""
    found, new = {start}, [start]
    while new:
        room = new.pop()
        if room in closed and room != start:
            continue
        for pair in joined:
            if room in pair:
                (other,) = pair - {room}
                if other not in found:
                    found.add(other)
                    new.append(other)
    return found


@given(layouts)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_nobody_goes_through_kitchen_or_bath(layout):
    plan = first_plan(layout)
    joined = ways(plan)
    closed = {name for name in plan.rooms if name.startswith(("kitchen", "bath", "bedroom"))}
    alone = {name for name in plan.rooms if name == "bath_2"}  # may belong to the bedroom
    assert reached("living", joined, closed) >= set(plan.rooms) - alone
    assert reached("living", joined, closed - {"bedroom"}) == set(plan.rooms)
    assert frozenset(("kitchen", "bath")) not in joined


@given(layouts)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_rooms_and_what_lies_outside_fill_the_outline_once(layout):
    plan = first_plan(layout)
    rects = [*plan.rooms.values(), *plan.voids]
    area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in rects)
    assert area == pytest.approx(plan.size[0] * plan.size[1])
    for i, a in enumerate(rects):
        for b in rects[:i]:
            width = min(a[2], b[2]) - max(a[0], b[0])
            depth = min(a[3], b[3]) - max(a[1], b[1])
            assert min(width, depth) < 1e-6
    assert {"living", "dining", "kitchen", "bedroom", "bath"} <= set(plan.rooms)
    assert min(min(r[2] - r[0], r[3] - r[1]) for r in plan.rooms.values()) > 1.2


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


def test_splits_by_number():
    assert [len(SPLITS[split]) for split in ("train", "val", "test")] == [4000, 100, 100]
    assert [split_of_layout(layout) for layout in (0, 3, 4, 1000, 4999, 5000, 5100, 5199)] == [
        "train", "val", "test", "train", "train", "val", "test", "test",
    ]  # fmt: skip
    assert split_of_layout(999) is split_of_layout(5200) is None
    with pytest.raises(UserError, match="classic, generated"):
        layouts_of("val", "modern")


def test_same_number_gives_the_same_plan_and_reasons_are_counted():
    rejected: Counter[str] = Counter()
    plans = [find_plan(layout, rejected) for layout in range(5000, 5005)]
    assert plans == [find_plan(layout, Counter()) for layout in range(5000, 5005)]
    assert rejected
    assert all(reason.islower() or " " in reason for reason in rejected)


def test_homes_of_all_sizes():
    bedrooms = Counter(
        sum(name.startswith("bedroom") for name in first_plan(layout).rooms)
        for layout in range(5000, 5100)
    )
    assert set(bedrooms) == {1, 2, 3}
    assert min(bedrooms.values()) >= 10
    assert any(first_plan(layout).voids for layout in range(5000, 5100))
