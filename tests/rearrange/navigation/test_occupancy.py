import math

import numpy as np
import pytest

from rearrange.navigation import OccupancyGrid
from rearrange.scenes.apartment import Solid


def test_clearance_is_the_distance_to_the_nearest_surface(grid):
    assert grid.clearance_at(4.0, 1.5) == pytest.approx(0.95, abs=0.01)  # wall face at x = 4.95
    assert grid.clearance_at(5.0, 4.5) == pytest.approx(0.5, abs=0.01)  # wall end at y = 4
    assert grid.clearance_at(7.0, 5.0) == pytest.approx(0.6, abs=0.01)  # column of radius 0.4
    assert grid.clearance_at(0.4, 3.0) == pytest.approx(0.4, abs=0.01)  # outer bound
    assert grid.clearance_at(7.0, 6.0) == pytest.approx(-0.4, abs=0.04)  # inside the column
    assert grid.clearance_at(-3.0, 50.0) < 0.0


def test_turned_box_has_a_turned_footprint(grid):
    c, s = math.cos(0.5), math.sin(0.5)
    # 0.5 m from the middle of the long side and 0.3 m beyond the short side, in the crate's frame
    assert grid.clearance_at(2 - s * 0.7, 6 + c * 0.7) == pytest.approx(0.5, abs=0.01)
    assert grid.clearance_at(2 + c * 0.7, 6 + s * 0.7) == pytest.approx(0.3, abs=0.01)


def test_what_is_overhead_flat_or_decoration_is_no_obstacle(grid):
    for x, y in ((8.0, 2.0), (8.0, 4.0), (2.0, 3.0)):
        assert grid.is_free(x, y, 0.5)


def test_fridge_and_cabinet_are_obstacles(grid):
    assert grid.clearance_at(0.5, 7.5) < 0.0
    assert grid.clearance_at(9.5, 7.5) < 0.0


def test_more_can_be_put_on_the_floor(grid):
    x, y = 2.0, 1.0
    disc = np.array([[x, y, 0.0, 0.0, 0.0, 0.2]])
    before, island = grid.clearance.copy(), grid.island
    more = grid.with_obstacles(disc)
    cells = np.argwhere(np.ones_like(before, dtype=bool)).reshape(*before.shape, 2)
    away = np.linalg.norm(grid.center_of(cells) - (x, y), axis=-1) - 0.2
    np.testing.assert_allclose(more.clearance, np.minimum(before, away), atol=1e-5)
    assert more.island.sum() < island.sum()
    np.testing.assert_array_equal(grid.clearance, before)
    assert grid.island is island


def test_island_leaves_out_what_cannot_be_reached(make_grid):
    wall = Solid("box", (8.0, 4.0, 1.0), (0.05, 4.0, 1.0))
    grid = make_grid(wall)
    assert grid.is_free(9.0, 4.0)
    assert not grid.on_island(9.0, 4.0)
    assert grid.on_island(4.0, 4.0)
    x, _ = grid.nearest_navigable(9.5, 4.0)
    assert x < 7.7


def test_sampled_poses_are_free_and_spread(grid):
    generator = np.random.default_rng(0)
    poses = np.array([grid.sample_pose(generator) for _ in range(300)])
    assert all(grid.on_island(x, y) for x, y, _ in poses)
    assert poses[:, 0].min() < 1.0 < 9.0 < poses[:, 0].max()
    assert abs(np.cos(poses[:, 2]).mean()) < 0.15


def test_poses_near_a_point_face_it(grid):
    generator = np.random.default_rng(0)
    point = (7.0, 6.0)
    errors = []
    for _ in range(300):
        x, y, yaw = grid.sample_pose_near(generator, point, 1.5, yaw_noise=0.2)
        assert math.dist((x, y), point) <= 1.5
        assert grid.is_free(x, y)
        errors.append(math.remainder(yaw - math.atan2(point[1] - y, point[0] - x), 2 * math.pi))
    assert np.std(errors) == pytest.approx(0.2, rel=0.2)
    assert grid.sample_pose_near(generator, point, 0.6) is None  # all within the column's reach


def test_poses_near_a_point_are_not_behind_a_wall_of_where_one_stands():
    free = np.ones((80, 80), bool)  # 4 m x 4 m
    free[40, :60] = False  # a wall whose end is 2 m from the point
    grid = OccupancyGrid.from_floor("two rooms", (0.0, 0.0), free)
    point, generator = (2.6, 1.0), np.random.default_rng(0)
    region = np.zeros_like(grid.island)
    region[grid.cell_of(*point)] = True
    sides = {False: set(), True: set()}
    for known in sides:
        for _ in range(100):
            among = region if known else None
            pose = grid.sample_pose_near(generator, point, 1.5, region=among)
            sides[known].add(pose[0] < 2.0)
    assert sides == {False: {False, True}, True: {False}}
    # In a circle that holds the wall's end the way leads around it
    around = [grid.sample_pose_near(generator, point, 3.0, region=region)[0] for _ in range(100)]
    assert min(around) < 2.0
    nowhere = np.zeros_like(region)
    assert grid.sample_pose_near(generator, point, 1.5, region=nowhere) is None
    # Of the cells near the point some alone can be asked for
    behind = np.arange(len(region))[:, None] * grid.cell + grid.origin[0] < np.full_like(
        region, 2.0, float
    )
    far = [grid.sample_pose_near(generator, point, 3.0, among=behind)[0] for _ in range(30)]
    assert max(far) < 2.0
    assert grid.sample_pose_near(generator, point, 1.5, region=region, among=behind) is None


@pytest.mark.parametrize("seed", range(4))
def test_tiles_leave_out_no_obstacle_that_is_near(grid, seed):
    rng = np.random.default_rng(seed)
    count = 40
    footprints = np.column_stack(
        [
            rng.uniform(-1.0, 9.0, (count, 2)),
            rng.uniform(0.0, 1.5, (count, 2)) * (rng.random((count, 1)) < 0.7),
            rng.uniform(-4.0, 4.0, count),
            rng.uniform(0.0, 0.5, count),
        ]
    )
    more = grid.with_obstacles(footprints)
    cells = np.argwhere(np.ones_like(grid.clearance, dtype=bool)).reshape(*grid.clearance.shape, 2)
    x, y = np.moveaxis(more.center_of(cells), -1, 0)
    expected = grid.clearance.astype(float)
    for cx, cy, half_x, half_y, yaw, radius in footprints:
        c, s = math.cos(yaw), math.sin(yaw)
        u = np.abs(c * (x - cx) + s * (y - cy)) - half_x
        v = np.abs(c * (y - cy) - s * (x - cx)) - half_y
        signed = np.hypot(np.maximum(u, 0), np.maximum(v, 0)) + np.minimum(np.maximum(u, v), 0)
        expected = np.minimum(expected, signed - radius)
    np.testing.assert_allclose(more.clearance, expected, atol=1e-6)
