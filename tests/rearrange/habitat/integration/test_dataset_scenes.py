"""Scenes of a dataset on the real engine; skipped, with the reason, where habitat-sim is missing."""

import dataclasses
import gzip
import json
import math

import numpy as np
import pytest

from benchmarks.habitat_lab_scene import compose
from rearrange.env import RearrangeEnv
from rearrange.habitat import dataset as habitat_dataset
from rearrange.habitat.dataset import (
    JOINT_OF_MARKER,
    DatasetEpisodes,
    load_rearrange_episodes,
    scene_of,
)
from rearrange.habitat.frames import to_habitat_position
from rearrange.habitat.scene import glb, scene_meshes
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.base import NOTHING
from rearrange.tasks import make_task, sampling
from tests.helpers.door_opening import open_door
from tests.helpers.lab_entries import write

CONFIG = SimulatorConfig(camera_size=64)


@pytest.fixture
def composed(tmp_path, monkeypatch):
    """One of our apartments as a scene dataset with two episodes, and the same episodes as ours."""
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    task, rng = make_task("pick"), np.random.default_rng(0)
    episodes = [task.sample_episode("val", rng)]
    while len(episodes) < 2:
        episode = task.sample_episode("val", rng)
        if episode.layout == episodes[0].layout:
            episodes.append(episode)
    compose(tmp_path, episodes)
    load_rearrange_episodes.cache_clear()
    habitat_dataset.scene_floor.cache_clear()
    habitat_dataset.scene_handles.cache_clear()
    return tmp_path, episodes


@pytest.mark.habitat
@pytest.mark.slow
def test_a_scene_of_a_dataset_is_the_apartment_it_was_made_of(composed):
    folder, (ours, _) = composed
    episode = load_rearrange_episodes(str(folder / "episodes.json.gz"))[0]
    scene, targets = scene_of(episode)
    exact, rng = load_layout(ours.layout, ours.variation)[1], np.random.default_rng(0)
    places = [exact.sample_pose(rng)[:2] for _ in range(300)]
    off = [scene.grid.clearance_at(*place) - exact.clearance_at(*place) for place in places]
    print(f"clearance: {np.percentile(off, [0, 5, 50, 95, 100]).round(3)} m")
    assert np.median(np.abs(off)) < 0.05
    assert np.abs(off).max() < 0.15
    # Not where one of the two floors would clamp the base
    pose = next(
        pose
        for pose in (scene.grid.sample_pose(rng) for _ in range(500))
        if scene.grid.clearance_at(*pose[:2]) > 0.55
    )
    ours = dataclasses.replace(ours, base_pose=pose)
    theirs = scene.episode(tuple(targets), pose, ours.arm_joints, rng)
    simulators = [HabitatSimulator(1, CONFIG) for _ in range(2)]
    for simulator, start in zip(simulators, (ours, theirs), strict=True):
        simulator.reset([0], [start])
        for _ in range(40):
            action = np.zeros((1, 10))
            action[0, :7], action[0, 7] = 0.01, 1.0
            action[0, 8:] = 0.004, 0.02
            simulator.step(action)
    (a, b) = (simulator.state for simulator in simulators)
    np.testing.assert_allclose(b.base_pose, a.base_pose, atol=1e-9)
    np.testing.assert_allclose(b.end_effector_position, a.end_effector_position, atol=1e-3)
    poses = [
        np.array(sorted(state.object_position[0, sorted(start.objects)].round(6).tolist()))
        for state, start in ((a, ours), (b, theirs))
    ]
    assert np.abs(poses[0] - poses[1]).max() < 2e-3
    depths = [simulator.render_depth()[0] for simulator in simulators]
    assert np.mean(np.abs(depths[0] - depths[1]) < 0.02) > 0.99
    for simulator in simulators:
        simulator.close()


@pytest.mark.habitat
@pytest.mark.slow
def test_handles_of_a_dataset_are_where_ours_are(composed):
    folder, (ours, _) = composed
    episode = load_rearrange_episodes(str(folder / "episodes.json.gz"))[0]
    assert list(episode.handles) == list(JOINT_OF_MARKER.values())
    scene, targets = scene_of(episode)
    apartment = load_layout(ours.layout, ours.variation)[0]
    for joint, way in scene.handle_ways.items():
        frame = (
            apartment.frames["fridge"] if joint == "fridge_door" else apartment.frames["cabinet"]
        )
        for value in (0.0, 0.17, 0.4):
            found, expected = (
                np.add(place, turned(yaw) @ at)
                for place, yaw, at in (
                    (way.position, way.yaw, way.at(value)),
                    (frame.position[:2], frame.yaw, APARTMENT.part(joint).handle_at(value)),
                )
            )
            np.testing.assert_allclose(found, expected, atol=0.005)
    values = {"fridge_door": 1.2, "drawer_right_top": 0.3}
    pose = scene.grid.sample_pose(np.random.default_rng(0))
    scene.joints = values
    simulator = HabitatSimulator(1, CONFIG)
    simulator.reset(
        [0], [scene.episode(tuple(targets), pose, FETCH.resting_arm, np.random.default_rng(0))]
    )
    told = dict(zip(APARTMENT.joints, simulator.state.articulated_joints[0], strict=True))
    assert told == pytest.approx(dict.fromkeys(APARTMENT.joints, 0.0) | values, abs=0.005)
    reference = MujocoSimulator(1, CONFIG)
    reference.reset([0], [dataclasses.replace(ours, base_pose=pose, articulated=values)])
    np.testing.assert_allclose(
        simulator.state.handle_position, reference.state.handle_position, atol=0.005
    )
    simulator.close()


def turned(yaw):
    return np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])


@pytest.mark.habitat
@pytest.mark.slow
def test_a_fridge_of_a_dataset_opens_by_its_handle(composed):
    """There the handle is no link of its own: the cup takes it near the marker only."""
    folder, _ = composed
    source, task = DatasetEpisodes(str(folder / "episodes.json.gz")), make_task("open_fridge")
    rng, simulator = np.random.default_rng(1), HabitatSimulator(1, CONFIG)
    opened = []
    while not any(opened) and len(opened) < 12:
        simulator.reset([0], [source.sample(task, rng)])
        opened.append(open_door(simulator))
    simulator.close()
    assert any(opened)


@pytest.mark.habitat
@pytest.mark.slow
def test_a_floor_at_another_height_is_at_zero_here(composed):
    folder, (ours, _) = composed
    path, lift = folder / "episodes.json.gz", 1.3
    grid = scene_of(load_rearrange_episodes(str(path))[0])[0].grid
    pose = grid.sample_pose(np.random.default_rng(0))
    low_tip, low_depth = held_and_seen(path, pose)
    lifted = folder / "scenes" / "apartment.scene_instance.json"
    scene = json.loads(lifted.read_text())
    seen, _, solid = scene_meshes(ours.layout, ours.variation)
    for name, meshes in (("visual", seen), ("collision", solid)):
        higher = [(to_habitat_position(np.add(p, (0.0, 0.0, lift))), f) for p, f in meshes]
        (folder / "stages" / f"{name}.glb").write_bytes(glb(higher))
    for piece in scene["articulated_object_instances"]:
        piece["translation"][1] += lift
    lifted.write_text(json.dumps(scene))
    with gzip.open(path) as file:
        content = json.load(file)
    for entry in content["episodes"]:
        for matrix in [m for _, m in entry["rigid_objs"]] + list(entry["targets"].values()):
            matrix[1][3] += lift
    write(folder, *content["episodes"])
    assert scene_of(load_rearrange_episodes(str(path))[0])[0].files.height == pytest.approx(
        1.3, abs=0.01
    )
    tip, depth = held_and_seen(path, pose)
    np.testing.assert_allclose(tip, low_tip, atol=1e-3)
    assert np.mean(np.abs(depth - low_depth) < 0.02) > 0.99


def held_and_seen(path, pose):
    """Where the hand is that has held the first target for a second, and the depth image."""
    scene, targets = scene_of(load_rearrange_episodes(str(path))[0])
    scene.held_slot = targets[0].slot
    start = scene.episode(tuple(targets), pose, FETCH.resting_arm, np.random.default_rng(0))
    simulator = HabitatSimulator(1, CONFIG)
    simulator.reset([0], [start])
    action = np.zeros((1, 10))
    action[0, 7] = 1.0
    for _ in range(30):
        simulator.step(action)
    state = simulator.state
    assert state.held_object[0] == targets[0].slot
    hand = state.end_effector_position[0].copy()
    assert np.linalg.norm(state.object_position[0, targets[0].slot] - hand) < 0.15
    depth = simulator.render_depth()[0]
    simulator.close()
    return hand, depth


@pytest.mark.habitat
@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["pick", "place", "navigate", "open_fridge", "close_fridge", "open_cab", "close_cab"]
)
def test_tasks_run_in_a_dataset(task, composed):
    folder, _ = composed
    source = DatasetEpisodes(str(folder / "episodes.json.gz"))
    env = RearrangeEnv(task, simulator=HabitatSimulator(1, CONFIG), source=source, seed=0)
    rng, over = np.random.default_rng(0), True
    for _ in range(200):
        if over:
            env.reset()
            assert (env.state.held_object[0] != NOTHING) == (env.episode.held_slot is not None)
        action = rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        assert np.isfinite(reward)
        assert all(env.observation_space[key].contains(observation[key]) for key in observation)
        over = terminated or truncated
    env.close()
