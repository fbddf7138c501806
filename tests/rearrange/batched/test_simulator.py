"""Worlds on a device keep the Simulator contract, and tasks run in them."""

import numpy as np
import pytest

from rearrange.batched.bank import make_bank
from rearrange.env import RearrangeVectorEnv
from rearrange.robot import find_robot
from rearrange.scenes.registry import CLASSIC
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.testing import conformance

pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")

ALIKE = 0.998  # share of pixels: thin edges may fall to the next one
CONFIG = SimulatorConfig(camera_size=32)
QUICK = (
    "check_state_layout",
    "check_reset",
    "check_reset_leaves_other_worlds",
)  # others take minutes
CHECKS = [
    pytest.param(
        check, id=check.__name__, marks=() if check.__name__ in QUICK else pytest.mark.slow
    )
    for check in conformance.CHECKS
]


@pytest.fixture(scope="module")
def bank(pick_episodes):
    homes = dict.fromkeys((e.layout, e.variation) for e in pick_episodes)
    return make_bank(homes, CONFIG, find_robot())


def make(bank, count):
    from rearrange.batched.simulator import DeviceSimulator

    return DeviceSimulator(count, bank, CONFIG, "cpu")


@pytest.mark.parametrize("check", CHECKS)
def test_the_contract_is_kept(check, bank, pick_episodes):
    check(lambda count: make(bank, count), pick_episodes)


def test_images_are_those_of_the_cpu(bank, pick_episodes):
    device, cpu = make(bank, 3), MujocoSimulator(3, CONFIG)
    assert not device.render_depth().any()
    for simulator in (device, cpu):
        simulator.reset([0, 2], pick_episodes)
    found, true = device.render_depth(), cpu.render_depth()
    assert not found[1].any()
    assert np.mean(np.abs(found - true) < 1e-3) > ALIKE
    assert true[0].std() > 0.1


def test_a_world_that_was_never_reset_is_told_of(bank, pick_episodes):
    simulator = make(bank, 2)
    simulator.reset([0], pick_episodes[:1])
    with pytest.raises(RuntimeError, match="world 1 was never reset"):
        simulator.step(np.zeros((2, 10)))


def test_a_task_gives_the_same_rewards(monkeypatch):
    from rearrange.tasks import sampling

    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)
    bank = make_bank([(3, 0)], CONFIG, find_robot())
    told = []
    for simulator in (make(bank, 2), MujocoSimulator(2, CONFIG)):
        env = RearrangeVectorEnv(2, "pick", split="val", homes=CLASSIC, simulator=simulator)
        env.reset(seed=3)
        env.action_space.seed(3)
        steps = [env.step(0.3 * env.action_space.sample()) for _ in range(8)]
        told.append((np.array([step[1] for step in steps]), steps[-1][0]))
        env.close()
    (rewards, seen), (true_rewards, true_seen) = told
    np.testing.assert_allclose(rewards, true_rewards, atol=1e-4)
    assert np.abs(true_rewards).max() > 1e-3
    for key, values in true_seen.items():
        if key != "head_depth":
            np.testing.assert_allclose(seen[key], values, atol=1e-4, err_msg=key)
