from dataclasses import replace

import numpy as np
import pytest

from nav.agent import STOP, AgentConfig
from nav.env import NavEnv
from nav.follower import Follower
from nav.objectnav import ObjectNav


@pytest.mark.parametrize("slide", [True, False])
def test_the_follower_succeeds_on_a_nearly_shortest_way(slide):
    env = NavEnv("pointnav", None, "val", agent=AgentConfig(camera_size=16, slide=slide))
    told = []
    for seed in range(8):
        env.reset(seed=seed)
        follower = Follower(env.worlds.scene(0), env.episode.goal, env.worlds.config)
        info = {}
        while "metrics" not in info:
            near = env.worlds.distances[0] < 0.19
            info = env.step(STOP if near else follower.act(env.worlds.poses[0]))[4]
        told.append(info["metrics"])
    assert [metrics["success"] for metrics in told] == [1.0] * 8
    assert np.mean([metrics["spl"] for metrics in told]) > 0.93


def test_the_follower_stops_at_view_points():
    env = NavEnv("objectnav", None, "val", agent=replace(ObjectNav.agent_config(), camera_size=16))
    told = []
    for seed in range(6):
        env.reset(seed=seed)
        follower = Follower(env.worlds.scene(0), env.task.origin(env.episode), env.worlds.config)
        info = {}
        while "metrics" not in info:
            near = env.worlds.distances[0] < 0.095
            info = env.step(STOP if near else follower.act(env.worlds.poses[0]))[4]
        told.append(info["metrics"])
    assert [metrics["success"] for metrics in told] == [1.0] * 6
    assert np.mean([metrics["spl"] for metrics in told]) > 0.9
