"""Physics of N robots on the CPU."""

import mujoco
import numpy as np
import pytest
import torch

from locomotion.ant import ANT
from locomotion.physics import CpuPhysics, make_physics
from locomotion.robots import compile_robot
from locomotion.terrain import Boxes
from tests.helpers.running_robots import placed, push_of

COUNT = 5


def test_a_frame_is_what_mujoco_does_with_one_robot():
    body, substeps = compile_robot(ANT), 3
    physics = CpuPhysics(body, COUNT, substeps)
    qpos, qvel = placed(physics, COUNT)
    actions, push = torch.rand(COUNT, 8) * 2 - 1, push_of(COUNT)
    physics.step(actions, push)
    data = mujoco.MjData(body.model)
    for index in range(COUNT):
        mujoco.mj_resetData(body.model, data)
        data.qpos[:], data.qvel[:] = qpos[index], qvel[index]
        data.ctrl[:] = actions[index]
        data.xfrc_applied[body.torso, :3] = push[index]
        mujoco.mj_step(body.model, data, substeps)
        np.testing.assert_allclose(physics.qpos[index], data.qpos, atol=1e-6)
        np.testing.assert_allclose(physics.qvel[index], data.qvel, atol=1e-5)
        np.testing.assert_allclose(physics.touch[index], data.sensordata, rtol=1e-4)


def test_a_push_is_over_with_its_frame():
    physics = CpuPhysics(compile_robot(ANT), 2, 2)
    placed(physics, 2, still=True)
    nothing, push = torch.zeros(2, 8), torch.tensor([[50.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    physics.step(nothing, push)
    pushed = float(physics.qvel[0, 0])
    assert pushed > 0.1 > abs(float(physics.qvel[1, 0]))
    physics.step(nothing, 0 * push)
    assert float(physics.qvel[0, 0]) < pushed


def test_scenery_is_where_it_was_told_last():
    """Of two ants that fall, a box is brought under one."""
    body = compile_robot(ANT, Boxes(1))
    physics = CpuPhysics(body, 2, 2)
    placed(physics, 2, still=True)
    qpos = physics.qpos.clone()
    qpos[:, 2] += 0.5
    physics.restart(torch.arange(2), qpos, torch.zeros(2, 14))
    nothing, push = torch.zeros(2, 8), torch.zeros(2, 3)
    things = torch.tensor([[[0.0, 0, -1.0 + 0.6, 1, 0, 0, 0]], [[50.0, 0, 0, 1, 0, 0, 0]]])
    physics.step(nothing, push, things)
    for _ in range(60):
        physics.step(nothing, push)
    high = physics.qpos[:, 2]
    assert high[0] == pytest.approx(
        0.6 + 0.25, abs=0.03
    )  # on its torso, which is a sphere of 0.25 m
    assert high[1] < 0.6


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit(threads):
    answers = []
    for count in (1, threads):
        physics = CpuPhysics(compile_robot(ANT), 33, 2, count)
        placed(physics, 33)
        draws = torch.Generator().manual_seed(5)
        for _ in range(40):
            physics.step(torch.rand(33, 8, generator=draws) * 2 - 1, push_of(33))
        answers.append([x.numpy().tobytes() for x in (physics.qpos, physics.qvel, physics.touch)])
        physics.close()
    assert answers[0] == answers[1]


def test_only_those_that_are_put_elsewhere_move():
    physics = make_physics(compile_robot(ANT), 4, 2, 1, "cpu")
    placed(physics, 4)
    physics.step(torch.zeros(4, 8), torch.zeros(4, 3))
    before = physics.qpos
    physics.restart(torch.tensor([2]), before[:1] + 1.0, torch.zeros(1, 14))
    torch.testing.assert_close(physics.qpos[[0, 1, 3]], before[[0, 1, 3]])
    torch.testing.assert_close(physics.qpos[2], before[0] + 1.0)
    assert not physics.qvel[2].any()
    assert not physics.touch[2].any()
