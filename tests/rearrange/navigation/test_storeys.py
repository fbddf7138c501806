"""Floors that are found in triangles, by hand."""

import math

import numpy as np
import pytest

from rearrange import UserError
from rearrange.navigation import distance_field
from rearrange.navigation.storeys import Walker, storeys_of
from tests.helpers.scanned import (
    HALL,
    UPSTAIRS,
    box,
    hall,
    ramp,
    room,
    triangles,
    two_storeys,
)
from tests.helpers.taut_string import GOAL, RADIUS, STARTS, around_wall

WALKER = Walker(radius=0.18, height=1.5)


def found(boxes, walker=WALKER):
    return storeys_of("test", triangles(boxes), walker)


@pytest.mark.parametrize("radius", [0.1, 0.18, 0.3])
def test_the_area_of_a_room_is_what_the_disc_leaves(radius):
    (storey,) = found(room(6.0, 4.0), Walker(radius, 1.5))
    half_a_cell = 0.025 * 2 * (6.0 + 4.0)  # around the room [m2]
    area = (6.0 - 2 * radius) * (4.0 - 2 * radius)
    assert storey.area == pytest.approx(area, abs=half_a_cell)
    assert storey.level == pytest.approx(0.0)
    assert storey.heights.shape == storey.grid.clearance.shape
    assert np.ptp(storey.heights) == 0.0


def test_ways_are_as_long_as_by_hand():
    (storey,) = found(hall(), Walker(RADIUS, 1.5))
    field = distance_field(storey.grid, GOAL, RADIUS)
    for start in STARTS:
        assert field.at(*start) == pytest.approx(around_wall(start), rel=0.02)
    for start in ((4.0, 3.0), (2.0, 6.0), (1.0, 1.0)):
        assert field.at(*start) == pytest.approx(math.dist(start, GOAL), rel=0.02)


@pytest.mark.parametrize(("clear", "free"), [(1.0, False), (1.6, True)])
def test_one_goes_under_what_is_high_enough(clear, free):
    table = box((2.0, 1.0, clear), (4.0, 3.0, clear + 0.05))
    storey = found([*room(6.0, 4.0), table])[0]
    assert storey.level == pytest.approx(0.0)
    assert storey.grid.is_free(3.0, 2.0, WALKER.radius) == free


def test_a_low_step_is_climbed_and_a_high_one_is_not():
    low, high = (
        found([*room(6.0, 4.0), box((3.0, 0.0, 0.0), (6.0, 4.0, step))]) for step in (0.15, 0.3)
    )
    assert len(low) == 1
    assert low[0].heights.max() == pytest.approx(0.15)
    assert low[0].grid.is_free(3.0, 2.0, WALKER.radius)
    assert [round(each.level, 2) for each in high] == [0.0, 0.3]
    assert not high[0].grid.is_free(4.0, 2.0, WALKER.radius)
    assert not high[1].grid.is_free(2.0, 2.0, WALKER.radius)


@pytest.mark.parametrize("steepness", [20, 40, 50])
def test_a_ramp_is_climbed_up_to_the_steepest_slope(steepness):
    boxes, top = ramp(steepness)
    storey = found(boxes)[0]
    climbs = steepness <= 45
    assert storey.grid.is_free(3.5, 2.0, WALKER.radius) == climbs
    if climbs:
        cell = storey.grid.cell_of(3.5, 2.0)
        assert storey.heights[cell] == pytest.approx(top / 2, abs=0.05)


def test_stairs_belong_to_both_storeys():
    below, above = found(two_storeys())
    assert (below.level, above.level) == pytest.approx((0.0, UPSTAIRS))
    for storey, height in ((below, 0.0), (above, UPSTAIRS)):
        assert storey.grid.is_free(8.0, 3.0, WALKER.radius)
        assert storey.heights[storey.grid.cell_of(8.0, 3.0)] == pytest.approx(height)
        assert storey.grid.is_free(3.0, 0.5, WALKER.radius)
        assert 0.5 < storey.heights[storey.grid.cell_of(3.0, 0.5)] < 1.0
    # Upstairs one gets down to where no floor is above
    field = distance_field(above.grid, (8.0, 3.0), WALKER.radius)
    assert math.isfinite(field.at(1.0, 3.0))
    assert field.at(1.0, 0.5) == pytest.approx(math.hypot(6.5, 2.5), rel=0.2)


def test_rooms_without_a_door_are_told_apart():
    both = found([*room(6.0, 4.0), box((2.0, 0.0, 0.0), (2.1, 4.0, 2.5))])
    assert [each.grid.is_free(1.0, 2.0, WALKER.radius) for each in both] == [False, True]
    assert [each.grid.is_free(4.0, 2.0, WALKER.radius) for each in both] == [True, False]


def test_triangles_are_stood_on_from_above_only():
    floor = np.array([[(0, 0, 0), (4, 0, 0), (4, 4, 0)], [(0, 0, 0), (4, 4, 0), (0, 4, 0)]], float)
    assert storeys_of("up", floor, WALKER)
    with pytest.raises(UserError, match=r"down: expected a floor of 1 m2 or more .* is z up"):
        storeys_of("down", floor[:, ::-1], WALKER)


def test_what_is_far_too_large_is_refused():
    with pytest.raises(UserError, match="10200 m x 8200 m is too large: lengths must be in metres"):
        storeys_of("mm", 1000.0 * triangles(room(*HALL)), WALKER)
