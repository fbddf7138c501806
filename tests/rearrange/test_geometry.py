import array_api_compat.numpy as numpy_api
import array_api_compat.torch as torch_api
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from rearrange import geometry

COUNT = 4
lengths = st.floats(-20.0, 20.0, allow_subnormal=False)
angles = st.floats(-10.0, 10.0, allow_subnormal=False)
points = arrays(float, (COUNT, 3), elements=lengths)
vectors = arrays(float, (COUNT, 3), elements=angles)


def both(function, *inputs):
    """The result in NumPy, after torch has given the same and no input was written to."""
    before = [values.copy() for values in inputs]
    result = function(numpy_api, *inputs)
    tensors = [torch.asarray(values) for values in inputs]
    np.testing.assert_allclose(function(torch_api, *tensors).numpy(), result, atol=1e-9)
    for values, copy in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(values, copy)
    return result


@settings(deadline=None)
@given(points, vectors, points)
def test_base_frame_undoes_the_bases_rotation_and_position(base, yaws, world):
    pose = np.concatenate([base[:, :2], yaws[:, :1]], axis=1)
    turns = Rotation.from_rotvec(pose[:, 2:] * (0.0, 0.0, 1.0))
    local = both(geometry.to_base_frame, pose, world)
    back = turns.apply(local) + np.concatenate([pose[:, :2], np.zeros((COUNT, 1))], axis=1)
    np.testing.assert_allclose(back, world, atol=1e-9)


@settings(deadline=None)
@given(points, vectors, points)
def test_end_effector_frame_undoes_its_rotation_and_position(position, turn, world):
    matrices = Rotation.from_rotvec(turn).as_matrix()
    local = both(lambda _, *a: geometry.to_end_effector_frame(*a), position, matrices, world)
    back = np.einsum("nij,nj->ni", matrices, local) + position
    np.testing.assert_allclose(back, world, atol=1e-9)


@settings(deadline=None)
@given(points, points)
def test_distance_is_the_norm(first, second):
    found = both(geometry.distance, first, second)
    np.testing.assert_allclose(found, np.linalg.norm(first - second, axis=-1), atol=1e-9)


def test_x_is_ahead_and_y_is_left():
    pose, north = np.array([[1.0, 1.0, np.pi / 2]]), np.array([[1.0, 3.0, 0.5]])
    local = geometry.to_base_frame(numpy_api, pose, north)
    assert local[0] == pytest.approx((2.0, 0.0, 0.5))
    west = np.array([[0.0, 1.0, 0.5]])
    assert geometry.to_base_frame(numpy_api, pose, west)[0] == pytest.approx((0.0, 1.0, 0.5))


@settings(deadline=None)
@given(points, vectors, points)
def test_a_lone_world_has_the_same_base_frame_as_among_others(base, yaws, world):
    pose = np.concatenate([base[:, :2], yaws[:, :1]], axis=1)
    together = geometry.to_base_frame(numpy_api, pose, world)
    for i in range(COUNT):
        alone = both(geometry.to_base_frame, pose[i : i + 1], world[i : i + 1])
        np.testing.assert_allclose(alone, together[i : i + 1], atol=1e-9)
