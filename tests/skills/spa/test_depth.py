import math

import numpy as np
import pytest

from rearrange.render.camera import FAR
from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from skills.spa.depth import eye_of, is_self, points_of, to_start_frame
from skills.spa.observed import CAMERA_SIZE

EYE = eye_of(FETCH.camera)


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
