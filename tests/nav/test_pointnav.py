"""PointNav: metrics and rewards against values by hand and an independent computation."""

import math
from itertools import pairwise

import numpy as np
import pytest

from nav.agent import FORWARD, LEFT, STOP, AgentConfig
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.pointnav import PointNavConfig, soft_spl, spl
from nav.scene import load_scene
from rearrange import UserError

SMALL = AgentConfig(camera_size=16)


def make(config=None, agent=SMALL):
    return NavEnv("pointnav", config, "val", agent=agent)


def begin(env, start, goal, building="empty_hall"):
    return env.reset(options={"episode": NavEpisode("test", building, start, goal)})


def run(env, *actions):
    """Rewards, and the metrics of the episode if it ended with the last action."""
    rewards, info = [], {}
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        assert (terminated or truncated) == ("metrics" in info)
    return rewards, info.get("metrics")


def test_formulas():
    assert spl(True, 4.0, 5.0) == 0.8
    assert spl(True, 4.0, 3.0) == 1.0  # as the geodesic distance is that of cells
    assert spl(False, 4.0, 4.0) == 0.0
    assert soft_spl(1.0, 4.0, 4.0) == 0.75
    assert soft_spl(1.0, 4.0, 8.0) == 0.375
    assert soft_spl(9.0, 4.0, 4.0) == 0.0


def test_a_straight_drive_by_hand():
    env = make()
    observation, _ = begin(env, (1.0, 1.0, 0.0), (2.0, 1.0))
    assert observation["pointgoal_with_gps_compass"] == pytest.approx((1.0, 0.0), abs=1e-6)
    assert observation["pointgoal_direction"] == pytest.approx((1.0, 0.0), abs=1e-6)
    rewards, told = run(env, FORWARD, FORWARD, FORWARD, FORWARD, STOP)
    assert rewards[:3] == pytest.approx([0.24] * 3, abs=2e-3)  # the last cells are coarser
    assert sum(rewards) == pytest.approx(1.0 - 0.05 + 2.5, abs=0.05)
    assert told["success"] == 1.0
    assert told["spl"] == pytest.approx(1.0, abs=2e-3)
    assert told["path_length"] == pytest.approx(1.0)
    assert told["geodesic_distance"] == pytest.approx(1.0, abs=2e-3)
    assert told["difficulty_ratio"] == pytest.approx(1.0, abs=2e-3)
    assert told["distance_to_goal"] < 0.05
    assert told["length"] == 5.0
    assert told["reward/slack"] == pytest.approx(-0.05)
    assert told["reward/success"] == 2.5
    assert told["return"] == pytest.approx(sum(rewards))
    assert told["failure/timeout"] == told["failure/stopped_elsewhere"] == 0.0


def test_a_detour_halves_spl():
    env = make()
    begin(env, (1.0, 1.0, 0.0), (2.0, 1.0))
    ahead, back = [FORWARD] * 6, [*[LEFT] * 18, *[FORWARD] * 2]
    _, told = run(env, *ahead, *back, STOP)
    assert told["path_length"] == pytest.approx(2.0)
    assert told["spl"] == pytest.approx(0.5, abs=2e-3)
    assert told["soft_spl"] == pytest.approx(0.5, abs=0.03)


def test_stopping_elsewhere_fails_and_ends():
    env = make()
    begin(env, (1.0, 1.0, 0.0), (3.0, 1.0))
    rewards, told = run(env, FORWARD, FORWARD, STOP)
    assert told["success"] == told["spl"] == 0.0
    assert told["failure/stopped_elsewhere"] == 1.0
    assert told["soft_spl"] == pytest.approx(0.25, abs=2e-3)
    assert told["distance_to_goal"] == pytest.approx(1.5, abs=3e-3)
    assert rewards[-1] == pytest.approx(-0.01)


def test_the_clock_cuts_an_episode_off_even_at_the_goal():
    env = make(PointNavConfig(max_steps=3))
    begin(env, (1.0, 1.0, 0.0), (1.75, 1.0))
    env.step(FORWARD)
    env.step(FORWARD)
    _, _, terminated, truncated, info = env.step(FORWARD)
    assert (terminated, truncated) == (False, True)
    assert info["metrics"]["success"] == 0.0
    assert info["metrics"]["failure/timeout"] == 1.0
    assert info["metrics"]["soft_spl"] > 0.9


@pytest.mark.parametrize(("gap", "success"), [(0.19, 1.0), (0.21, 0.0)])
def test_success_is_within_0_2_m(gap, success):
    env = make()
    begin(env, (1.0, 1.0, 0.0), (1.0 + gap + 0.5, 1.0))
    assert run(env, FORWARD, FORWARD, STOP)[1]["success"] == success


@pytest.mark.parametrize("slide", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_metrics_agree_with_an_independent_computation(slide, seed):
    """In the empty hall a convex floor is left for the disc, so that geodesics are straight."""
    env = make(PointNavConfig(max_steps=60), AgentConfig(camera_size=16, slide=slide))
    rng = np.random.default_rng(seed)
    start = (*rng.uniform(0.3, 4.7, 2).tolist(), float(rng.uniform(-3.0, 3.0)))
    goal = tuple(rng.uniform(0.3, 4.7, 2).tolist())
    begin(env, start, goal)
    places, total, info, stops = [np.array(start[:2])], 0.0, {}, rng.integers(1, 60)
    while "metrics" not in info:
        here = math.dist(places[-1], goal) < 0.15
        stop = here or len(places) > stops
        action = STOP if stop else int(rng.choice([1, 1, 1, 2, 3]))
        _, reward, terminated, _, info = env.step(action)
        places.append(env.worlds.poses[0, :2].copy())
        total += reward
    told = info["metrics"]
    path = sum(math.dist(a, b) for a, b in pairwise(places))
    shortest, left = math.dist(start[:2], goal), math.dist(places[-1], goal)
    success = terminated and left < 0.2
    assert told["path_length"] == pytest.approx(path, abs=1e-9)
    assert told["geodesic_distance"] == pytest.approx(shortest, rel=3e-3, abs=0.02)
    assert told["distance_to_goal"] == pytest.approx(left, rel=3e-3, abs=0.02)
    assert told["success"] == float(success)
    assert told["spl"] == pytest.approx(success * shortest / max(shortest, path), abs=0.02)
    progress = max(0.0, 1.0 - left / shortest)
    assert told["soft_spl"] == pytest.approx(
        progress * shortest / max(shortest, path), abs=0.04 / min(shortest, 1.0)
    )
    steps = len(places) - 1
    assert total == pytest.approx(shortest - left - 0.01 * steps + 2.5 * success, abs=0.04)


def test_the_way_around_a_wall_is_long():
    env = make()
    begin(env, (2.0, 1.0, 0.0), (4.0, 1.0), "split_hall")
    # Taut string from (2, 1) to (4, 1) around the end of the wall at y = 3, two arcs of the radius:
    # each tangent is sqrt(0.95^2 + 2^2 - 0.18^2) long.
    away = math.hypot(0.95, 2.0)
    tangent = math.sqrt(away**2 - 0.18**2)
    arc = math.pi / 2 - (math.acos(0.18 / away) - math.atan2(2.0, 0.95))
    length = 2 * (tangent + 0.18 * arc) + 0.1
    _, told = run(env, STOP)
    assert told["geodesic_distance"] == pytest.approx(length, rel=0.025)
    assert told["difficulty_ratio"] == pytest.approx(length / 2.0, rel=0.025)


def test_sampled_episodes_keep_their_limits():
    task = make(PointNavConfig(nearest_start=1.5, farthest_start=4.0)).task
    scene = load_scene("split_hall", SMALL.radius)
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(200):
        episode = task.sample(scene, rng)
        assert scene.is_free(*episode.start[:2])
        assert episode.goal in scene.landmarks[:8]
        assert 1.5 <= episode.geodesic_distance <= 4.0
        ratios.append(episode.geodesic_distance / math.dist(episode.start[:2], episode.goal))
    assert min(ratios) > 0.98
    assert np.mean(np.array(ratios) >= 1.1) > 0.5  # a quarter to a third of uniform starts here


def test_bad_numbers_and_episodes_are_refused():
    with pytest.raises(UserError, match=r"task\.max_steps must be from 1 to 1e\+09, found 0"):
        make(PointNavConfig(max_steps=0))
    for limits in ({"nearest_start": 31.0}, {"nearest_start": 0.2}, {"success_distance": 1.0}):
        with pytest.raises(
            UserError, match=r"task\.nearest_start must lie between task\.success_d"
        ):
            make(PointNavConfig(**limits))
    with pytest.raises(UserError, match="no start between"):
        make(PointNavConfig(nearest_start=20.0)).reset(seed=0)
    with pytest.raises(UserError, match="episode 'test': start: expected a place in empty_hall"):
        begin(make(), (0.1, 1.0, 0.0), (2.0, 1.0))
    with pytest.raises(UserError, match="episode 'test': goal: expected a place"):
        begin(make(), (1.0, 1.0, 0.0), (9.0, 1.0))
    with pytest.raises(UserError, match="PointNav needs one"):
        begin(make(), (1.0, 1.0, 0.0), None)


@pytest.mark.parametrize(("gap", "within"), [(0.0, 0.2), (0.15, 0.2), (0.0, 0.01)])
def test_an_agent_does_not_start_at_its_goal(gap, within):
    """Over cells of 0.05 m the distance from a place to itself comes out as more than 0.01 m."""
    env = make(PointNavConfig(success_distance=within))
    begin(env, (1.0, 1.0, 0.0), (2.0, 1.0))
    env.step(FORWARD)
    before = env.episode, env.worlds.poses.tolist(), env.worlds.distances.tolist()
    told = (
        rf"'test': start_position: .* the goal is reached in {within} m or more, found one at 0\."
    )
    with pytest.raises(UserError, match=told):
        begin(env, (3.0, 1.0, 0.0), (3.0 + gap, 1.0))
    assert before == (env.episode, env.worlds.poses.tolist(), env.worlds.distances.tolist())
    _, metrics = run(env, *[FORWARD] * 4, STOP)  # the episode before goes on
    assert metrics["path_length"] == pytest.approx(1.25)
    assert metrics["difficulty_ratio"] == pytest.approx(1.0, abs=2e-3)
