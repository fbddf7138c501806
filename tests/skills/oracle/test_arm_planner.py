from itertools import pairwise

import numpy as np

from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from skills.oracle.arm_planner import plan_arm
from skills.oracle.collision import arm_clearance

ARM = FETCH.planning.spheres

REST = np.array(FETCH.resting_arm)
ORIGIN = np.zeros(3)
NO_BOXES, NO_CYLINDERS = np.zeros((0, 8)), np.zeros((0, 5))


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
