"""Worlds that are stepped together: what is taken, what is refused, and single ones in their place."""

from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from benchmarks.faulty_environments import Trails
from tests.helpers import toy_environments
from ver.collect.environment_worker import DivergedError
from ver.collect.episode_order import EpisodeOrder
from ver.collect.worlds import OneByOne, make_worlds
from ver.errors import UserError


@dataclass
class Given:
    """Gives these worlds, however many are asked for."""

    worlds: VectorEnv

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        return self.worlds


@pytest.mark.parametrize(
    ("mode", "count"), [(AutoresetMode.NEXT_STEP, 2), (AutoresetMode.SAME_STEP, 3)]
)
def test_worlds_that_are_too_many_or_restart_late_are_refused(mode, count):
    worlds = SyncVectorEnv([toy_environments.RememberCue] * 2, autoreset_mode=mode)
    with pytest.raises(UserError, match=r"AutoresetMode.SAME_STEP, found 2 worlds"):
        make_worlds(Given(worlds), count, 0)
    assert worlds.closed


def test_single_environments_are_stepped_one_after_another():
    made = []

    def make_env(index: int, seed: int) -> gymnasium.Env:
        made.append((index, seed))
        return toy_environments.RememberCue()

    worlds = make_worlds(make_env, 3, 40)
    assert isinstance(worlds, OneByOne)
    assert made == [(0, 40), (1, 41), (2, 42)]


ORDER = EpisodeOrder(0)


def begin_alone(env: gymnasium.Env, index: int, number: int) -> dict:
    seed, options = ORDER.beginning(index, number)
    return env.reset(seed=seed, options=options)[0]


def test_single_environments_go_on_in_mid_episode_and_are_seeded_by_episode_ever_after():
    worlds, up = OneByOne(Trails(), 2, 0), np.ones(1, np.float32)
    shown, returns = worlds.begin(ORDER, [3, 7], [[], [up] * 4])
    alone = [Trails()(index, 0) for index in range(2)]
    numbers = [3, 7]
    expected = [begin_alone(alone[i], i, numbers[i])["trail"] for i in range(2)]
    total = 0.0
    for _ in range(4):
        observation, reward, *_ = alone[1].step(up)
        expected[1], total = observation["trail"], total + reward
    np.testing.assert_array_equal(shown["trail"], expected)
    assert returns.tolist() == [0.0, total]
    for _ in range(30):
        shown, *_ = worlds.step(np.ones((2, 1), np.float32))
        for i, env in enumerate(alone):
            observation, _, terminated, truncated, _ = env.step(up)
            if terminated or truncated:
                numbers[i] += 1
                observation = begin_alone(env, i, numbers[i])
            np.testing.assert_array_equal(shown["trail"][i], observation["trail"])
    assert min(numbers[0] - 3, numbers[1] - 7) >= 2


def test_an_episode_that_ends_sooner_than_before_is_told():
    worlds = OneByOne(Trails(), 2, 0)
    with pytest.raises(DivergedError, match="world 1 ended its episode earlier"):
        worlds.begin(ORDER, [1, 1], [[], [np.ones(1, np.float32)] * 20])


class Reusing(gymnasium.Env):
    """Writes every observation into the same array."""

    observation_space = gymnasium.spaces.Box(-9, 9, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.shown = np.zeros(1, np.float32)

    def reset(self, *, seed=None, options=None):
        self.shown[:] = -1.0
        return self.shown, {}

    def step(self, action):
        self.shown[:] = 7.0
        return self.shown, 0.0, False, True, {}


def test_the_last_observation_of_an_episode_outlives_the_next_reset():
    worlds = OneByOne(lambda index, seed: Reusing(), 1, 0)
    worlds.begin(ORDER, [1], [[]])
    shown, *_, infos = worlds.step(np.zeros(1, np.int64))
    assert float(shown[0, 0]) == -1.0
    assert float(infos["final_obs"][0][0]) == 7.0
