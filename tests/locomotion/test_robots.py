"""The robot's model, compiled."""

import mujoco
import numpy as np
import pytest

from locomotion.ant import ANT
from locomotion.robots import compile_robot


def test_time_gravity_and_friction_are_the_papers():
    model = compile_robot(ANT).model
    assert model.opt.timestep == pytest.approx(1 / 120)
    assert model.opt.gravity.tolist() == [0, 0, -9.8]
    assert np.all(model.geom_friction[:, 0] == 1.0)


def test_there_is_never_more_contact_than_there_is_room_for():
    """An ant that is thrown down in any pose: its capsules meet the floor with both ends at most."""
    body = compile_robot(ANT)
    data, rng, most = mujoco.MjData(body.model), np.random.default_rng(0), 0
    for _ in range(20):
        mujoco.mj_resetData(body.model, data)
        data.qpos[2], data.qpos[3:7] = 0.1, rng.normal(size=4)
        data.qpos[7:] = rng.uniform(*body.ranges.T)
        for _ in range(50):
            mujoco.mj_step(body.model, data)
            most = max(most, data.ncon)
    assert 3 < most <= body.contacts == 1 + 2 * 12


def test_it_is_compiled_once():
    assert compile_robot(ANT) is compile_robot(ANT)
