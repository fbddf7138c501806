"""Flee and Explore: scores by hand and against an independent computation."""

import math

import pytest

from nav.agent import FORWARD, AgentConfig
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.explore import ExploreConfig
from nav.flee import FleeConfig, farthest_place
from nav.scene import load_scene
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


def test_senseless_numbers_are_refused():
    with pytest.raises(UserError, match=r"task\.starts_per_building must be from 1 to 64"):
        make("flee", FleeConfig(starts_per_building=0))
    with pytest.raises(UserError, match=r"task\.cell_size must be from 0\.1 to 10, found 0"):
        make("explore", ExploreConfig(cell_size=0.0))
