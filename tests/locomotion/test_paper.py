"""The paper's settings."""

import pytest

from locomotion.paper import TABLE_4, settings
from locomotion.tasks import TASKS
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
    assert network.initial_log_std == 0.0  # whatever the learner's default is


def test_the_humanoids_are_those_of_table_4():
    config = merge_config(TrainerConfig, [], settings("humanoid"))
    assert (config.ppo.epochs, config.ppo.mini_batches, config.ppo.target_kl) == (20, 1, 0.02)
    assert config.network.widths == [256, 128, 64]


def test_those_of_flagrun_and_terrain_are_of_table_4_too():
    flagrun = merge_config(TrainerConfig, [], settings("humanoid_flagrun"))
    assert (flagrun.collect.num_environments, flagrun.collect.rollout_length) == (1024, 64)
    assert (flagrun.ppo.epochs, flagrun.ppo.mini_batches, flagrun.ppo.target_kl) == (10, 2, 0.01)
    assert (flagrun.network.widths, flagrun.network.branches) == ([512, 256, 128], {})
    terrain = merge_config(TrainerConfig, [], settings("humanoid_terrain"))
    assert (terrain.collect.num_environments, terrain.collect.rollout_length) == (512, 128)
    assert (terrain.ppo.epochs, terrain.ppo.mini_batches, terrain.ppo.target_kl) == (20, 8, 0.01)
    assert terrain.network.widths == [256, 128]
    assert terrain.network.branches == {"heights": [256, 128], "observation": [512]}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("count", "steps"), [(512, 64), (2048, 16), (8192, 4), (32768, 1)])
def test_the_frames_of_an_update_stay_the_same(task, count, steps):
    config = merge_config(TrainerConfig, [], settings(task, count))
    check_ranges(config)
    collect = config.collect
    steps *= TABLE_4[task].timesteps // 32
    assert (collect.num_environments, collect.rollout_length) == (count, steps)
