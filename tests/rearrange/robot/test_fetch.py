import math

import mujoco
import numpy as np
import pytest

from rearrange.robot import kinematics
from rearrange.robot.fetch import EFFORT_LIMITS, FETCH
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.apartment_model import load_apartment


@pytest.fixture(scope="module")
def world():
    return load_apartment(3, 0, FETCH)


def place(world, joints, base=(0.0, 0.0, 0.0)):
    data = mujoco.MjData(world.model)
    x, y, yaw = base
    data.mocap_pos[0] = (x, y, 0.0)
    data.mocap_quat[0] = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    data.qpos[world.arm_qpos : world.arm_qpos + 7] = joints
    mujoco.mj_kinematics(world.model, data)
    return data


def random_joints(rng):
    low, high = FETCH.limits
    return rng.uniform(np.maximum(low, -math.pi), np.minimum(high, math.pi))


@pytest.mark.parametrize("seed", range(20))
def test_model_and_kinematics_agree(seed, world):
    rng = np.random.default_rng(seed)
    joints, base = random_joints(rng), rng.uniform(-3.0, 3.0, 3)
    data = place(world, joints, base)
    c, s = math.cos(base[2]), math.sin(base[2])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    origin = np.array([base[0], base[1], 0.0])
    positions, rotations = kinematics.link_frames(FETCH, joints)
    names = [*(f"fetch_{name}" for name in FETCH.joint_names), FETCH.gripper_body]
    for k, name in enumerate(names):
        body = data.body(name)
        np.testing.assert_allclose(body.xpos, origin + turn @ positions[k], atol=1e-9)
        np.testing.assert_allclose(body.xmat.reshape(3, 3), turn @ rotations[k], atol=1e-9)
    cup = data.geom(FETCH.suction_geom)
    size = world.model.geom(FETCH.suction_geom).size
    tip, rotation = kinematics.forward(FETCH, joints)
    np.testing.assert_allclose(cup.xmat.reshape(3, 3)[:, 2], turn @ rotation[:, 0], atol=1e-9)
    front = cup.xpos + size[1] * cup.xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(front, origin + turn @ tip, atol=1e-9)


def test_model_has_the_robots_limits(world):
    for k, name in enumerate(FETCH.joint_names):
        joint = world.model.joint(name)
        limits = FETCH.limits[:, k]
        assert bool(joint.limited[0]) == math.isfinite(limits[0])
        if math.isfinite(limits[0]):
            np.testing.assert_allclose(joint.range, limits)
        effort = EFFORT_LIMITS[k]
        np.testing.assert_allclose(world.model.actuator(name).forcerange, (-effort, effort))


def test_resting_arm_holds_the_tip_before_the_chest_pointing_down(world):
    data = place(world, FETCH.resting_arm)
    gripper = data.body(FETCH.gripper_body)
    out = gripper.xmat.reshape(3, 3)[:, 0]
    tip = gripper.xpos + FETCH.tip_offset * out
    np.testing.assert_allclose(tip, (0.5, 0.0, 1.0), atol=0.01)
    assert out[2] < -0.95


def test_resting_arm_touches_nothing_of_the_robot(world):
    data = place(world, FETCH.resting_arm, (50.0, 50.0, 0.0))
    mujoco.mj_collision(world.model, data)
    robot = [k for k, body in enumerate(world.model.geom_bodyid) if _is_robot(world.model, body)]
    assert len(robot) > 10
    assert not np.isin(data.contact.geom, robot).any()


def _is_robot(model, body):
    return model.body(body).name.startswith("fetch_")


def test_head_camera_looks_ahead_and_22_degrees_down():
    simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    simulator.state.base_pose[0] = (1.0, 2.0, math.pi / 2)
    position, rotation = simulator.camera_pose(0)
    np.testing.assert_allclose(position, (1.0, 2.25, 1.2), atol=1e-12)
    down = math.atan2(0.2, 0.5)
    assert math.degrees(down) == pytest.approx(21.8, abs=0.05)
    ahead = (0.0, math.cos(down), -math.sin(down))
    np.testing.assert_allclose(-rotation[:, 2], ahead, atol=1e-12)
    np.testing.assert_allclose(rotation[:, 0], (1.0, 0.0, 0.0), atol=1e-12)  # right of the image
    assert FETCH.camera.field_of_view == 90.0
