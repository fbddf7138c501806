"""Depth image -> points -> map -> grid, against geometry worked out by hand."""

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from skills.spa.depth import eye_of
from skills.spa.observed import CAMERA_SIZE
from skills.spa.voxels import CELL, VoxelMap
from tests.helpers.point_clouds import wall

EYE = eye_of(FETCH.camera)
NO_MODELS = np.zeros((0, 8))


EYE = eye_of(FETCH.camera)


def test_the_floor_itself_and_what_is_high_up_do_not_block_the_base():
    seen = VoxelMap()
    flat = wall(1.0)[:, [1, 2, 0]] * (1.0, 1.0, 0.0)
    seen.add(flat + np.array([0.5, 0.0, 0.01]))
    seen.add(flat + np.array([0.5, 0.0, 1.7]))
    window = seen.known([np.zeros(2)], 1.0)
    assert not seen.footprint(window, 0.05, 1.5).any()


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
