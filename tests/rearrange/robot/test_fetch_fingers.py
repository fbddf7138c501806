import math

import mujoco
import numpy as np

from rearrange.robot import find_robot, kinematics
from rearrange.robot.fetch import FETCH
from rearrange.robot.fetch_fingers import FETCH_FINGERS, FINGERS
from rearrange.sim.apartment_model import load_apartment


def test_it_is_found_by_name():
    assert find_robot("fetch_fingers") is FETCH_FINGERS


def test_the_resting_hand_points_down_at_the_resting_place():
    tip, rotation = kinematics.forward(FETCH_FINGERS, FETCH_FINGERS.resting_arm)
    assert math.dist(tip, FETCH_FINGERS.resting_tip) < 0.01
    np.testing.assert_allclose(rotation[:, 0], (0.0, 0.0, -1.0), atol=0.01)


def test_the_tip_is_in_the_middle_between_the_pads():
    world = load_apartment(3, 0, FETCH_FINGERS)
    data = mujoco.MjData(world.model)
    count = len(FETCH_FINGERS.joints)
    arm = data.qpos[world.arm_qpos : world.arm_qpos + count]
    fingers = data.qpos[world.arm_qpos + count : world.arm_qpos + count + 2]
    for joints in np.random.default_rng(0).uniform(-1.0, 1.0, (5, count)):
        arm[:], fingers[:] = joints, FINGERS.travel
        data.mocap_pos[0], data.mocap_quat[0] = 0.0, (1.0, 0.0, 0.0, 0.0)
        mujoco.mj_kinematics(world.model, data)
        left, right = data.geom_xpos[world.taker_geoms]
        tip, rotation = kinematics.forward(FETCH_FINGERS, joints)
        middle = (left + right) / 2
        np.testing.assert_allclose(middle, tip + FINGERS.center * rotation[:, 0], atol=1e-9)
        apart = (left - right) @ rotation
        np.testing.assert_allclose(apart, (0, FINGERS.opening + 2 * FINGERS.half[1], 0), atol=1e-9)


def test_but_for_the_hand_it_is_fetch():
    assert FETCH_FINGERS.joints == FETCH.joints
    assert FETCH_FINGERS.base == FETCH.base
    assert FETCH_FINGERS.camera == FETCH.camera
