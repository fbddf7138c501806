"""mjlab's worlds, by a stand-in for its environment; by the real one where it is installed."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from tests.helpers.small_runs import curve, small_run
from ver.adapters.mjlab_worlds import MjlabVectorEnv, MjlabWorlds
from ver.errors import UserError
from ver.trainer import Trainer


class Counters:
    """As ManagerBasedRlEnv without restarts: world i counts to i + 2, then its time is out.

    It writes into the same tensors every time.
    """

    def __init__(self, count: int, bound: float = np.inf):
        self.num_envs = count
        box = SimpleNamespace(shape=(1,), low=-np.inf, high=np.inf)
        self.single_observation_space = SimpleNamespace(spaces={"actor": box, "critic": box})
        self.single_action_space = SimpleNamespace(shape=(2,), low=-bound, high=(bound, np.inf))
        self.counts = torch.zeros(count, 1)
        self.truncated = torch.zeros(count, dtype=torch.bool)
        self.pending = set()
        self.closed = False

    def _show(self):
        return {"actor": self.counts, "critic": self.counts}, {}

    def reset(self, *, seed=None, env_ids=None):
        self.seed = seed
        self.counts[slice(None) if env_ids is None else env_ids] = 0.0
        self.pending -= set(range(self.num_envs) if env_ids is None else env_ids.tolist())
        self.truncated[:] = False
        return self._show()

    def step(self, actions):
        assert not self.pending, "must be reset first"
        assert actions.shape == (self.num_envs, 2)
        self.counts += 1.0
        self.truncated[:] = self.counts[:, 0] == torch.arange(self.num_envs) + 2
        self.pending = set(self.truncated.nonzero().flatten().tolist())
        observations, extras = self._show()
        return observations, actions[:, 0], torch.zeros_like(self.truncated), self.truncated, extras

    def close(self):
        self.closed = True


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


def test_without_mjlab_one_line_says_how_to_get_it():
    try:
        import mjlab  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(UserError, match="pip install mjlab"):
            MjlabWorlds("Mjlab-Cartpole-Balance").make_vector(2, 0)


def test_its_own_cartpole(tmp_path):
    pytest.importorskip("mjlab", reason="mjlab is not installed: pip install mjlab")
    with pytest.raises(UserError, match=r"no task 'Nothing'; choose .*Mjlab-Cartpole-Balance"):
        MjlabWorlds("Nothing").make_vector(2, 0)
    config = small_run("system=batched", "total_steps=128")
    Trainer(config, MjlabWorlds("Mjlab-Cartpole-Balance"), tmp_path).train()
    assert curve(tmp_path)[-1]["steps"] == 128
