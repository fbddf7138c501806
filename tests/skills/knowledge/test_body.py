import math

import numpy as np
import pytest

from rearrange.robot import kinematics
from rearrange.robot.fetch import FETCH
from skills.knowledge import Body


@pytest.mark.parametrize("seed", [0, 1])
def test_the_hand_is_where_joints_and_odometry_say(begin, seed):
    world = begin("open_cab", seed)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        world.simulator.step(np.append(rng.uniform(-0.03, 0.03, 7), [-1.0, 0.02, 0.05])[None])
    body = Body(world)
    tip, _ = kinematics.forward(FETCH, body.joints)
    x, y, yaw = body.base_pose
    cosine, sine = math.cos(yaw), math.sin(yaw)
    expected = (x + cosine * tip[0] - sine * tip[1], y + sine * tip[0] + cosine * tip[1], tip[2])
    assert math.dist(body.hand, expected) < 0.002
    assert body.to_rest == pytest.approx(math.dist(tip, FETCH.resting_tip), abs=0.001)
