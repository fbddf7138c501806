"""Agents that have learned nothing."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from nav.agent import STOP
from nav.baselines import FrontierAgent, RandomAgent
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.objectnav import ObjectNav


def make(task="objectnav"):
    return NavEnv(task, None, "val", agent=replace(ObjectNav.agent_config(), camera_size=32))


def play(env, agent, observation):
    info = {}
    while "metrics" not in info:
        observation, _, _, _, info = env.step(agent.act(observation))
    return info["metrics"]


@pytest.mark.parametrize(("task", "moves"), [("objectnav", 5), ("flee", 3), ("pointnav", 3)])
def test_the_random_agent_takes_all_actions_and_seldom_stops(task, moves):
    env = make(task)
    agent = RandomAgent(env, 0)
    counts = Counter(agent.act({}) for _ in range(6000))
    stops = counts.pop(STOP, 0)
    assert 25 < stops < 110 if task != "flee" else stops == 0
    assert set(counts) == set(range(1, moves + 1))
    assert min(counts.values()) > 0.85 * 6000 / moves
    assert all(env.action_space.contains(action) for action in counts)


@pytest.mark.parametrize("start", [(1.0, 1.0, 3.1), (2.0, 4.3, 1.5), (0.6, 2.0, -1.6)])
def test_the_frontier_agent_finds_the_table_behind_the_wall(start):
    env = make()
    episode = NavEpisode("test", "split_hall", start, category="table")
    observation, _ = env.reset(options={"episode": episode})
    told = play(env, FrontierAgent(env, 0), observation)
    assert told["success"] == 1.0
    assert told["length"] < 120


def test_the_frontier_agents_map_is_the_halls():
    env = make()
    episode = NavEpisode("test", "split_hall", (1.5, 1.0, 0.0), category="table")
    observation, _ = env.reset(options={"episode": episode})
    agent = FrontierAgent(env, 0)
    for _ in range(2):
        observation, *_ = env.step(agent.act(observation))
    blocked = (np.argwhere(agent.blocked) + 0.5 - len(agent.blocked) // 2) * agent.CELL + (1.5, 1.0)
    assert len(blocked) > 20
    grid = env.worlds.scene(0).grid
    assert max(grid.clearance_at(x, y) for x, y in blocked) < 0.08
    free = (np.argwhere(agent.free) + 0.5 - len(agent.free) // 2) * agent.CELL + (1.5, 1.0)
    assert len(free) > 100
    assert min(grid.clearance_at(x, y) for x, y in free) > -0.08
    assert not agent.goal.any()  # behind the wall
