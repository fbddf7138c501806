"""Habitat's frames, and what its simulator says where there is no Habitat: nothing here needs it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.spatial.transform import Rotation

from rearrange.habitat.frames import (
    from_habitat_position,
    from_habitat_rotation,
    to_habitat_position,
    to_habitat_rotation,
)

HALF = math.sqrt(0.5)
numbers = st.floats(-100.0, 100.0)
quaternions = (
    arrays.arrays(float, (4,), elements=st.floats(-1.0, 1.0))
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)
points = arrays.arrays(float, (3,), elements=numbers)


# --- frames -----------------------------------------------------------------------------------------


def test_up_is_y_and_left_is_minus_z():
    assert to_habitat_position((1.0, 2.0, 3.0)).tolist() == [1.0, 3.0, -2.0]
    assert from_habitat_position((1.0, 3.0, -2.0)).tolist() == [1.0, 2.0, 3.0]


def test_a_thing_that_is_not_turned_here_is_turned_a_quarter_about_x_there():
    assert to_habitat_rotation((1.0, 0.0, 0.0, 0.0)) == pytest.approx([-HALF, 0.0, 0.0, HALF])


def test_a_turn_to_the_left_is_one_about_habitats_y():
    left = (math.cos(0.3), 0.0, 0.0, math.sin(0.3))
    turned = Rotation.from_quat(to_habitat_rotation(left))
    upright = Rotation.from_quat(to_habitat_rotation((1.0, 0.0, 0.0, 0.0)))
    assert (turned * upright.inv()).as_rotvec() == pytest.approx([0.0, 0.6, 0.0])


@given(points)
def test_positions_come_back(point):
    assert from_habitat_position(to_habitat_position(point)) == pytest.approx(point, abs=1e-12)


@given(quaternions)
def test_rotations_come_back(quaternion):
    back = from_habitat_rotation(to_habitat_rotation(quaternion))
    assert back == pytest.approx(quaternion, abs=1e-12)


@given(quaternions, points, points)
def test_a_point_of_a_thing_is_the_same_point_in_both_worlds(quaternion, position, local):
    here = position + Rotation.from_quat(quaternion, scalar_first=True).apply(local)
    turn = Rotation.from_quat(to_habitat_rotation(quaternion))
    there = to_habitat_position(position) + turn.apply(local)
    assert from_habitat_position(there) == pytest.approx(here, abs=1e-9)


def test_many_at_once_are_as_one_by_one():
    rng = np.random.default_rng(0)
    turns = Rotation.random(5, random_state=0).as_quat(scalar_first=True)
    spots = rng.normal(size=(2, 5, 3))
    assert to_habitat_rotation(turns)[3] == pytest.approx(to_habitat_rotation(turns[3]))
    assert to_habitat_position(spots)[1, 2] == pytest.approx(to_habitat_position(spots[1, 2]))


# --- without Habitat --------------------------------------------------------------------------------


# --- an engine that dies ----------------------------------------------------------------------------
