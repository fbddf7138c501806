import math
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rearrange.navigation import ROBOT_RADIUS, clamp_base_motion


@settings(max_examples=200)
@given(
    x=st.floats(0.0, 10.0),
    y=st.floats(0.0, 8.0),
    heading=st.floats(-math.pi, math.pi),
    length=st.floats(0.0, 0.5),
    slide=st.booleans(),
)
@example(x=7.5, y=5.75, heading=3.0, length=6.103515625e-05, slide=True)
def test_motion_never_loses_clearance_below_the_radius(grid, x, y, heading, length, slide):
    before = grid.clearance_at(x, y)
    dx, dy = length * math.cos(heading), length * math.sin(heading)
    new_x, new_y, blocked = clamp_base_motion(grid, x, y, dx, dy, slide=slide)
    assert grid.clearance_at(new_x, new_y) >= min(before, ROBOT_RADIUS) - 1e-9
    if not blocked:
        assert (new_x, new_y) == pytest.approx((x + dx, y + dy), abs=1e-9)
    # Gliding steps out of an obstacle by up to 0.1 mm more than it has to.
    assert math.dist((x, y), (new_x, new_y)) <= 1.6 * length + 1e-4 + 1e-9


def test_motion_stops_at_a_wall_or_slides_along_it(grid):
    x, y, blocked = clamp_base_motion(grid, 4.6, 1.0, 0.08, 0.05, slide=False)
    assert blocked
    assert 4.63 < x <= 4.65 + 1e-6
    stopped = y
    x, y, blocked = clamp_base_motion(grid, 4.6, 1.0, 0.08, 0.05, slide=True)
    assert blocked
    assert 4.63 < x <= 4.65 + 1e-6
    assert stopped < 1.045
    assert y == pytest.approx(1.05, abs=0.005)


def test_motion_out_of_a_tight_start_is_allowed(grid):
    start = (4.75, 1.0)  # clearance 0.2
    assert clamp_base_motion(grid, *start, -0.05, 0.0)[:2] == pytest.approx((4.70, 1.0))
    assert clamp_base_motion(grid, *start, 0.05, 0.0, slide=False) == (*start, True)


def test_motion_is_quick(grid):
    arguments = (grid, 4.62, 1.0, 0.08, 0.03)
    clamp_base_motion(*arguments)
    best = math.inf
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(200):
            clamp_base_motion(*arguments)
        best = min(best, (time.perf_counter() - start) / 200)
    assert best < 4e-6  # 1 us measured; the budget is 2 us
