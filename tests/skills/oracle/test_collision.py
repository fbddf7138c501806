import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.collision import arm_clearance, load_spheres, planning_of
from tests.helpers.crane import CRANE

REST = np.array(FETCH.resting_arm)


ARM = FETCH.planning.spheres
ORIGIN = np.zeros(3)
NO_BOXES, NO_CYLINDERS = np.zeros((0, 8)), np.zeros((0, 5))


def box(x, y, z, half_x, half_y, half_z, yaw=0.0):
    return np.array([[x, y, z, half_x, half_y, half_z, math.cos(yaw), math.sin(yaw)]])


def test_clearance_under_the_hand_is_the_gap_to_the_table():
    tip, _ = forward(FETCH, REST)
    table = box(0.9, 0.0, 0.4, 0.5, 2.0, 0.4)  # top at 0.8
    gap = arm_clearance(FETCH, REST, ORIGIN, ARM, table, NO_CYLINDERS)
    assert gap == pytest.approx(tip[2] - 0.8, abs=0.02)


def test_clearance_turns_and_moves_with_the_base():
    tip, _ = forward(FETCH, REST)
    pose = np.array([3.0, -2.0, 2.0])
    c, s = math.cos(2.0), math.sin(2.0)
    x, y = 3.0 + c * tip[0] - s * tip[1], -2.0 + s * tip[0] + c * tip[1]
    post = np.array([[x, y, tip[2] - 0.2, 0.05, 0.1]])  # 0.1 m under the tip
    assert arm_clearance(FETCH, REST, pose, ARM, NO_BOXES, post) == pytest.approx(0.1, abs=0.02)
    assert arm_clearance(FETCH, REST, ORIGIN, ARM, NO_BOXES, post) > 0.2


def test_inside_an_obstacle_is_negative():
    wall = box(0.4, 0.0, 1.0, 0.05, 1.0, 1.0, yaw=0.3)
    assert arm_clearance(FETCH, REST, ORIGIN, ARM, wall, NO_CYLINDERS) < -0.03


@pytest.mark.parametrize("name", OBJECT_KINDS)
def test_load_spheres_span_the_object(name):
    kind = OBJECT_KINDS[name]
    spheres = load_spheres(FETCH, kind, np.array([0.5, 0.0, 0.0]), np.eye(3))
    assert (spheres[:, 3] + spheres[:, 4]).max() == pytest.approx(kind.half_height, abs=2e-3)
    assert (spheres[:, 3] - spheres[:, 4]).min() == pytest.approx(-kind.half_height, abs=2e-3)
    around = np.hypot(spheres[:, 1] - 0.5, spheres[:, 2]).max()
    assert around == pytest.approx(kind.footprint_radius, abs=0.015)


def test_who_plans_asks_for_a_planning_model():
    with pytest.raises(UserError, match="robot 'crane' has no planning model"):
        planning_of(CRANE)
    assert planning_of(FETCH).spheres.shape[1] == 5
