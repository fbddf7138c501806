import math
from itertools import pairwise

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.arm_planner import plan_arm
from skills.oracle.collision import arm_clearance, load_spheres

ARM = FETCH.planning.spheres
REST = np.array(FETCH.resting_arm)
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


def test_arm_planner_goes_around_a_post():
    goal = REST.copy()
    goal[0] += 1.2
    tip, _ = forward(FETCH, REST + (goal - REST) / 2)
    post = np.array([[tip[0], tip[1], 0.6, 0.04, 0.6]])
    direct = [REST + (goal - REST) * k / 40 for k in range(41)]
    world = (ORIGIN, ARM, NO_BOXES, post)
    assert min(arm_clearance(FETCH, q, *world) for q in direct) < 0.0
    path = plan_arm(FETCH, REST, goal, *world, margin=0.02)
    assert path is not None
    np.testing.assert_array_equal(path[0], REST)
    np.testing.assert_array_equal(path[-1], goal)
    for first, second in pairwise(path):
        for k in range(21):
            assert arm_clearance(FETCH, first + (second - first) * k / 20, *world) > 0.005


def test_arm_planner_goes_straight_where_it_can():
    goal = REST + 0.3
    path = plan_arm(FETCH, REST, goal, ORIGIN, ARM, NO_BOXES, NO_CYLINDERS, margin=0.02)
    assert path is not None
    assert len(path) == 2
