"""Joints about x, y and z from a model whose frames are turned."""

import math

import numpy as np
import pytest

from rearrange.robot.files import RobotError
from rearrange.robot.kinematics import forward
from tests.helpers.file_robot import MODEL, WORDS


def agreement(found):
    """Largest distance of the model's tip from ours at random postures [m]."""
    source, robot = found.source, found.spec
    site = source.model.site("tip").id
    low, high = np.clip(robot.limits, -math.pi, math.pi)
    worst = 0.0
    for joints in np.random.default_rng(1).uniform(low, high, (40, len(low))):
        source.pose(found.chain.theirs(joints))
        there = source.points(source.data.site_xpos[[site]])[0]
        worst = max(worst, float(np.abs(forward(robot, joints)[0] - there).max()))
    return worst


def test_kinematics_are_the_models(heron):
    assert agreement(heron) < 1e-9


def test_axes_limits_and_signs(heron):
    axes = {joint.name: joint.axis for joint in heron.spec.joints}
    assert axes == {"lift": "z", "pan": "z", "raise": "y", "elbow": "y", "bend": "y"}
    lift, pan = heron.spec.joints[:2]
    assert (lift.low, lift.high) == pytest.approx((-0.1, 0.3))  # it slides downwards in the model
    assert lift.slides == 0.3
    assert math.isinf(pan.low)
    values = np.array([0.05, 0.2, -0.3, 0.4, 0.1])
    assert heron.chain.theirs(heron.chain.ours(values)) == pytest.approx(values)


def test_a_base_that_is_turned_and_moved(read):
    turned = WORDS.replace("body: stand", "body: stand, turn: 90, place: [0.02, 0.01, 0.05]")
    assert agreement(read(turned)) < 1e-9


def test_an_axis_that_is_askew_is_refused_by_its_name(read):
    askew = MODEL.replace('name="elbow" axis="0 0 1"', 'name="elbow" axis="0 0.6 0.8"')
    with pytest.raises(RobotError, match="axis of 'elbow' is along"):
        read(model=askew)


def test_a_hand_that_looks_askew_is_refused(read):
    askew = MODEL.replace(
        'name="palm" pos="0.1 0 0" euler="0 1.57', 'name="palm" pos="0.1 0 0" euler="0 1.1'
    )
    with pytest.raises(RobotError, match=r"cup\.along: "):
        read(model=askew)


def test_axes_that_are_nearly_right_are_told(read):
    nearly = MODEL.replace('name="raise" axis="0 0 1"', 'name="raise" axis="0.002 0 1"')
    found = read(model=nearly)
    assert any("degrees off" in remark for remark in found.notes.remarks)
    assert 1e-9 < agreement(found) < 0.01
