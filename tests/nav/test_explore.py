"""Explore: scores by hand and against an independent computation."""

import numpy as np
import pytest

from nav.agent import FORWARD, LEFT, AgentConfig
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.explore import ExploreConfig, square_count

SMALL = AgentConfig(camera_size=16)


def make(task, config):
    return NavEnv(task, config, "val", agent=SMALL)


def begin(env, start, building="empty_hall"):
    env.reset(options={"episode": NavEpisode("test", building, start)})


def test_each_square_counts_once():
    env = make("explore", ExploreConfig(max_steps=44))
    begin(env, (1.1, 1.1, 0.0))
    total = 0.0
    # A turn of 360 degrees in between sees nothing new.
    for action in [FORWARD] * 4 + [LEFT] * 36 + [FORWARD] * 4:
        _, reward, _, truncated, info = env.step(action)
        total += reward
    assert truncated
    told = info["metrics"]
    # 1.1, 1.35 | 1.6, 1.85 | 2.1, 2.35 | 2.6, 2.85 | 3.1
    assert told["score"] == 5.0
    assert total == pytest.approx(0.1 * 4)
    assert told["score_share"] == pytest.approx(5 / 120)  # 12 x 10 squares


@pytest.mark.parametrize("seed", range(3))
def test_visited_squares_agree_with_a_set(seed):
    env = make("explore", ExploreConfig(max_steps=80, cell_size=0.4))
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    squares = {tuple(np.floor(env.worlds.poses[0, :2] / 0.4))}
    info = {}
    while "metrics" not in info:
        info = env.step(int(rng.choice([1, 1, 1, 2])))[4]
        squares.add(tuple(np.floor(env.worlds.poses[0, :2] / 0.4)))
    told = info["metrics"]
    assert told["score"] == len(squares)
    assert told["return"] == pytest.approx(0.1 * (len(squares) - 1))
    assert told["score_share"] == len(squares) / square_count(env.worlds.scene(0), 0.4) <= 1.0
