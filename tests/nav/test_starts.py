"""Starts of PointNav against NumPy written out, and against what the task promises."""

import math
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nav import env as nav_env
from nav.agent import AgentConfig
from nav.env import NavEnv, NavVectorEnv
from nav.pointnav import PointNavConfig
from nav.scene import Scene, load_scene
from nav.table import default_config
from nav.worlds import AgentWorlds
from rearrange.scenes.pieces import box

SMALL = AgentConfig(camera_size=8)
FORWARD = 1


def points_by_numpy(scene, rng, count):
    cells = scene.cells[rng.integers(len(scene.cells), size=count)]
    points = cells + rng.uniform(-0.5, 0.5, (count, 2)) * scene.grid.cell
    return points[[scene.is_free(x, y) for x, y in points.tolist()]]


def start_by_numpy(scene, goal, nearest, farthest, rng):
    """Start and distance [x, y, yaw, m] among 24 points, or None; order of draws as it always was."""
    points = points_by_numpy(scene, rng, 24)
    chances, yaw = rng.random(len(points)), rng.uniform(-math.pi, math.pi)
    ways = scene.distances(points, goal)
    ratios = ways / np.linalg.norm(points - goal, axis=1)
    kept = (ratios >= 1.1) | (chances < 20.0 * (ratios - 0.98) ** 2)
    kept &= (ways >= nearest) & (ways <= farthest)
    first = int(kept.argmax())
    return (*points[first], yaw, ways[first]) if kept.any() else None


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    hall=st.sampled_from(["empty_hall", "split_hall"]),
    count=st.integers(1, 40),
)
def test_points_are_those_of_numpy(seed, hall, count):
    scene = load_scene(hall, SMALL.radius)
    own, inside = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(3):
        expected = points_by_numpy(scene, own, count)
        np.testing.assert_array_equal(scene.sample_points(inside, count), expected)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    hall=st.sampled_from(["empty_hall", "split_hall"]),
    nearest=st.floats(0.3, 3.0),
    reach=st.floats(0.05, 4.0),
)
def test_starts_are_those_of_numpy(seed, hall, nearest, reach):
    """Bit by bit, and the generator goes on as behind NumPy's calls.

    Where reach is small few candidates will do, and goals are drawn anew.
    """
    config = PointNavConfig(nearest_start=nearest, farthest_start=nearest + reach)
    task, scene = NavEnv("pointnav", config, agent=SMALL).task, load_scene(hall, SMALL.radius)
    own, inside = np.random.default_rng(seed), np.random.default_rng(seed)
    goals = scene.landmarks[:8]
    for _ in range(50):
        goal = goals[int(own.integers(len(goals)))]
        expected = start_by_numpy(scene, goal, nearest, nearest + reach, own)
        if expected is not None:
            episode = task.sample(scene, inside)
            assert (*episode.start, episode.geodesic_distance) == expected
            assert episode.goal == goal
            assert inside.bit_generator.state == own.bit_generator.state
            break


def test_a_thousand_episodes_keep_what_is_promised(halls, walled, monkeypatch):
    """In halls with a wall: where all ways are straight, some agents find no start."""
    wall = box((0.0, 4.5), (2.5, 2.6), (0.0, 2.5), (0.9, 0.1, 0.1, 1.0))
    monkeypatch.setitem(halls, "long_wall", walled("long_wall", 6.0, 5.0, wall))
    names = "split_hall", "long_wall"
    monkeypatch.setattr(nav_env, "building_names", lambda *_: names)
    agents, config = 250, PointNavConfig(nearest_start=1.5, farthest_start=4.0)
    env = NavVectorEnv(agents, "pointnav", config, "val", agent=SMALL, threads=1)
    met, ratios = [], []
    for seed in range(4):
        env.reset(seed=1000 * seed)
        for i, episode in enumerate(env._worlds.episodes):
            scene = load_scene(episode.building, SMALL.radius)
            x, y, yaw = episode.start
            assert scene.is_free(x, y)
            assert -math.pi <= yaw < math.pi
            assert episode.goal in scene.landmarks[:8]
            assert 1.5 <= episode.geodesic_distance <= 4.0
            assert env.worlds.distances[i] == episode.geodesic_distance
            assert env.worlds.poses[i].tolist() == [x, y, yaw]
            met.append((episode.building, episode.goal))
            ratios.append(episode.geodesic_distance / math.dist((x, y), episode.goal))
    buildings = [building for building, _ in met]
    shares = {name: buildings.count(name) / 1000 for name in set(buildings)}
    assert shares == {name: pytest.approx(0.5, abs=0.06) for name in names}
    # All goals that have many such starts are drawn
    for name in names:
        scene = load_scene(name, SMALL.radius)
        reached = {
            goal
            for goal in scene.landmarks[:8]
            if (abs(scene.distances(scene.cells, goal) - 2.75) < 1.0).any()
        }
        assert {goal for building, goal in met if building == name} >= reached
    assert min(ratios) > 0.98
    assert np.mean(np.array(ratios) >= 1.1) > 0.3


@pytest.mark.parametrize("task", ["pointnav", "objectnav", "flee", "explore"])
def test_a_seed_gives_the_same_episodes_to_any_number_of_threads(task):
    config = default_config(task)
    config.max_steps = 4
    tracks = []
    for threads in (1, 2, 5):
        env = NavVectorEnv(12, task, config, "val", agent=SMALL, threads=threads)
        rng = np.random.default_rng(3)
        track = [env.reset(seed=9)[0]]
        for _ in range(9):
            track.append(env.step(rng.integers(1, 4, 12))[0])
            track.append({str(i): each for i, each in enumerate(env._worlds.episodes)})
        env.close()
        tracks.append(track)
    for track in tracks[1:]:
        for first, other in zip(tracks[0], track, strict=True):
            for key, value in first.items():
                np.testing.assert_array_equal(value, other[key], key)


def test_agents_share_the_distances_to_a_goal_and_keep_them_as_long_as_they_need_them(halls):
    scene = Scene(halls["split_hall"], SMALL.radius)
    scene.fields = {}
    worlds = AgentWorlds(3, SMALL)
    worlds.load = lambda name: scene
    goal = scene.landmarks[0]
    for i, place in enumerate(scene.landmarks[1:3]):
        worlds.place(i, "split_hall", (*place, 0.5 * i), goal)
    field = weakref.ref(scene.distances_to(goal))
    scene.fields.clear()  # as when others took their place
    worlds.place(1, "split_hall", (*goal, 0.0))
    worlds.step(np.full(3, FORWARD))
    again = scene.distances(worlds.poses[:1, :2], goal)[0]
    assert worlds.distances[0] == again
    assert np.isnan(worlds.distances[1:]).all()
    assert field() is not None
    scene.fields.clear()
    worlds.place(0, "split_hall", (*goal, 0.0))
    assert field() is None
