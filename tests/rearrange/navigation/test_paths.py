import math
from itertools import pairwise

import numpy as np
import pytest

from rearrange.navigation import (
    distance_field,
    path_length,
    shortest_path,
)
from rearrange.navigation.sight import TOLERANCE, sees
from rearrange.scenes.apartment import Solid
from tests.helpers.taut_string import GOAL, RADIUS, STARTS, around_wall


@pytest.mark.parametrize("start", STARTS)
def test_path_is_shortest_and_free(grid, field, start):
    path = shortest_path(field, start)
    assert tuple(path[0]) == start
    assert tuple(path[-1]) == GOAL
    assert path_length(path) == pytest.approx(around_wall(start), rel=0.005)
    for first, second in pairwise(path):
        ends = *tuple(first), *tuple(second)
        radius = RADIUS - 0.02 - TOLERANCE
        assert sees(grid.clearance, *grid.origin, grid.cell, *ends, radius)


def test_many_goals_give_the_nearest(grid):
    goals = np.array([(2.0, 1.0), (8.0, 1.0)])
    both = distance_field(grid, goals)
    singles = [distance_field(grid, goal) for goal in goals]
    for start in STARTS:
        assert both.at(*start) == pytest.approx(min(one.at(*start) for one in singles), rel=1e-3)
    assert tuple(shortest_path(both, (9.0, 1.0))[-1]) == (8.0, 1.0)


def test_no_way_is_infinite_and_has_no_path(make_grid):
    grid = make_grid(Solid("box", (8.0, 4.0, 1.0), (0.05, 4.0, 1.0)))
    field = distance_field(grid, GOAL)
    assert field.at(9.0, 4.0) == math.inf
    assert shortest_path(field, (9.0, 4.0)).shape == (0, 2)
