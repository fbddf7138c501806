import math

import numpy as np
import pytest

from rearrange.robot import kinematics
from rearrange.robot.fetch_fingers import FETCH_FINGERS, FINGERS
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.finger_grasp import closing_directions, finger_ways, pads_over, turning

DOWN = (0.0, 0.0, -1.0)


def about_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def test_fingers_close_on_the_narrow_side():
    rotation = about_z(0.7)
    for name, first in (("004_sugar_box", 0), ("008_pudding_box", 1)):
        directions = closing_directions(FINGERS, OBJECT_KINDS[name], rotation)
        np.testing.assert_allclose(directions[0], rotation[:, first])


def test_a_box_that_lies_is_taken_by_a_side_that_stands():
    lying = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # its x points down
    (only,) = closing_directions(FINGERS, OBJECT_KINDS["004_sugar_box"], lying)
    np.testing.assert_allclose(np.abs(only), (0.0, 1.0, 0.0))


def test_all_sides_of_an_upright_can_are_alike():
    assert closing_directions(FINGERS, OBJECT_KINDS["005_tomato_soup_can"], np.eye(3)) is None


@pytest.mark.parametrize("name", ["004_sugar_box", "009_gelatin_box"])
def test_pads_stay_above_the_support_and_the_palm_above_the_thing(name):
    height = 2 * OBJECT_KINDS[name].half_height
    middle = pads_over(FINGERS, 0.0, height, 0.0)
    assert middle - FINGERS.end > 0.005
    assert middle - FINGERS.palm > height + 0.01
    assert middle - FINGERS.end < height - 0.015  # what the pads have of it


def test_the_hand_turns_where_it_is():
    arm, _ = kinematics.solve_ik(FETCH_FINGERS, (0.6, 0.1, 0.8), DOWN, tolerance=1e-4)
    tip, _ = kinematics.forward(FETCH_FINGERS, arm)
    for angle in (0.3, 2.0):
        wanted = about_z(angle)[:, 0]
        stand = np.array([3.0, -2.0, 1.1])
        (turned,) = turning(FETCH_FINGERS, [wanted])(np.array([arm, arm]), stand)
        there, rotation = kinematics.forward(FETCH_FINGERS, turned[0])
        np.testing.assert_allclose(there, tip, atol=1e-9)
        across = about_z(stand[2]) @ rotation[:, 1]
        assert abs(across @ wanted) > 0.999
        np.testing.assert_array_equal(turned[0], turned[1])
        assert abs(turned[0, -1] - arm[-1]) <= math.pi / 2 + 1e-9


def test_a_tilted_hand_closes_level_or_not_at_all():
    out = (math.sin(1.2), 0.0, -math.cos(1.2))
    arm, error = kinematics.solve_ik(FETCH_FINGERS, (0.7, 0.0, 0.9), out, tolerance=1e-4)
    assert error < 1e-3
    stand = np.zeros(3)
    assert not list(turning(FETCH_FINGERS, [about_z(1.0)[:, 0]])(arm[None], stand))
    (turned,) = turning(FETCH_FINGERS, [about_z(math.pi / 2 - 0.1)[:, 0]])(arm[None], stand)
    assert abs(kinematics.forward(FETCH_FINGERS, turned[0])[1][2, 1]) < 0.01


def test_a_hand_that_tilts_stops_before_a_thick_thing():
    for way in finger_ways(FINGERS, 0.0, OBJECT_KINDS["003_cracker_box"], True):
        for aim in way.aims:
            tilt = math.acos(-aim.direction[2])
            edge = 0.079 * math.sin(tilt) + 0.02 * math.cos(
                tilt
            )  # along the hand, from the thing's middle
            assert aim.point[0] - FINGERS.palm >= edge + 0.004
