"""Doors and openings between the rooms of a plan."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from rearrange.scenes.floor_plans import FloorPlan
from rearrange.scenes.plans import draw_plans
from rearrange.scenes.plans.joining import border_of
from rearrange.scenes.registry import GENERATED, LAYOUTS_OF

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
