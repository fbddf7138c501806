"""Oracles on the real habitat-sim; skipped, with the reason, where it is not installed."""

import pytest

from rearrange.env import RearrangeEnv
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.sim import SimulatorConfig
from rearrange.testing.tools import one_action, repeat
from skills.oracle.skill import begin_oracle
from skills.players import argument_of

pytestmark = [pytest.mark.habitat, pytest.mark.slow]


def test_a_fridge_that_was_shut_stays_shut():
    """Without a soft stop it springs open again by 0.1 to 0.2 rad."""
    simulator = HabitatSimulator(1, SimulatorConfig(camera_size=8))
    world = RearrangeEnv("close_fridge", None, "val", simulator)
    shut = 0
    for seed in range(4):
        world.reset(seed=seed)
        oracle = begin_oracle("close_fridge", world, argument_of("close_fridge", world.episode))
        for _ in range(300):
            if oracle.done:
                break
            simulator.step(oracle.act(world.state)[None])
        if simulator.state.articulated_joints[0, 0] < 0.1:
            shut += 1
            repeat(simulator, one_action(simulator), 30)
            assert simulator.state.articulated_joints[0, 0] < 0.05
    world.close()
    assert shut >= 2
