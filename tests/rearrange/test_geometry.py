import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from rearrange import geometry

lengths = st.floats(-20.0, 20.0, allow_subnormal=False)
angles = st.floats(-10.0, 10.0, allow_subnormal=False)
points = arrays(float, 3, elements=lengths)
vectors = arrays(float, 3, elements=angles)


@given(points, angles, points)
def test_base_frame_undoes_the_bases_rotation_and_position(base, yaw, world):
    local = geometry.to_base_frame(np.array([*base[:2], yaw]), world)
    back = Rotation.from_rotvec((0.0, 0.0, yaw)).apply(local) + np.array((*base[:2], 0.0))
    np.testing.assert_allclose(back, world, atol=1e-9)


@given(points, vectors, points)
def test_end_effector_frame_undoes_its_rotation_and_position(position, turn, world):
    matrix = Rotation.from_rotvec(turn).as_matrix()
    local = geometry.to_end_effector_frame(position, matrix, world)
    np.testing.assert_allclose(matrix @ np.array(local) + position, world, atol=1e-9)


@given(points, points)
def test_distance_is_the_norm(first, second):
    assert geometry.distance(first, second) == pytest.approx(np.linalg.norm(first - second))


def test_x_is_ahead_and_y_is_left():
    pose = np.array([1.0, 1.0, np.pi / 2])
    north, west = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, 0.5])
    assert geometry.to_base_frame(pose, north) == pytest.approx((2.0, 0.0, 0.5))
    assert geometry.to_base_frame(pose, west) == pytest.approx((0.0, 1.0, 0.5))
