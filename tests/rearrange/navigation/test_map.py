import numpy as np

from rearrange.navigation import draw_map
from rearrange.navigation.map import OBSTACLE, PATH, ROBOT, TARGET


def color_at(picture, grid, x, y, scale):
    row = picture.shape[0] - 1 - int((y - grid.origin[1]) * scale)
    return tuple(picture[row, int((x - grid.origin[0]) * scale)])


def test_map_shows_everything_where_it_is(grid):
    path = np.array([(1.0, 5.0), (8.0, 5.0)])
    picture = draw_map(grid, 50.0, path, robot=(3.0, 2.0, 0.0), targets=[(8.5, 3.0)])
    assert picture.dtype == np.uint8
    assert picture.shape == (430, 530, 3)
    assert color_at(picture, grid, 5.0, 1.0, 50) == OBSTACLE
    assert color_at(picture, grid, 6.0, 4.99, 50) == PATH
    assert color_at(picture, grid, 2.9, 2.0, 50) == ROBOT
    assert color_at(picture, grid, 8.5, 3.0, 50) == TARGET


def test_tight_floor_is_darker(grid):
    picture = draw_map(grid)
    free = np.array(color_at(picture, grid, 8.0, 2.0, 60), int)
    tight = np.array(color_at(picture, grid, 4.85, 1.0, 60), int)
    assert (tight < free).all()
