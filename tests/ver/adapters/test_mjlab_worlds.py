"""mjlab's worlds, by a stand-in for its environment; by the real one where it is installed."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from tests.helpers.mjlab_stand_in import Counters
from tests.helpers.small_runs import curve, small_run
from ver.adapters.mjlab_worlds import MjlabVectorEnv, MjlabWorlds
from ver.errors import UserError
from ver.trainer import Trainer


def test_worlds_restart_in_the_step_in_which_they_end_and_tell_what_was_last():
    worlds = MjlabVectorEnv(Counters(3), 2.0)
    observations, _ = worlds.reset(seed=[5, 6, 7])
    assert worlds._env.seed == 5
    assert observations["actor"].flatten().tolist() == [0.0, 0.0, 0.0]
    actions = torch.tensor([[0.5, 0.0]] * 3)
    _, rewards, _, truncated, infos = worlds.step(actions)
    assert rewards.tolist() == [0.5] * 3
    assert not truncated.any()
    assert infos == {}
    observations, _, terminated, truncated, infos = worlds.step(actions)
    assert truncated.tolist() == [True, False, False]
    assert not terminated.any()
    assert observations["actor"].flatten().tolist() == [0.0, 2.0, 2.0]
    assert infos["final_obs"]["critic"].flatten().tolist() == [2.0, 2.0, 2.0]
    worlds.close()
    assert worlds._env.closed


def test_spaces_are_gymnasiums_and_actions_have_bounds():
    worlds = MjlabVectorEnv(Counters(2, bound=0.5), 2.0)
    assert worlds.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert worlds.single_action_space == spaces.Box(
        np.float32([-0.5, -0.5]), np.float32([0.5, 2.0]), (2,), np.float32
    )
    assert worlds.single_observation_space["actor"] == spaces.Box(-np.inf, np.inf, (1,), np.float32)
    assert worlds.observation_space["critic"].shape == (2, 1)


def test_groups_that_are_no_array_are_refused():
    env = Counters(2)
    env.single_observation_space.spaces["actor"] = SimpleNamespace(spaces={"joints": None})
    with pytest.raises(UserError, match="must be concatenated"):
        MjlabVectorEnv(env, 1.0)


def test_a_run_learns_from_them_with_a_critic_that_is_told_more(tmp_path):
    class Worlds:
        def make_vector(self, count, seed):
            return MjlabVectorEnv(Counters(count), 1.0)

    config = small_run("system=batched", "total_steps=128", "network.critic_only=[critic]")
    Trainer(config, Worlds(), tmp_path).train()
    rows = curve(tmp_path)
    assert rows[-1]["steps"] == 128
    assert 2.0 <= rows[-1]["episode/episode_length"] <= 5.0


def test_its_own_cartpole(tmp_path):
    pytest.importorskip("mjlab", reason="mjlab is not installed: pip install mjlab")
    with pytest.raises(UserError, match=r"no task 'Nothing'; choose .*Mjlab-Cartpole-Balance"):
        MjlabWorlds("Nothing").make_vector(2, 0)
    config = small_run("system=batched", "total_steps=128")
    Trainer(config, "mjlab:Mjlab-Cartpole-Balance", tmp_path).train()
    assert curve(tmp_path)[-1]["steps"] == 128
