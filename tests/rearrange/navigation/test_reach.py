import math

import numpy as np
import pytest

from rearrange.navigation import region_field, standing_region
from rearrange.navigation.reach import cut_off
from rearrange.scenes.apartment import Solid


def places(grid, point, within):
    """World positions [G, 2] of a region's cells."""
    return grid.center_of(np.argwhere(standing_region(grid, np.array(point), within)))


def test_one_stands_on_all_sides_of_a_table(make_grid):
    grid = make_grid(Solid("box", (2.0, 4.0, 0.4), (0.4, 1.0, 0.4)))
    found = places(grid, (1.9, 4.0), 0.85)
    assert np.linalg.norm(found - (1.9, 4.0), axis=1).max() <= 0.85
    assert {True, False} == set((found[:, 0] > 2.0).tolist())
    assert np.abs(found[:, 0] - 2.0).min() >= 0.4 + 0.3 - 0.01
    beside = places(grid, (1.75, 4.0), 0.85)
    assert (beside[:, 0] < 2.0).all()


def test_what_is_on_a_board_before_a_wall_is_not_reached_from_behind_the_wall(make_grid):
    wall = Solid("box", (5.0, 2.0, 1.0), (0.05, 2.0, 1.0))
    board = Solid("box", (5.3, 2.0, 0.4), (0.25, 0.5, 0.4))
    point = (5.25, 2.0)  # 0.6 m from where one stands behind the wall, as from before the board
    assert (places(make_grid(wall, board), point, 0.85)[:, 0] > 5.05).all()
    low = Solid("box", (5.0, 2.0, 0.4), (0.05, 2.0, 0.4))
    assert (places(make_grid(low, board), point, 0.85)[:, 0] < 4.95).any()


def test_where_nothing_is_so_near_one_stands_as_near_as_one_can(make_grid):
    grid = make_grid(Solid("box", (4.0, 4.0, 0.4), (1.5, 1.5, 0.4)))
    found = places(grid, (3.2, 4.0), 0.5)
    assert found.shape == (1, 2)
    np.testing.assert_allclose(found[0], (2.2, 4.0), atol=0.051)


def test_lines_are_cut_off_where_points_on_them_lie_in_a_rectangle():
    rng = np.random.default_rng(0)
    count = 300
    rectangles = np.column_stack(
        [
            rng.uniform(0, 4, (count, 2)),
            rng.uniform(0.1, 1.0, (count, 2)),
            rng.uniform(-3, 3, count),
            np.zeros(count),
        ]
    )
    start, ends = rng.uniform(0, 4, 2), rng.uniform(0, 4, (count, 2))
    shares = np.linspace(0, 1, 4001)[:, None]
    found, expected = [], []
    for rectangle, end in zip(rectangles, ends, strict=True):
        x, y, half_x, half_y, yaw, _ = rectangle
        points = start + shares * (end - start) - (x, y)
        u = points @ (math.cos(yaw), math.sin(yaw))
        v = points @ (-math.sin(yaw), math.cos(yaw))
        expected.append(bool(((abs(u) <= half_x) & (abs(v) <= half_y)).any()))
        found.append(bool(cut_off(rectangle[None], start, end[None])[0]))
    assert found == expected
    assert 60 < sum(expected) < 240
    some = rectangles[:5]
    each = np.array([cut_off(row[None], start, ends) for row in some])
    np.testing.assert_array_equal(cut_off(some, start, ends), each.any(axis=0))


def test_the_way_to_a_region_is_that_to_its_nearest_cell(grid):
    region = np.zeros_like(grid.island)
    cells = np.array([grid.cell_of(2.0, 1.0), grid.cell_of(2.0, 3.0)])
    region[cells[:, 0], cells[:, 1]] = True
    field = region_field(grid, region)
    first, second = grid.center_of(cells)
    assert field.at(*first) == pytest.approx(0.0, abs=0.04)
    for x, y in ((4.0, 1.2), (3.0, 3.5), (1.0, 2.2)):
        nearest = min(math.dist((x, y), first), math.dist((x, y), second))
        assert field.at(x, y) == pytest.approx(nearest, rel=0.03)
    np.testing.assert_allclose(
        sorted(map(tuple, field.goals)), sorted([tuple(first), tuple(second)])
    )
