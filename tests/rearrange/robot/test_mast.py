import math

import mujoco
import numpy as np
import pytest

from rearrange.robot import find_robot, kinematics
from rearrange.robot.mast import MAST
from rearrange.sim.apartment_model import load_apartment

LIFT, ARM = 0, 1


@pytest.fixture(scope="module")
def world():
    return load_apartment(3, 0, MAST)


def place(world, joints, base=(0.0, 0.0, 0.0)):
    data = mujoco.MjData(world.model)
    x, y, yaw = base
    data.mocap_pos[0] = (x, y, 0.0)
    data.mocap_quat[0] = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    data.qpos[world.arm_qpos : world.arm_qpos + len(MAST.joints)] = joints
    mujoco.mj_kinematics(world.model, data)
    return data


def random_joints(count, seed=0):
    return np.random.default_rng(seed).uniform(*MAST.limits, (count, len(MAST.joints)))


def test_it_is_found_by_name():
    assert find_robot("mast") is MAST


def test_model_and_kinematics_agree(world):
    for joints in random_joints(20):
        data = place(world, joints)
        positions, rotations = kinematics.link_frames(MAST, joints)
        names = [*(f"mast_{name}" for name in MAST.joint_names), MAST.gripper_body]
        for k, name in enumerate(names):
            np.testing.assert_allclose(data.body(name).xpos, positions[k], atol=1e-9)
            matrix = data.body(name).xmat.reshape(3, 3)
            np.testing.assert_allclose(matrix, rotations[k], atol=1e-9)
        cup, size = data.geom(MAST.suction_geom), world.model.geom(MAST.suction_geom).size
        tip, rotation = kinematics.forward(MAST, joints)
        out = cup.xmat.reshape(3, 3)[:, 2]
        np.testing.assert_allclose(out, rotation[:, 0], atol=1e-9)
        np.testing.assert_allclose(cup.xpos + size[1] * out, tip, atol=1e-9)


def test_jacobian_of_slides_and_hinges_agrees_with_finite_differences():
    for joints in random_joints(20, seed=1):
        ours = kinematics.jacobian(MAST, joints)
        for joint in range(len(MAST.joints)):
            step = np.zeros(len(MAST.joints))
            step[joint] = 1e-6
            there, turned = kinematics.forward(MAST, joints + step)
            back, rotation = kinematics.forward(MAST, joints - step)
            np.testing.assert_allclose(ours[:3, joint], (there - back) / 2e-6, atol=1e-8)
            spin = (turned - rotation) @ kinematics.forward(MAST, joints)[1].T / 2e-6
            axis = (spin[2, 1], spin[0, 2], spin[1, 0])
            np.testing.assert_allclose(ours[3:, joint], axis, atol=1e-8)
        np.testing.assert_array_equal(ours[:, LIFT], (0, 0, 1, 0, 0, 0))
        np.testing.assert_array_equal(ours[:, ARM], (1, 0, 0, 0, 0, 0))


def test_a_slide_moves_the_hand_by_as_much():
    rest = np.array(MAST.resting_arm)
    tip, rotation = kinematics.forward(MAST, rest)
    moved, same = kinematics.forward(MAST, rest + np.array([-0.3, 0.2, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(moved - tip, (0.2, 0.0, -0.3), atol=1e-12)
    np.testing.assert_array_equal(same, rotation)


def test_the_model_has_slides_with_its_limits(world):
    for k, name in enumerate(MAST.joint_names):
        joint = world.model.joint(name)
        slides = joint.type[0] == mujoco.mjtJoint.mjJNT_SLIDE
        assert slides == (k in (LIFT, ARM))
        assert joint.limited[0]
        np.testing.assert_allclose(joint.range, MAST.limits[:, k])


def test_the_resting_arm_holds_the_tip_pointing_down_and_touches_nothing_of_the_robot(world):
    tip, rotation = kinematics.forward(MAST, MAST.resting_arm)
    assert math.dist(tip, MAST.resting_tip) < 0.01
    assert rotation[2, 0] < -0.95
    data = place(world, MAST.resting_arm, (50.0, 50.0, 0.0))
    mujoco.mj_collision(world.model, data)
    bodies = world.model.geom_bodyid
    own = [k for k, body in enumerate(bodies) if world.model.body(body).name.startswith("mast_")]
    assert len(own) > 10
    assert not np.isin(data.contact.geom, own).any()


def test_the_retracted_arm_stays_over_the_base(world):
    """Nothing that collides is behind the disc for which the floor's clearance leaves room."""
    data = place(world, (0.5, 0.0, 0.0, 1.5, 0.0))
    capsule = data.body("mast_arm").id
    geom = int(world.model.body_geomadr[capsule])
    radius, half, _ = world.model.geom_size[geom]
    back = data.geom_xpos[geom] - half * abs(data.geom_xmat[geom].reshape(3, 3)[:, 2])
    assert math.hypot(*back[:2]) + radius <= MAST.base.radius


@pytest.mark.parametrize("height", [0.4, 0.75, 0.95, 1.05])
@pytest.mark.parametrize("ahead", [0.45, 0.6, 0.8])
def test_the_hand_comes_down_on_all_that_stands_in_homes(height, ahead):
    joints, error = kinematics.solve_ik(MAST, (ahead, 0.0, height), (0.0, 0.0, -1.0))
    assert error < 3e-3
    assert (joints >= MAST.limits[0]).all()
    assert (joints <= MAST.limits[1]).all()


def test_inverse_kinematics_finds_what_forward_kinematics_reach():
    missed = 0
    for joints in random_joints(100, seed=2):
        goal, _ = kinematics.forward(MAST, joints)
        found, error = kinematics.solve_ik(MAST, goal)
        assert math.dist(kinematics.forward(MAST, found)[0], goal) == pytest.approx(error, abs=1e-9)
        missed += error > 3e-3
    assert missed <= 5


def test_changes_of_slides_count_in_their_units():
    np.testing.assert_array_equal(MAST.units, (0.3, 0.3, 1.0, 1.0, 1.0))
    assert MAST.swing(np.array([-0.3, 0.15, 0.2, 0.0, 0.0])) == pytest.approx(1.0)
    assert MAST.swing(np.array([0.03, 0.0, -0.4, 0.2, 0.0])) == pytest.approx(0.4)
