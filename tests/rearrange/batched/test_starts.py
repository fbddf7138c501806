"""Start states hold what the simulator on the CPU has after its reset."""

import dataclasses

import numpy as np
import pytest

from rearrange.batched.bank import make_bank
from rearrange.batched.starts import make_starts
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.randomisation import Randomisation
from tests.helpers.held_objects import holding


def test_a_start_is_what_the_simulator_has(pick_episodes):
    episodes = [pick_episodes[0], holding(pick_episodes[1])]
    homes = dict.fromkeys((episode.layout, episode.variation) for episode in episodes)
    simulator = MujocoSimulator(1)
    bank = make_bank(homes, simulator.config, find_robot())
    starts = make_starts(simulator, bank, episodes)
    assert len(starts) == 2
    world, data = simulator.worlds[0], simulator.data[0]
    np.testing.assert_array_equal(starts.data["qpos"][1], data.qpos)
    np.testing.assert_array_equal(starts.records[1], simulator.state.worlds[0])
    slot = simulator.state.held_object[0]
    assert starts.records["held_object"].tolist() == [-1, slot]
    row = world.weld_rows[slot]
    assert starts.data["eq_active"][:, row].tolist() == [0, 1]
    np.testing.assert_array_equal(starts.data["eq_data"][1, row], world.model.eq_data[row])


def test_randomised_worlds_are_refused(pick_episodes):
    bank = make_bank(
        [(pick_episodes[0].layout, pick_episodes[0].variation)], SimulatorConfig(), find_robot()
    )
    config = dataclasses.replace(SimulatorConfig(), randomise=Randomisation(friction=0.2))
    with pytest.raises(UserError, match=r"simulator\.randomise must be off"):
        make_starts(MujocoSimulator(1, config), bank, pick_episodes[:1])
