"""Tasks of habitat-lab on the real habitat-sim; skipped, with the reason, where they are not installed."""

import gzip
import importlib.util
import json

import numpy as np
import pytest
from gymnasium import spaces

from benchmarks.habitat import lab_overrides
from rearrange.habitat.frames import to_habitat_position
from rearrange.habitat.scene import glb, scene_meshes
from rearrange.tasks import sampling
from skills.habitat_lab import HabitatLabEnv, config_of

pytestmark = [
    pytest.mark.habitat,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("habitat_sim", "habitat")),
        reason="habitat-sim or habitat-lab is not installed: docs/habitat.md says how to get them",
    ),
]
SOFTWARE = "habitat.simulator.habitat_sim_v0.gpu_device_id=-1"
SENSORS = "habitat.simulator.agents.main_agent.sim_sensors"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """habitat-lab writes its physics settings below the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)
    return tmp_path


def test_its_pick_runs_with_vectors_of_actions(folder):
    env = HabitatLabEnv(config_of("habitat-lab:RearrangePickTask-v0"), lab_overrides(folder, 0))
    assert isinstance(env.action_space, spaces.Box)
    rng = np.random.default_rng(0)
    ends = 0
    for episode in range(2):
        observation, _ = env.reset(seed=episode)
        for _ in range(30):
            assert all(space.contains(observation[key]) for key, space in _spaces(env))
            action = rng.uniform(-1.0, 1.0, env.action_space.shape)
            observation, reward, terminated, truncated, info = env.step(action)
            assert np.isfinite(reward)
            if terminated or truncated:
                ends += 1
                assert info["metrics"]["success"] in (0.0, 1.0)
                break
    env.close()


def test_its_pointnav_runs_with_choices(folder):
    episode = compose_pointnav(folder)
    env = HabitatLabEnv(
        "benchmark/nav/pointnav/pointnav_habitat_test.yaml",
        [
            f"habitat.dataset.data_path={folder / 'episodes.json.gz'}",
            f"habitat.dataset.scenes_dir={folder}",
            *(f"{SENSORS}.{kind}_sensor.width=64" for kind in ("rgb", "depth")),
            *(f"{SENSORS}.{kind}_sensor.height=64" for kind in ("rgb", "depth")),
            SOFTWARE,
        ],
    )
    assert env.action_space == spaces.Discrete(4)
    observation, _ = env.reset(seed=0)
    assert observation["depth"].shape == (64, 64, 1)
    away = np.subtract(episode["goals"][0]["position"], episode["start_position"])
    polar = observation["pointgoal_with_gps_compass"]
    assert polar[0] == pytest.approx(np.hypot(away[0], away[2]), abs=1e-3)
    for action in (1, 2, 3, 1):
        observation, _, terminated, truncated, _ = env.step(np.int64(action))
        assert all(space.contains(observation[key]) for key, space in _spaces(env))
        assert not terminated
        assert not truncated
    _, _, terminated, _, info = env.step(0)  # stop, far from the goal
    assert terminated
    assert info["metrics"]["success"] == 0.0
    assert info["metrics"]["distance_to_goal"] > 0.2
    env.close()


def _spaces(env):
    return env.observation_space.spaces.items()


def compose_pointnav(folder):
    """One of our apartments with its navmesh, and an episode in PointNav's format."""
    import habitat_sim

    _, _, solid = scene_meshes(sampling.LAYOUTS_OF_SPLIT["val"][0], 0)
    upright = [(to_habitat_position(points), triangles) for points, triangles in solid]
    stage = folder / "apartment.glb"
    stage.write_bytes(glb(upright))
    backend = habitat_sim.SimulatorConfiguration()
    backend.scene_id, backend.gpu_device_id = str(stage), -1
    agent = habitat_sim.agent.AgentConfiguration()
    agent.sensor_specifications = []
    sim = habitat_sim.Simulator(habitat_sim.Configuration(backend, [agent]))
    settings = habitat_sim.NavMeshSettings()
    settings.set_defaults()
    assert sim.recompute_navmesh(sim.pathfinder, settings)
    sim.pathfinder.save_nav_mesh(str(stage.with_suffix(".navmesh")))
    sim.pathfinder.seed(0)
    path = habitat_sim.ShortestPath()
    while not 2.0 < path.geodesic_distance < 30.0:
        path.requested_start = sim.pathfinder.get_random_navigable_point()
        path.requested_end = sim.pathfinder.get_random_navigable_point()
        sim.pathfinder.find_path(path)
    start, goal = (np.asarray(p).tolist() for p in (path.requested_start, path.requested_end))
    sim.close()
    episode = {
        "episode_id": "0",
        "scene_id": stage.name,
        "start_position": start,
        "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "info": {"geodesic_distance": path.geodesic_distance},
        "goals": [{"position": goal, "radius": 0.2}],
    }
    with gzip.open(folder / "episodes.json.gz", "wt") as stream:
        json.dump({"episodes": [episode]}, stream)
    return episode
