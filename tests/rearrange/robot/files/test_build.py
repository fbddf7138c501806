"""The bodies of a robot from files."""

import math

import mujoco
import numpy as np
import pytest

from rearrange.robot.kinematics import forward
from rearrange.scenes.compile import empty_spec
from tests.helpers.file_robot import WORDS


def compiled(robot):
    spec = empty_spec()
    robot.build(spec)
    return spec.compile()


def test_its_cup_is_where_kinematics_have_it(heron):
    robot, model = heron.spec, compiled(heron.spec)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(10):
        joints = rng.uniform(*np.clip(robot.limits, -math.pi, math.pi))
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        gripper = model.body(robot.gripper_body).id
        tip = data.xpos[gripper] + data.xmat[gripper].reshape(3, 3) @ np.array(robot.tip)
        assert tip == pytest.approx(forward(robot, joints)[0], abs=1e-9)


def test_it_weighs_what_the_model_weighs(heron):
    model, source = compiled(heron.spec), heron.source.model
    arm = source.body_subtreemass[source.body("carriage").id]
    assert model.body_subtreemass[model.body("heron_mount").id] == pytest.approx(arm + 0.1)


def test_it_stays_at_rest(heron):
    robot, model = heron.spec, compiled(heron.spec)
    data = mujoco.MjData(model)
    data.qpos[:] = data.ctrl[:] = robot.resting_arm
    for _ in range(120):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos - robot.resting_arm).max() < 0.01


def test_a_base_of_ours_stands_on_the_floor(read):
    found = read(WORDS.replace("radius: 0.26", "radius: 0.26, height: 0.3"))
    model = compiled(found.spec)
    first = int(model.body_geomadr[model.body("heron_base").id])
    assert model.geom_type[first] == int(mujoco.mjtGeom.mjGEOM_CYLINDER)
    assert model.geom_pos[first, 2] + model.geom_size[first, 1] == pytest.approx(0.3)
