"""A plan's outline, divided into rooms."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearrange.scenes.floor_plans import FloorPlan
from rearrange.scenes.plans import draw_plans
from rearrange.scenes.registry import GENERATED, LAYOUTS_OF

SPLITS = LAYOUTS_OF[GENERATED]
layouts = st.integers(min(SPLITS["train"]), max(SPLITS["test"]))


def first_plan(layout: int) -> FloorPlan:
    """The first that is drawn, which nearly always can be furnished."""
    return next(draw_plans(layout, Counter()))


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
