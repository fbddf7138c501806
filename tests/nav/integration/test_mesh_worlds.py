"""Navigation in Habitat's scenes on the real habitat-sim; skipped, with the reason, where that is missing."""

import math
import os
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from nav.agent import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, STOP, AgentConfig
from nav.buildings import load_building
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode, SceneMesh
from nav.episode_files import SceneEpisodes
from nav.export import export
from nav.follower import MeshFollower
from nav.habitat import read_episodes
from nav.mesh_worlds import MeshWorlds
from nav.scene import Places, load_scene
from nav.viewpoints import ViewRule, goal_places
from nav.worlds import AgentWorlds
from rearrange import UserError

pytestmark = [pytest.mark.habitat, pytest.mark.slow]
NAMES = ("layout5000_variation00", "layout5002_variation01")
AGENT = AgentConfig(rgb=True)


@pytest.fixture(scope="module")
def ours():
    """Sampled PointNav episodes in two of our floors."""
    env = NavEnv("pointnav", split="val", seed=0)
    episodes = {name: [] for name in NAMES}
    for seed in range(400):
        env.reset(seed=seed)
        if env.episode.building in episodes:
            episodes[env.episode.building].append(replace(env.episode, episode_id=str(seed)))
    return [each for name in NAMES for each in islice(episodes[name], 6)]


@pytest.fixture(scope="module")
def files(ours, tmp_path_factory):
    """The same floors and episodes as Habitat's."""
    folder = tmp_path_factory.mktemp("data")
    scenes, path = export(folder, "floors", "val", map(load_building, NAMES), ours)
    return SceneEpisodes("pointnav", str(path), str(scenes)), read_episodes(path, scenes)


@pytest.fixture
def env(files):
    made = NavEnv("pointnav", agent=AGENT, files=files[0], seed=0)
    yield made
    made.close()


def test_distances_agree_with_those_of_our_grid(files, ours):
    """Recast's navmesh and our fast marching are independent; the navmesh's cells are 0.05 m, too."""
    worlds, ratios = MeshWorlds(1, AGENT), []
    for mine, theirs in zip(ours, files[1], strict=True):
        goal = Places(np.array([(*theirs.goal, 0.0)]))
        geodesic, straight = worlds.lengths(0, theirs, goal)
        assert straight == pytest.approx(math.dist(mine.start[:2], mine.goal), abs=1e-6)
        assert geodesic >= straight - 0.05
        ratios.append(geodesic / mine.geodesic_distance)
    worlds.close()
    print(f"navmesh by grid: {min(ratios):.3f} to {max(ratios):.3f}")
    assert min(ratios) > 0.94
    assert max(ratios) < 1.06


def test_pictures_agree_with_those_of_our_caster(files, ours):
    mesh, grid = MeshWorlds(1, AGENT), AgentWorlds(1, AGENT)
    for mine, theirs in zip(ours, files[1], strict=True):
        grid.place(0, mine.building, mine.start)
        mesh.begin(0, theirs, Places(np.array([(*theirs.goal, 0.0)])))
        assert np.linalg.norm(mesh.poses[0, :2] - mine.start[:2]) < 0.06  # put on the navmesh
        mesh.poses[:] = grid.poses
        mesh.heights[:] = 0.0
        for tilt in (0.0, 0.5, -0.5):
            mesh.tilts[:] = grid.tilts[:] = tilt
            seen, cast = mesh.new_images(), grid.new_images()
            mesh.draw(seen)
            grid.draw(cast)
            near = np.abs(seen["depth"] - cast["depth"]) < 0.003  # of 10 m
            assert near.mean() > 0.97, f"{near.mean():.1%} of the depth agrees"
            alike = np.abs(seen["rgb"].astype(int) - cast["rgb"]).max(axis=-1) <= 3
            assert alike.mean() > 0.95, f"{alike.mean():.1%} of the colours agree"
    mesh.close()


def test_steps_and_turns_by_hand(env, files):
    env.reset(options={"episode": files[1][0]})
    worlds, turn = env.worlds, math.radians(10.0)
    x, y, yaw = worlds.poses[0]
    env.step(LEFT)
    assert worlds.poses[0] == pytest.approx((x, y, yaw + turn))
    env.step(RIGHT)
    env.step(RIGHT)
    assert worlds.poses[0] == pytest.approx((x, y, yaw - turn))
    before = worlds.distances[0]
    for _ in range(40):  # to a wall
        x, y, yaw = worlds.poses[0]
        _, reward, _, _, _ = env.step(FORWARD)
        way = np.hypot(*(worlds.poses[0, :2] - (x, y)))
        assert way == pytest.approx(worlds.travelled[0], abs=1e-3)
        assert reward == pytest.approx(before - worlds.distances[0] - 0.01, abs=1e-5)
        before = worlds.distances[0]
        if worlds.blocked[0]:
            assert way < 0.25
        else:
            ends = x + 0.25 * math.cos(yaw), y + 0.25 * math.sin(yaw)
            assert worlds.poses[0, :2] == pytest.approx(ends, abs=1e-3)
    assert worlds.blocked[0]


def test_the_camera_tilts():
    worlds = MeshWorlds(1, AgentConfig(tilt=20.0, tilt_limit=30.0))
    for action, tilt in ((LOOK_UP, 20), (LOOK_UP, 30), (LOOK_DOWN, 10), (LOOK_DOWN, -10)):
        worlds.step(np.array([action]))
        assert math.degrees(worlds.tilts[0]) == pytest.approx(tilt)


def test_the_follower_arrives(env, files):
    for episode in files[1]:
        env.reset(options={"episode": episode})
        follower, info = MeshFollower(env.worlds), {}
        while "metrics" not in info:
            near = env.worlds.distances[0] < 0.19
            _, _, _, _, info = env.step(STOP if near else follower.act(env.worlds.poses[0]))
        assert info["metrics"]["success"] == 1.0
        assert info["metrics"]["spl"] > 0.9


def test_agents_side_by_side_go_on_in_other_scenes(files):
    env = NavVectorEnv(2, "pointnav", agent=AGENT, files=files[0])
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    ends = 0
    for _ in range(150):
        actions = rng.choice([STOP, FORWARD, LEFT, RIGHT], size=2, p=[0.05, 0.55, 0.2, 0.2])
        observation, rewards, terminated, _, _ = env.step(actions)
        assert env.observation_space.contains(observation)
        assert np.isfinite(rewards).all()
        ends += int(terminated.sum())
    assert ends > 5
    pids = [engine.pid for engine in env.worlds._engines]
    env.close()
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def test_the_same_seed_repeats(files):
    played = []
    for _ in range(2):
        env = NavEnv("pointnav", agent=AGENT, files=SceneEpisodes("pointnav", *_names(files[0])))
        observation, _ = env.reset(seed=7)
        actions = np.random.default_rng(7).integers(1, 4, 30).tolist()
        played.append([observation, *(env.step(action)[0] for action in actions)])
        env.close()
    for first, second in zip(*played, strict=True):
        assert all(np.array_equal(first[key], second[key]) for key in first)


def _names(files):
    return str(files.files[0]), files.scenes


def test_an_engine_that_dies_is_told_and_replaced(env, files):
    env.reset(options={"episode": files[1][0]})
    engine = env.worlds._engines[0]
    engine.ask("abort")
    with pytest.raises(UserError, match=r"engine of agent 0 died \(SIGABRT\)"):
        engine.answer()
    env.reset(options={"episode": files[1][0]})
    env.step(FORWARD)


def test_what_is_no_scene_is_refused(env, files, tmp_path):
    broken = tmp_path / "broken.glb"
    broken.write_bytes(b"glTF")
    episode = files[1][0]
    bad = NavEpisode("x", "x", episode.start, episode.goal, mesh=SceneMesh(str(broken)))
    with pytest.raises(UserError, match="engine of agent 0"):
        env.reset(options={"episode": bad})
    with pytest.raises(UserError, match="is in layout5000_variation00, not in a scene of Habitat"):
        env.reset(options={"episode": NavEpisode("y", NAMES[0], (1.0, 1.0, 0.0), (2.0, 2.0))})
    with pytest.raises(UserError, match="without our labels"):
        MeshWorlds(1, AgentConfig(goal_mask=True))


def test_objects_are_found_by_their_view_points(files):
    """Our own view points, as those of a file; the nearest one counts."""
    mesh = files[1][0].mesh
    scene = load_scene(NAMES[0], 0.18)
    category = scene.objects[0].category
    flat = goal_places(scene, category, ViewRule.of(AGENT, 1.0)).points
    places = Places(np.column_stack([flat, np.zeros(len(flat))]))
    starts = [each for each in scene.landmarks if np.linalg.norm(flat - each, axis=1).min() > 1.5]
    env = NavEnv("objectnav", agent=AGENT, files=SceneEpisodes("objectnav", *_names(files[0])))
    for number, (x, y) in enumerate(starts[:3]):
        pose = (x, y, 0.3)
        episode = NavEpisode(
            str(number), mesh.file, pose, category=category, view_points=places, mesh=mesh
        )
        env.reset(options={"episode": episode})
        ours = scene.distances(np.array([(x, y)]), Places(flat))[0]
        assert env.worlds.distances[0] == pytest.approx(ours, rel=0.06, abs=0.1)
        follower, info = MeshFollower(env.worlds), {}
        while "metrics" not in info:
            near = env.worlds.distances[0] < 0.095
            _, _, _, _, info = env.step(STOP if near else follower.act(env.worlds.poses[0]))
        assert info["metrics"]["success"] == 1.0
    env.close()
