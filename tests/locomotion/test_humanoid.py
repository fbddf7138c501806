"""The humanoid's model."""

import mujoco
import numpy as np
import pytest

from locomotion.humanoid import HUMANOID
from locomotion.robots import compile_robot
from locomotion.worlds import LocomotionWorlds


def at_rest() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = compile_robot(HUMANOID).model
    data = mujoco.MjData(model)
    data.qpos[2] = HUMANOID.height
    mujoco.mj_forward(model, data)
    return model, data


def test_it_has_the_freedoms_and_shows_the_numbers_of_the_paper():
    body = compile_robot(HUMANOID)
    assert (body.model.nq, body.model.nu) == (28, 21)
    worlds = LocomotionWorlds("humanoid").make_vector(1, 0)
    assert worlds.single_observation_space["observation"].shape == (76,)
    assert worlds.single_action_space.shape == (21,)


def test_it_begins_on_its_feet():
    model, data = at_rest()
    lowest = min(
        data.geom_xpos[i][2] - model.geom_size[i][0]
        for i in range(1, model.ngeom)
        if "foot" in model.body(model.geom_bodyid[i]).name
    )
    assert lowest == pytest.approx(0.0, abs=1e-9)
    mujoco.mj_step(model, data, 6)
    assert np.all(data.sensordata > 0)


def test_the_same_angles_left_and_right_are_a_mirror():
    model, data = at_rest()
    rng = np.random.default_rng(0)
    for joint in range(1, model.njnt):
        name = model.joint(joint).name
        if name.startswith("right_"):
            low, high = model.joint(joint).range
            angle = rng.uniform(low, high)
            for side in ("right", "left"):
                data.joint(name.replace("right", side)).qpos[0] = angle
    mujoco.mj_forward(model, data)
    for part in ("foot", "shin", "lower_arm"):
        right, left = (data.body(f"{side}_{part}").xpos for side in ("right", "left"))
        np.testing.assert_allclose(right, left * [1, -1, 1], atol=1e-12)


def test_its_strongest_motor_is_the_measure_of_torques():
    torques = compile_robot(HUMANOID).torques
    assert torques.max() == 120
    assert sorted(set(torques.tolist())) == [20, 40, 80, 120]


def test_without_a_will_it_falls_and_ends():
    worlds = LocomotionWorlds("humanoid").make_vector(4, 0)
    worlds.reset(seed=0)
    for _ in range(200):
        *_, terminated, _, _ = worlds.step(np.zeros((4, 21), np.float32))
        if terminated.any():
            return
    pytest.fail("none has fallen")
