"""The paper's settings."""

import pytest

from locomotion.paper import settings
from locomotion.worlds import ROBOTS
from ver.config import TrainerConfig, merge_config
from ver.ranges import check_ranges


def test_the_ants_are_those_of_table_4():
    config = merge_config(TrainerConfig, [], settings("ant"))
    collect, ppo, network = config.collect, config.ppo, config.network
    assert (collect.num_environments, collect.rollout_length) == (1024, 32)
    assert (ppo.epochs, ppo.mini_batches, ppo.target_kl) == (20, 2, 0.01)
    assert (network.widths, network.activation) == ([128, 64, 32], "selu")
    assert network.separate_critic
    assert network.normalise_vectors


def test_the_humanoids_are_those_of_table_4():
    config = merge_config(TrainerConfig, [], settings("humanoid"))
    assert (config.ppo.epochs, config.ppo.mini_batches, config.ppo.target_kl) == (20, 1, 0.02)
    assert config.network.widths == [256, 128, 64]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("count", "steps"), [(512, 64), (2048, 16), (8192, 4), (65536, 1)])
def test_the_frames_of_an_update_stay_the_same(robot, count, steps):
    config = merge_config(TrainerConfig, [], settings(robot, count))
    check_ranges(config)
    collect = config.collect
    assert (collect.num_environments, collect.rollout_length) == (count, steps)
