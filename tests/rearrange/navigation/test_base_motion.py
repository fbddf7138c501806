import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rearrange.navigation import ROBOT_RADIUS, OccupancyGrid, clamp_base_motion, room_at
from rearrange.navigation.footprints import footprints_of
from rearrange.navigation.occupancy import clearance_field
from rearrange.scenes.apartment import Solid

ERROR = 0.005  # [m], of `room`, near corners


def true_clearance(grid: OccupancyGrid, x: float, y: float) -> float:
    """From the footprints themselves [m]."""
    building = grid.apartment
    around = (np.array(building.bounds), footprints_of(building))
    return float(clearance_field((1, 1), (x - 0.005, y - 0.005), 0.01, *around)[0, 0])


@given(x=st.floats(0.2, 9.8), y=st.floats(0.2, 7.8))
def test_room_is_the_true_clearance_of_whatever_is_near(grid, x, y):
    true = true_clearance(grid, x, y)
    if 0.2 < true < 0.4:
        assert room_at(grid, x, y) == pytest.approx(true, abs=ERROR)


@pytest.fixture(scope="module")
def make_gap(make_grid):
    """Builds a hall with a gap of this width [m] that begins at x, between two boxes 1 m long."""

    def make(x: float, width: float) -> OccupancyGrid:
        west = Solid("box", (x - 1.0, 4.0, 0.4), (1.0, 0.5, 0.4))
        east = Solid("box", (x + width + 1.0, 4.0, 0.4), (1.0, 0.5, 0.4))
        return make_grid(west, east)

    return make


# Wherever the gap lies between the cells of the grid
@pytest.mark.parametrize("x", [5.0, 5.01, 5.02, 5.03, 5.04])
@pytest.mark.parametrize(("width", "passes"), [(0.59, False), (0.62, True), (0.7, True)])
def test_a_disc_glides_through_a_gap_that_is_wide_enough_and_no_other(make_gap, x, width, passes):
    grid = make_gap(x, width)
    for heading in (1.2, 1.57, 1.9):
        at = (x + width / 2 + 0.01, 3.0)
        for _ in range(40):
            *at, _ = clamp_base_motion(
                grid, *at, *(0.08 * np.array([math.cos(heading), math.sin(heading)]))
            )
            if 3.6 < at[1] < 4.4:
                assert true_clearance(grid, *at) >= ROBOT_RADIUS - ERROR
        assert (at[1] > 4.5) is passes, heading


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
    before = room_at(grid, x, y)
    dx, dy = length * math.cos(heading), length * math.sin(heading)
    new_x, new_y, blocked = clamp_base_motion(grid, x, y, dx, dy, slide=slide)
    assert room_at(grid, new_x, new_y) >= min(before, ROBOT_RADIUS) - 1e-9
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
