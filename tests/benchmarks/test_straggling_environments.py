import time

import gymnasium
import numpy as np
import pytest

from benchmarks import straggling_environments
from benchmarks.straggling_environments import (
    LEVELS,
    MOST_WAIT_S,
    Steering,
    StepTimes,
    Stragglers,
    WaitingEnvironments,
    barrier_rates,
    load_step_times,
    quantile_table,
)


def test_quantile_tables_give_back_a_distribution_with_mean_one():
    rng = np.random.default_rng(0)
    values = rng.exponential(7.0, 20000)
    times = StepTimes(1.0, (), tuple(quantile_table(values)))
    drawn = times.draw_steps(rng, 20000)
    assert drawn.mean() == pytest.approx(1.0, abs=0.03)
    assert np.median(drawn) == pytest.approx(np.log(2), abs=0.03)
    assert np.quantile(drawn, 0.95) == pytest.approx(-np.log(0.05), rel=0.05)


def test_the_recorded_table_is_whole_and_straggles():
    times = load_step_times(0.01)
    for table in (times.episode, times.step):
        assert len(table) == len(LEVELS)
        assert list(table) == sorted(table)
        mean = np.interp(np.linspace(0, 1, 100001), LEVELS, table).mean()
        assert mean == pytest.approx(1.0, abs=1e-3)
    rates = barrier_rates(times, 16, 32, 60, 0)
    assert rates["free"] == pytest.approx(1600)
    assert rates["lockstep"] < rates["fixed_length"] < rates["free"]


def test_barriers_cost_what_the_slowest_takes():
    constant = barrier_rates(StepTimes(0.02), 4, 8, 10, 0)
    assert list(constant.values()) == pytest.approx([200.0] * 3)
    # Steps take 0 or 2 means, evenly: of 2 environments' steps, 3 of 4 pairs take 2 means.
    half = tuple(0.0 if level < 0.5 else 2.0 for level in LEVELS)
    rates = barrier_rates(StepTimes(1.0, (), half), 2, 1, 4000, 0)
    assert rates["lockstep"] == rates["fixed_length"] == pytest.approx(2 / 1.5, rel=0.05)


def test_environments_spread_their_first_episodes_and_repeat_from_a_seed():
    make_env = Stragglers(StepTimes(0.0), 4)
    lengths = []
    for index in range(4):
        env = make_env(index, 0)
        env.reset(seed=3)
        lengths.append(1)
        while not env.step(np.zeros(2))[3]:
            lengths[-1] += 1
    assert lengths == [200, 150, 100, 50]
    straggling = Stragglers(load_step_times(1.0), 4)
    first, second = straggling(0, 0), straggling(0, 9)
    first.reset(seed=3)
    second.reset(seed=3)
    assert (first.durations == second.durations).all()


def test_steering_is_a_matter_of_turning():
    env = Steering(StepTimes(0.0), 0)
    successes = []
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        assert observation["x"].shape == (8,)
        total, ended = 0.0, False
        while not ended:
            x = observation["x"]
            c, s = x[2], x[3]
            wish = np.clip(x[:2] / 0.1, -1, 1) * 0.7
            action = np.array([c * wish[0] + s * wish[1], c * wish[1] - s * wish[0]])
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
            ended = terminated or truncated
        successes.append(info["metrics"]["success"])
        assert total > 0.5
    assert np.mean(successes) == 1.0


@pytest.mark.parametrize("offset", [0, 190])
def test_standing_still_fails_in_time(offset):
    env = Steering(StepTimes(0.0), offset)
    env.reset(seed=1)
    for k in range(Steering.MOST_MOVES):
        _, _, terminated, truncated, info = env.step(np.zeros(2))
        assert not terminated
        assert truncated == (k == Steering.MOST_MOVES - 1)
    assert info["metrics"] == {"success": 0.0}


class Busy(gymnasium.Env):
    """Computes for as many seconds as its action says."""

    observation_space = action_space = gymnasium.spaces.Box(0, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        begin = time.thread_time()
        while time.thread_time() - begin < action:
            pass
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_what_is_slow_to_compute_is_slow_to_wait_for(monkeypatch):
    waited = []
    monkeypatch.setattr(straggling_environments.time, "sleep", waited.append)
    env = WaitingEnvironments(lambda index, seed: Busy(), 5.0)(0, 1)
    env.reset()
    for seconds in (0.01, 0.04, 0.2):
        env.step(seconds)
    assert waited[:2] == pytest.approx([0.05, 0.2], rel=0.2)
    assert waited[2] == MOST_WAIT_S
