import math

import numpy as np
import pytest

from rearrange.navigation import (
    distance_field,
    distance_over,
)
from tests.helpers.taut_string import GOAL, STARTS, around_wall


def test_distance_in_the_open_is_euclidean(field):
    for point in ((4.0, 3.0), (4.2, 1.3), (2.0, 3.0), (1.0, 4.0), (3.9, 3.9), (0.5, 0.5)):
        assert field.at(*point) == pytest.approx(math.dist(point, GOAL), rel=2e-3)
    assert field.at(*GOAL) == pytest.approx(0.0, abs=0.04)


@pytest.mark.parametrize("start", STARTS)
def test_distance_around_a_corner(field, start):
    assert field.at(*start) == pytest.approx(around_wall(start), rel=0.015)


def test_goal_on_furniture_moves_beside_it(grid):
    field = distance_field(grid, (7.0, 6.0))
    assert math.dist(field.goals[0], (7.0, 6.0)) == pytest.approx(0.7, abs=0.06)
    assert grid.is_free(*field.goals[0])


def test_distances_over_a_map_by_hand():
    free = np.ones((5, 5), bool)
    free[2, :4] = False
    sources = np.zeros((5, 5), bool)
    sources[0, 0] = True
    distance = distance_over(free, sources, 0.5)
    assert distance[1, 0] == 0.5
    assert distance[2, 4] > distance[1, 4] > 2.0
    assert np.isinf(distance[2, 0])
    assert np.isinf(distance_over(free, ~free, 0.5)).all()
