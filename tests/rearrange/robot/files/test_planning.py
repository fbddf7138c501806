"""What planners know of a robot from files."""

from math import inf, pi
from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot.files.planning import (
    OwnBody,
    clearances,
    model_of,
    own_body,
    place,
    random_postures,
)
from rearrange.robot.files.shapes import Piece
from rearrange.robot.joint import Joint


def test_its_body_is_a_cylinder_and_a_box(heron):
    planning = heron.spec.planning
    assert planning.body_box == pytest.approx((-0.04, 0.0, 0.44, 0.05, 0.06, 0.22))
    assert planning.body_cylinder[3:] == pytest.approx((0.265, 0.115))
    assert planning.layers[0][:2] == pytest.approx((0.0, 0.22))


def test_spheres_lie_around_the_arm_at_rest(heron):
    robot, planning = heron.spec, heron.spec.planning
    rest = np.array(robot.resting_arm)
    assert clearances(robot, planning, heron.body, rest).min() > 0.0
    tip = place(robot, planning, rest)[-1]
    assert np.linalg.norm(tip - robot.resting_tip) < 0.04


def test_the_shoulder_and_how_long_the_arm_is(heron):
    planning = heron.spec.planning
    assert planning.length == pytest.approx(0.36 + 0.33 + 0.1 + 0.04 + 0.09 + 0.2, abs=0.01)
    assert planning.first_pushing_link == 3  # the elbow


def test_distances_from_a_body():
    trunk = Piece("box", np.array([0.0, 0.0, 0.6]), np.eye(3), np.array([0.1, 0.1, 0.3]))
    body = own_body([trunk], 0.25, 0.3)
    points = np.array([[0.3, 0.0, 0.7], [0.35, 0.0, 0.1], [0.0, 0.0, 0.6]])
    assert body.clearance(points) == pytest.approx([0.2, 0.1, -0.1])


def test_a_hand_that_never_leaves_the_body_is_told(heron):
    around = OwnBody(0.3, 0.3, np.full(3, -9.0), np.full(3, 9.0))
    links = [[]] * (len(heron.spec.joints) + 1)
    with pytest.raises(UserError, match="heron: nothing of the arm leaves the box"):
        model_of(heron.spec, links, around, (0.05, 0.02))


@pytest.mark.parametrize(
    ("low", "high", "slides", "drawn"),
    [
        (-1.0, 2.0, 0.0, (-1.0, 2.0)),
        (-inf, inf, 0.0, (-pi, pi)),
        (-2 * pi, 2 * pi, 0.0, (-pi, pi)),
        (3.5, 5.0, 0.0, (3.5, 5.0)),
        (-1.5 * pi, 0.5 * pi, 0.0, (-1.5 * pi, 0.5 * pi)),
        (-9.0, 1.0, 0.0, (1.0 - 2 * pi, 1.0)),
        (0.0, 4.0, 0.3, (0.0, 4.0)),
    ],
)
def test_postures_are_drawn_from_all_that_limits_allow(low, high, slides, drawn):
    joint = Joint("a", (0.0, 0.0, 0.0), "z", low, high, slides)
    robot = SimpleNamespace(joints=[joint], limits=np.array([[low], [high]]))
    postures = random_postures(robot, 2000)
    assert (postures.min(), postures.max()) == pytest.approx(drawn, abs=0.02)
