import math

import mujoco
import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import (
    forward,
    jacobian,
    link_frames,
    solve_ik,
)

LOW = np.maximum(FETCH.limits[0], -math.pi)
HIGH = np.minimum(FETCH.limits[1], math.pi)

# Written down once more, from the public URDF, so that a slip in the module shows.
MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body pos="-0.086875 0 0.52743"><geom size="0.01"/>
<body pos="0.119525 0 0.34858"><joint axis="0 0 1"/><geom size="0.01"/>
<body pos="0.117 0 0.06"><joint axis="0 1 0"/><geom size="0.01"/>
<body pos="0.219 0 0"><joint axis="1 0 0"/><geom size="0.01"/>
<body pos="0.133 0 0"><joint axis="0 1 0"/><geom size="0.01"/>
<body pos="0.197 0 0"><joint axis="1 0 0"/><geom size="0.01"/>
<body pos="0.1245 0 0"><joint axis="0 1 0"/><geom size="0.01"/>
<body pos="0.1385 0 0"><joint axis="1 0 0"/><geom size="0.01"/>
<body pos="0.16645 0 0"><geom size="0.01"/><body name="tip" pos="0.08 0 0"><geom size="0.01"/>
</body></body></body></body></body></body></body></body></body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def chain():
    model = mujoco.MjModel.from_xml_string(MJCF)
    return model, mujoco.MjData(model)


def random_joints(count, seed=0):
    return np.random.default_rng(seed).uniform(LOW, HIGH, (count, 7))


def test_forward_agrees_with_mujoco(chain):
    model, data = chain
    for joints in random_joints(50):
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        position, rotation = forward(FETCH, joints)
        np.testing.assert_allclose(position, data.body("tip").xpos, atol=1e-12)
        np.testing.assert_allclose(rotation, data.body("tip").xmat.reshape(3, 3), atol=1e-12)
        positions, _ = link_frames(FETCH, joints)
        np.testing.assert_allclose(positions, data.xpos[2:], atol=1e-12)


def test_jacobian_agrees_with_mujoco_and_finite_differences(chain):
    model, data = chain
    linear, angular = np.zeros((3, 7)), np.zeros((3, 7))
    for joints in random_joints(20, seed=1):
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacBody(model, data, linear, angular, model.body("tip").id)
        ours = jacobian(FETCH, joints)
        np.testing.assert_allclose(ours, np.vstack([linear, angular]), atol=1e-12)
        for joint in range(7):
            step = np.zeros(7)
            step[joint] = 1e-6
            slope = (forward(FETCH, joints + step)[0] - forward(FETCH, joints - step)[0]) / 2e-6
            np.testing.assert_allclose(ours[:3, joint], slope, atol=1e-8)


def test_stretched_arm_by_hand():
    position, rotation = forward(FETCH, np.zeros(7))
    reach = 0.119525 - 0.086875 + 0.117 + 0.219 + 0.133 + 0.197 + 0.1245 + 0.1385 + 0.16645 + 0.08
    np.testing.assert_allclose(position, (reach, 0.0, 0.37743 + 0.15 + 0.34858 + 0.06), atol=1e-12)
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-12)


def test_resting_arm_holds_the_tip_at_rest():
    position, _ = forward(FETCH, FETCH.resting_arm)
    assert math.dist(position, FETCH.resting_tip) < 0.01
    assert all(
        low <= q <= high for q, (low, high) in zip(FETCH.resting_arm, FETCH.limits.T, strict=True)
    )


def test_ik_finds_every_reachable_position():
    for index, joints in enumerate(random_joints(200, seed=2)):
        goal, _ = forward(FETCH, joints)
        found, error = solve_ik(FETCH, goal)
        reached = math.dist(forward(FETCH, found)[0], goal)
        assert reached == pytest.approx(error, abs=1e-9)
        assert error < 3e-3, index
        assert (found >= FETCH.limits[0]).all()
        assert (found <= FETCH.limits[1]).all()


def test_ik_points_the_hand():
    for joints in random_joints(100, seed=3):
        goal, rotation = forward(FETCH, joints)
        found, error = solve_ik(FETCH, goal, 2.0 * rotation[:, 0])
        assert error < 1e-3
        position, reached = forward(FETCH, found)
        assert math.dist(position, goal) < 1e-3
        assert reached[:, 0] @ rotation[:, 0] > math.cos(0.01)


def test_ik_moves_any_point_and_axis_of_the_hand():
    axis, point = np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.02, -0.03])
    for joints in random_joints(50, seed=4):
        tip, rotation = forward(FETCH, joints)
        found, error = solve_ik(
            FETCH, tip + rotation @ point, rotation @ axis, axis=axis, point=point, restarts=40
        )
        assert error < 1e-3
        reached, turned = forward(FETCH, found)
        assert math.dist(reached + turned @ point, tip + rotation @ point) < 1e-3
        assert (turned @ axis) @ (rotation @ axis) > math.cos(0.01)


def test_ik_reports_what_it_cannot_reach():
    joints, error = solve_ik(FETCH, (2.0, 0.0, 1.0))
    assert error > 0.7
    assert error == pytest.approx(math.dist(forward(FETCH, joints)[0], (2.0, 0.0, 1.0)), abs=1e-9)


def test_ik_is_deterministic_and_stays_near_its_seed():
    first, _ = solve_ik(FETCH, (0.6, 0.1, 0.8), (0, 0, -1))
    again, _ = solve_ik(FETCH, (0.6, 0.1, 0.8), (0, 0, -1))
    np.testing.assert_array_equal(first, again)
    near, error = solve_ik(FETCH, (0.61, 0.1, 0.79), (0, 0, -1), seed=first)
    assert error < 1e-3
    assert np.abs(near - first).max() < 0.2
