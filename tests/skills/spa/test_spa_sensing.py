"""Depth image -> points -> map -> grid, against geometry worked out by hand."""

import math

import numpy as np
import pytest

from rearrange.render.camera import FAR
from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from skills.spa.depth import eye_of, is_self, points_of, to_start_frame
from skills.spa.floor import SeenBasePlanner
from skills.spa.observed import CAMERA_SIZE
from skills.spa.voxels import CELL, VoxelMap

NO_MODELS = np.zeros((0, 8))
EYE = eye_of(FETCH.camera)


def wall(x, y0=-1.0, y1=1.0, low=0.1, high=1.4, step=0.02):
    """Points [P, 3] on an upright wall across the x axis."""
    ys, zs = np.meshgrid(np.arange(y0, y1, step), np.arange(low, high, step))
    return np.column_stack([np.full(ys.size, x), ys.ravel(), zs.ravel()])


def test_a_ray_through_the_middle_meets_the_floor_where_the_camera_looks():
    # The camera looks from (0.25, 1.2) at (0.75, 1.0): 0.2 m down per 0.5 m ahead. From 1.2 m up
    # it meets the floor 3.0 m farther on, at x = 3.25, sqrt(3^2 + 1.2^2) away along its axis.
    depth = np.full((CAMERA_SIZE, CAMERA_SIZE), FAR)
    middle = CAMERA_SIZE // 2
    depth[middle - 1 : middle + 1, middle - 1 : middle + 1] = math.hypot(3.0, 1.2)
    points = points_of(depth, EYE)
    assert points.shape == (4, 3)
    np.testing.assert_allclose(points.mean(axis=0), (3.25, 0.0, 0.0), atol=1e-6)


def test_columns_left_in_the_image_are_left_of_the_robot():
    depth = np.full((CAMERA_SIZE, CAMERA_SIZE), FAR)
    depth[64, 0] = 2.0
    # The first column's centre is 127/128 of half the width, which is 1 m per metre of depth.
    assert points_of(depth, EYE)[0, 1] == pytest.approx(2.0 * 127 / 128)


def test_points_turn_and_move_with_the_base():
    pose = np.array([1.0, 2.0, math.pi / 2])
    moved = to_start_frame(np.array([[0.5, 0.25, 0.7]]), pose)
    np.testing.assert_allclose(moved, [[1.0 - 0.25, 2.0 + 0.5, 0.7]], atol=1e-12)


def test_arm_body_and_load_are_filtered_and_nothing_else():
    joints = np.array(FETCH.resting_arm)
    tip, rotation = forward(FETCH, joints)
    hanging = tip + 0.1 * rotation[:, 0]
    points = np.array([tip, (0.1, 0.1, 0.3), hanging, (1.2, 0.0, 0.8)])
    assert is_self(FETCH, points, joints, holding=False).tolist() == [True, True, False, False]
    assert is_self(FETCH, points, joints, holding=True).tolist() == [True, True, True, False]


def test_a_seen_wall_is_in_the_grid_and_unknown_floor_is_free():
    seen = VoxelMap()
    seen.add(wall(1.02))
    planner = SeenBasePlanner(
        FETCH,
        seen,
        np.zeros(3),
        np.array([2.0, 0.0]),
        np.array(FETCH.resting_arm),
        FETCH.planning.spheres,
    )
    for x, room in ((1.025, 0.0), (0.525, 0.5), (1.525, 0.5)):
        assert planner.grid.clearance_at(x, 0.025) == pytest.approx(room, abs=1e-3)
    assert planner.grid.is_free(2.0, 0.0)
    assert not planner.grid.is_free(0.85, 0.0)


def test_the_floor_itself_and_what_is_high_up_do_not_block_the_base():
    seen = VoxelMap()
    flat = wall(1.0)[:, [1, 2, 0]] * (1.0, 1.0, 0.0)
    seen.add(flat + np.array([0.5, 0.0, 0.01]))
    seen.add(flat + np.array([0.5, 0.0, 1.7]))
    window = seen.known([np.zeros(2)], 1.0)
    assert not seen.footprint(window, 0.05, 1.5).any()


def test_daring_goes_under_what_hangs_over_the_floor():
    seen = VoxelMap()
    seen.add(wall(0.9, low=0.6, high=0.8))
    arguments = (
        FETCH,
        seen,
        np.zeros(3),
        np.array([1.5, 0.0]),
        np.array(FETCH.resting_arm),
        FETCH.planning.spheres,
    )
    careful, daring = SeenBasePlanner(*arguments), SeenBasePlanner(*arguments, True)
    assert not careful.grid.is_free(0.9, 0.0)
    assert daring.grid.is_free(0.9, 0.0)
    assert daring.slack(np.array([1.0, 0.0, 0.0]))[0] < 0  # there the torso would meet it


def test_what_is_seen_through_disappears():
    seen = VoxelMap()
    ahead = EYE.position - 2.0 * EYE.turn[:, 2]
    thing = ahead + np.random.default_rng(0).uniform(-0.02, 0.02, (50, 3))
    seen.add(thing)
    assert seen.occupied(thing).all()
    seen.carve(np.full((CAMERA_SIZE, CAMERA_SIZE), 2.0), np.zeros(3), EYE)  # still there
    assert seen.occupied(thing).all()
    for _ in range(4):
        seen.carve(np.full((CAMERA_SIZE, CAMERA_SIZE), 5.0), np.zeros(3), EYE)
    assert not seen.occupied(thing).any()


def test_boxes_cover_what_was_seen_and_end_at_its_top():
    seen = VoxelMap()
    plate = np.array(
        [(x, y, 0.762) for x in np.arange(0, 0.5, 0.02) for y in np.arange(0, 0.3, 0.02)]
    )
    seen.add(plate)
    boxes = seen.boxes(np.zeros(2), 1.0, NO_MODELS)
    assert len(boxes) == 1
    top = boxes[0, 2] + boxes[0, 5]
    assert top == pytest.approx(0.762, abs=CELL / 255)
    assert 4 * boxes[0, 3] * boxes[0, 4] == pytest.approx(0.5 * 0.3, rel=0.15)


def test_models_replace_the_voxels_at_their_surfaces():
    seen = VoxelMap()
    seen.add(wall(1.0, -0.3, 0.3, 0.2, 0.8))
    model = np.array([(1.1, 0.0, 0.5, 0.1, 0.35, 0.35, 1.0, 0.0)])
    boxes = seen.boxes(np.array([1.0, 0.0]), 1.0, model)
    np.testing.assert_array_equal(boxes, model)


def test_forgetting_clears_a_cylinder_only():
    seen = VoxelMap()
    points = np.array([(1.0, 0.0, 0.9), (1.5, 0.0, 0.9), (1.0, 0.0, 0.3)])
    seen.add(points)
    seen.forget(np.array([1.0, 0.0]), 0.1, 0.8, 1.0)
    assert seen.occupied(points).tolist() == [False, True, True]
