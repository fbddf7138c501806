import math
from itertools import pairwise

import numpy as np
import pytest

from rearrange.navigation import (
    distance_field,
    distance_over,
    in_line_of_sight,
    path_length,
    shortest_path,
)
from rearrange.scenes.apartment import Solid

WALL_X, WALL_TOP = (4.95, 5.05), 4.0  # of the hall in conftest.py
GOAL = (2.0, 1.0)
RADIUS = 0.3


def around_wall(start, goal=GOAL, radius=RADIUS):
    """Length of the taut string from right of the wall to left of it, over two arcs around its end."""

    def tangent(point, corner):
        dx, dy = abs(point[0] - corner[0]), corner[1] - point[1]
        away = math.hypot(dx, dy)
        below = math.atan2(dy, dx)  # angle under the horizontal
        arc = math.pi / 2 - (math.acos(radius / away) - below)
        return math.sqrt(away**2 - radius**2) + radius * arc

    left, right = (WALL_X[0], WALL_TOP), (WALL_X[1], WALL_TOP)
    return tangent(goal, left) + (right[0] - left[0]) + tangent(start, right)


STARTS = [(6.0, 1.0), (8.0, 1.0), (9.0, 3.0), (7.0, 3.0), (5.6, 2.0), (5.6, 3.5)]


@pytest.fixture(scope="module")
def field(grid):
    return distance_field(grid, GOAL)


def test_distance_in_the_open_is_euclidean(field):
    for point in ((4.0, 3.0), (4.2, 1.3), (2.0, 3.0), (1.0, 4.0), (3.9, 3.9), (0.5, 0.5)):
        assert field.at(*point) == pytest.approx(math.dist(point, GOAL), rel=2e-3)
    assert field.at(*GOAL) == pytest.approx(0.0, abs=0.04)


@pytest.mark.parametrize("start", STARTS)
def test_distance_around_a_corner(field, start):
    assert field.at(*start) == pytest.approx(around_wall(start), rel=0.015)


@pytest.mark.parametrize("start", STARTS)
def test_path_is_shortest_and_free(grid, field, start):
    path = shortest_path(field, start)
    assert tuple(path[0]) == start
    assert tuple(path[-1]) == GOAL
    assert path_length(path) == pytest.approx(around_wall(start), rel=0.005)
    for first, second in pairwise(path):
        assert in_line_of_sight(grid, tuple(first), tuple(second), RADIUS - 0.02)


def test_many_goals_give_the_nearest(grid):
    goals = np.array([(2.0, 1.0), (8.0, 1.0)])
    both = distance_field(grid, goals)
    singles = [distance_field(grid, goal) for goal in goals]
    for start in STARTS:
        assert both.at(*start) == pytest.approx(min(one.at(*start) for one in singles), rel=1e-3)
    assert tuple(shortest_path(both, (9.0, 1.0))[-1]) == (8.0, 1.0)


def test_goal_on_furniture_moves_beside_it(grid):
    field = distance_field(grid, (7.0, 6.0))
    assert math.dist(field.goals[0], (7.0, 6.0)) == pytest.approx(0.7, abs=0.06)
    assert grid.is_free(*field.goals[0])


def test_no_way_is_infinite_and_has_no_path(make_grid):
    grid = make_grid(Solid("box", (8.0, 4.0, 1.0), (0.05, 4.0, 1.0)))
    field = distance_field(grid, GOAL)
    assert field.at(9.0, 4.0) == math.inf
    assert shortest_path(field, (9.0, 4.0)).shape == (0, 2)


def test_line_of_sight(grid):
    assert in_line_of_sight(grid, (2.0, 1.0), (4.0, 3.0))
    assert not in_line_of_sight(grid, (2.0, 1.0), (8.0, 1.0))
    assert in_line_of_sight(grid, (4.0, 4.4), (6.0, 4.4))
    assert not in_line_of_sight(grid, (4.0, 4.2), (6.0, 4.2))
    assert in_line_of_sight(grid, (4.0, 4.2), (6.0, 4.2), radius=0.15)


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
