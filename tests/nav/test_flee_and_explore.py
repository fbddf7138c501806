"""Flee and Explore: scores by hand and against an independent computation."""

import math

import numpy as np
import pytest

from nav.agent import FORWARD, LEFT, AgentConfig
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.explore import ExploreConfig, square_count
from nav.flee import FleeConfig, farthest_place
from nav.scene import load_scene
from nav.task import StartSensors
from rearrange import UserError

SMALL = AgentConfig(camera_size=16)


def make(task, config):
    return NavEnv(task, config, "val", agent=SMALL)


def begin(env, start, building="empty_hall"):
    env.reset(options={"episode": NavEpisode("test", building, start)})


def test_fleeing_straight_scores_the_distance():
    env = make("flee", FleeConfig(max_steps=4))
    begin(env, (1.0, 1.0, 0.0))
    rewards = []
    for _ in range(4):
        _, reward, terminated, truncated, info = env.step(FORWARD)
        rewards.append(reward)
    assert (terminated, truncated) == (False, True)
    told = info["metrics"]
    assert told["score"] == pytest.approx(1.0, abs=3e-3)
    assert sum(rewards) == pytest.approx(told["score"], abs=0.04)  # the start is between cells
    corner = math.hypot(6.0 - 0.18 - 1.0, 5.0 - 0.18 - 1.0)
    assert told["score_share"] == pytest.approx(1.0 / corner, rel=0.02)
    assert "success" not in told


def test_the_farthest_place_is_around_the_wall():
    scene = load_scene("split_hall", SMALL.radius)
    place, distance = farthest_place(scene, (1.0, 0.5))
    assert place == pytest.approx((5.8, 0.2), abs=0.06)
    assert distance > math.dist(place, (1.0, 0.5)) + 1.0


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


def test_gps_and_compass_are_habitats():
    """Ahead and to the right of the start; turns to the left are positive."""
    starts = np.array([(1.0, 2.0, math.pi / 2)] * 3)
    poses = np.array([(1.0, 3.0, math.pi / 2), (2.0, 2.0, math.pi), (1.0, 2.0, -math.pi / 4)])
    seen = StartSensors.observe(starts, poses)
    np.testing.assert_allclose(seen["gps"], [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)], atol=1e-6)
    turned = [[0.0], [math.pi / 2], [-3 * math.pi / 4]]
    np.testing.assert_allclose(seen["compass"], turned, atol=1e-6)


def test_senseless_numbers_are_refused():
    with pytest.raises(UserError, match=r"task\.starts_per_building must be from 1 to 64"):
        make("flee", FleeConfig(starts_per_building=0))
    with pytest.raises(UserError, match=r"task\.cell_size must be from 0\.1 to 10, found 0"):
        make("explore", ExploreConfig(cell_size=0.0))
