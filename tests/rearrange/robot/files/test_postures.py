"""Postures and reach that are worked out."""

import numpy as np
import pytest

from rearrange.robot.files import RobotError
from rearrange.robot.kinematics import forward
from tests.helpers.file_robot import WORDS


def test_the_resting_hand_is_where_it_should_be_and_looks_down(heron):
    place, rotation = forward(heron.spec, heron.spec.resting_arm)
    assert place == pytest.approx((0.5, 0.0, 0.9), abs=0.005)
    assert rotation[2, 0] < -0.99


def test_postures_differ_and_are_within_the_limits(heron):
    robot = heron.spec
    found = [np.array(each) for each in robot.planning.postures]
    assert found
    low, high = robot.limits
    for k, posture in enumerate(found):
        assert ((posture >= low - 1e-9) & (posture <= high + 1e-9)).all()
        assert all(robot.swing(posture - other) > 0.5 for other in found[:k])


def test_reach_is_within_the_arms_length(heron):
    reach, planning = heron.spec.reach, heron.spec.planning
    assert 0.45 <= reach.standing < planning.shoulder[0] + planning.length
    assert reach.standing < reach.ahead < planning.shoulder[0] + planning.length + 0.1


def test_what_the_file_says_of_reach_counts(read):
    assert read(WORDS + "reach: {standing: 0.62}\n").spec.reach.standing == 0.62


def test_a_tip_that_is_out_of_reach_is_refused(read):
    with pytest.raises(RobotError, match=r"resting_tip: the tip does not reach \(2, 0, 0.9\)"):
        read(WORDS.replace("[0.5, 0, 0.9]", "[2, 0, 0.9]"))
