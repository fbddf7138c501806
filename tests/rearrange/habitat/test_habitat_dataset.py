"""Episodes of habitat-lab's rearrangement datasets: files, scenes as tasks begin in them, and on the engine."""

import copy
import dataclasses
import gzip
import json
import math

import numpy as np
import pytest
from door_opening import open_door

from benchmarks.habitat_lab_scene import compose
from rearrange.env import RearrangeEnv
from rearrange.episodes import SceneHandle
from rearrange.errors import UserError
from rearrange.habitat import dataset as habitat_dataset
from rearrange.habitat.dataset import (
    JOINT_OF_MARKER,
    DatasetEpisodes,
    is_rearrange_dataset,
    kind_of,
    load_rearrange_episodes,
    scene_floor,
    scene_handles,
    scene_of,
)
from rearrange.habitat.frames import to_habitat_position
from rearrange.habitat.scene import glb, scene_meshes
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.navigation import OccupancyGrid, load_layout
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.scenes.objects import SLOT_KINDS
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.base import NOTHING
from rearrange.tasks import make_task, sampling
from rearrange.tasks.sampling import HandleWay
from rearrange.tasks.starts import handle_place

CONFIG = SimulatorConfig(camera_size=64)
# A fridge at (3, 2) that looks along y, with its hinge in the origin, and a drawer at (1, 1) that looks along x
ANGLES = np.linspace(0.0, 2.0, 17)
ARC = tuple((0.6 * math.sin(angle), -0.6 * math.cos(angle)) for angle in ANGLES)
WAYS = {
    "fridge_door": HandleWay((3.0, 2.0), math.pi / 2, tuple(ANGLES), ARC),
    "drawer_right_top": HandleWay((1.0, 1.0), 0.0, (0.0, 0.5), ((0.3, 0.0), (0.8, 0.0))),
}
UPRIGHT = [
    (1, 0, 0),
    (0, 0, 1),
    (0, -1, 0),
]  # of what has z up in its own frame, in Habitat's world


def transformation(position, rotation=UPRIGHT):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix.tolist()


def marker(name, piece, link, offset):
    place = {"object": piece, "link": link, "offset": list(offset)}
    return {"name": name, "type": "articulated_object", "params": place}


@pytest.fixture
def entry(tmp_path):
    """An episode by hand: two cans and a bowl, of which the second can and the bowl have goals."""
    (tmp_path / "configs").mkdir()
    for kind in ("005_tomato_soup_can", "024_bowl"):
        (tmp_path / "configs" / f"{kind}.object_config.json").write_text("{}")
    for name in ("room.scene_instance.json", "room.scene_dataset_config.json"):
        (tmp_path / name).write_text("{}")
    can = "005_tomato_soup_can.object_config.json"
    return {
        "episode_id": "7",
        "scene_id": str(tmp_path / "room.scene_instance.json"),
        "scene_dataset_config": str(tmp_path / "room.scene_dataset_config.json"),
        "additional_obj_config_paths": [str(tmp_path)],
        "info": {
            "object_labels": {
                "024_bowl_:0000": "any_targets|0",
                "005_tomato_soup_can_:0001": "any_targets|1",
            }
        },
        "ao_states": {"fridge_:0000": {"1": 1.5}},
        "markers": [
            marker("cab_push_point_5", "kitchen_:0000", "drawer3", (0.3, 0.0, 0.0)),
            marker("fridge_push_point", "fridge_:0000", "top_door", (0.1, -0.62, 0.2)),
            marker("another", "door_:0000", "door", (0.0, 0.0, 0.0)),
        ],
        "rigid_objs": [
            [can, transformation((1.0, 1.2, -2.0))],
            ["024_bowl.object_config.json", transformation((2.0, 1.3, -2.0))],
            [can, transformation((3.0, 1.4, -1.0))],
        ],
        "targets": {
            "005_tomato_soup_can_:0001": transformation((1.0, 1.5, -3.0)),
            "024_bowl_:0000": transformation((2.5, 1.6, -3.5)),
        },
    }


def write(folder, *entries):
    path = folder / "episodes.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump({"config": None, "episodes": entries}, file)
    load_rearrange_episodes.cache_clear()
    return str(path)


@pytest.fixture
def floor(monkeypatch):
    """An empty floor of 5 by 5 m in our world, at 0.7 m in Habitat's, without an engine."""
    grid = OccupancyGrid.from_floor("room", (-0.5, -0.5), np.ones((100, 100), bool))
    asked = []
    monkeypatch.setattr(
        habitat_dataset, "scene_floor", lambda *place: asked.append(place) or (grid, 0.7)
    )
    monkeypatch.setattr(habitat_dataset, "scene_handles", lambda *place: WAYS)
    return asked


def test_an_episode_is_read_as_habitat_lab_names_its_objects(tmp_path, entry):
    (episode,) = load_rearrange_episodes(write(tmp_path, entry))
    kinds = [kind_of(file) for file in episode.files]
    # What shall be moved first, in the file's order; of the two cans the second
    assert kinds == ["005_tomato_soup_can", "024_bowl", "005_tomato_soup_can"]
    assert episode.moved == (0, 1)
    np.testing.assert_allclose(episode.poses[:, :3, 3], [(3, 1.4, -1), (2, 1.3, -2), (1, 1.2, -2)])
    np.testing.assert_allclose(episode.goals[:, :3, 3], [(1, 1.5, -3), (2.5, 1.6, -3.5)])
    assert episode.joints == {"fridge_:0000": {1: 1.5}}
    assert episode.files[1].endswith("configs/024_bowl.object_config.json")
    assert episode.episode_id == "0"  # its number: ids of habitat-lab's files repeat


def test_a_scene_is_in_our_frame_with_its_floor_at_zero(tmp_path, entry, floor):
    (episode,) = load_rearrange_episodes(write(tmp_path, entry))
    scene, (can, bowl) = scene_of(episode)
    # Habitat's (x, y, z) is (x, -z, y) here; 0.7 m of height are the floor's
    np.testing.assert_allclose(bowl.start, (2.0, 2.0, 0.6), atol=1e-12)
    np.testing.assert_allclose(bowl.goal, (2.5, 3.5, 0.9), atol=1e-12)
    np.testing.assert_allclose(can.start, (3.0, 1.0, 0.7), atol=1e-12)
    assert scene.objects[bowl.slot][:3] == bowl.start
    for pose in scene.objects.values():
        np.testing.assert_allclose(np.abs(pose[3:]), (1, 0, 0, 0), atol=1e-9)
    assert len(scene.objects) == 3
    assert floor == [(entry["scene_id"], entry["scene_dataset_config"], 2)]


def test_objects_have_slots_of_their_kind_and_strangers_any(tmp_path, entry, floor):
    (tmp_path / "configs" / "lamp.object_config.json").write_text("{}")
    entry["rigid_objs"] += [["lamp.object_config.json", transformation((1, 1, -1))]] * 2
    (episode,) = load_rearrange_episodes(write(tmp_path, entry))
    scene, _ = scene_of(episode)
    kinds = [(kind_of(file), SLOT_KINDS[slot]) for slot, file in scene.files.objects.items()]
    assert len(kinds) == 5
    assert all(kind == slot for kind, slot in kinds if kind != "lamp")


@pytest.mark.parametrize("task", ["pick", "place", "navigate"])
def test_tasks_begin_there_as_in_our_apartments(task, tmp_path, entry, floor):
    source = DatasetEpisodes(write(tmp_path, entry))
    made, rng = make_task(task), np.random.default_rng(0)
    for _ in range(20):
        episode = source.sample(made, rng)
        (target,) = episode.targets
        place = np.array(target.goal if episode.held_slot is not None else target.start)
        away = np.linalg.norm(place[:2] - episode.base_pose[:2])
        assert episode.scene.grid.on_island(*episode.base_pose[:2])
        assert episode.episode_id == "0"
        if task == "place":
            assert episode.held_slot == target.slot
            assert away <= made.config.start_distance + 0.1
        if task == "pick":
            assert episode.held_slot is None
            assert away <= made.config.start_distance


def test_markers_are_handles_of_our_joints(tmp_path, entry):
    (episode,) = load_rearrange_episodes(write(tmp_path, entry))
    assert set(episode.handles) == {"drawer_right_top", "fridge_door"}
    assert episode.handles["fridge_door"].link == "top_door"
    assert episode.handles["fridge_door"].furniture == "fridge_:0000"
    assert episode.handles["drawer_right_top"].offset == (0.3, 0.0, 0.0)


def test_a_handle_is_on_its_way():
    assert WAYS["drawer_right_top"].at(0.2) == pytest.approx((0.5, 0.0))
    at = WAYS["fridge_door"].at(1.3)
    assert at == pytest.approx((0.6 * math.sin(1.3), -0.6 * math.cos(1.3)), abs=0.002)


@pytest.mark.parametrize("name", ["open_cab", "close_cab", "open_fridge", "close_fridge"])
def test_the_robot_begins_before_what_it_shall_open_or_close(name, tmp_path, entry, floor):
    source, task = DatasetEpisodes(write(tmp_path, entry)), make_task(name)
    config, rng = task.config, np.random.default_rng(0)
    for _ in range(20):
        episode = source.sample(task, rng)
        (joint, value), (x, y, yaw) = *episode.articulated.items(), episode.base_pose
        assert joint == episode.target_joint == task.joint
        assert config.start_joint_low <= value <= config.start_joint_high
        # The fridge looks along y, the drawer along x, and its front is 0.3 m from its origin
        ahead, aside = (y - 2.0, x - 3.0) if "fridge" in name else (x - 1.3 - value, y - 1.0)
        assert config.start_x_low <= ahead <= config.start_x_high
        assert abs(aside) <= config.start_y
        faced = -math.pi / 2 if "fridge" in name else math.pi
        assert math.cos(yaw - faced) > 0.0


def test_a_part_without_a_marker_is_missed(tmp_path, entry, floor, monkeypatch):
    source = DatasetEpisodes(write(tmp_path, entry))
    monkeypatch.setattr(habitat_dataset, "scene_handles", lambda *place: {})
    with pytest.raises(UserError, match=r"open_fridge: .* no marker of fridge_door, only none"):
        source.sample(make_task("open_fridge"), np.random.default_rng(0))


def test_what_knows_our_apartments_only_is_refused(tmp_path, entry, floor):
    source = DatasetEpisodes(write(tmp_path, entry))
    with pytest.raises(UserError, match="tidy_house knows our own apartments only"):
        source.sample(make_task("tidy_house"), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rigid_objs": None}, "TypeError.*expected habitat-lab's RearrangeEpisode"),
        ({"scene_id": "nowhere.json"}, "there is no nowhere.json: get it with"),
        ({"targets": {}}, "targets: there are none"),
        ({"targets": {"cup_:0000": transformation((0, 0, 0))}}, "there is no cup_:0000 among"),
        (
            {
                "rigid_objs": [["cup.object_config.json", []]],
                "targets": {"cup_:0000": transformation((0, 0, 0))},
            },
            "there is no cup.object_config.json in",
        ),
        ({"markers": [{"name": "fridge_push_point"}]}, "KeyError: 'params'"),
        ({"targets": {"024_bowl_:0000": [[math.nan] * 4] * 4}}, "not finite, 4 x 4"),
    ],
)
def test_a_broken_episode_is_named_with_what_is_wrong(tmp_path, entry, change, told):
    path = write(tmp_path, entry, {**copy.deepcopy(entry), **change})
    with pytest.raises(UserError, match=told) as caught:
        load_rearrange_episodes(path)
    assert str(caught.value).startswith(f"{path}, episode 1: ")


def test_clutter_that_finds_no_slot_is_left_out(tmp_path, entry, floor):
    entry["rigid_objs"] *= 11
    (episode,) = load_rearrange_episodes(write(tmp_path, entry))
    assert len(episode.files) == len(episode.poses) == 30
    scene, targets = scene_of(episode)
    assert len(scene.objects) == 30
    assert {target.slot for target in targets} <= set(scene.objects)


@pytest.mark.parametrize("name", ["place", "navigate", "open_fridge"])
def test_a_floor_without_room_is_told(name, tmp_path, entry, monkeypatch):
    free = np.zeros((100, 100), bool)
    told = {"corner": (-1.0, -2.0), "free": free, "height": 0.7}
    monkeypatch.setattr(habitat_dataset, "_surveyed", lambda *asked: told)
    habitat_dataset.scene_floor.cache_clear()
    source = DatasetEpisodes(write(tmp_path, entry))
    with pytest.raises(UserError, match="has no floor on which the robot fits"):
        source.sample(make_task(name), np.random.default_rng(0))


class FakeEngine:
    """Answers as `survey.Engine` would of a floor with one wall, and counts its starts."""

    started = 0

    def __init__(self, settings, name, file):
        assert file.name == "survey.py"
        assert settings["scene"] == name
        type(self).started += 1

    def ask(self, what, *asked):
        self.what = what

    def answer(self):
        if self.what == "floor":
            free = np.ones((40, 60), bool)
            free[:, 50:] = False  # a wall where Habitat's z is largest, so our y smallest
            return -1.0, -2.0, 0.4, free
        axis = (math.cos(0.3), 0.0, -math.sin(0.3))  # 0.3 rad about our vertical
        places = [(2.0 + 0.3 * axis[0], 1.0, -3.0 + 0.3 * axis[2]), (2.5, 1.0, -3.5)]
        return [{"origin": (2.0, 0.4, -3.0), "axis": axis, "values": (0.0, 0.5), "places": places}]

    def close(self):
        pass


def test_what_an_engine_tells_of_a_scene_is_turned_into_our_frame_and_kept(
    tmp_path, entry, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(habitat_dataset, "EngineProcess", FakeEngine)
    monkeypatch.setattr(habitat_dataset, "check_installed", lambda: None)
    monkeypatch.setattr(habitat_dataset, "engine_settings", dict)
    scene, dataset = entry["scene_id"], entry["scene_dataset_config"]
    handles = (("fridge_door", SceneHandle("fridge_:0000", "top_door", (0.1, -0.6, 0.2))),)
    for expected in (2, 2):  # the second time nothing is asked
        scene_floor.cache_clear()
        scene_handles.cache_clear()
        grid, height = scene_floor(scene, dataset, 2.0)
        ways = scene_handles(scene, dataset, handles)
        assert FakeEngine.started == expected
    assert height == 0.4
    # Its x from -1 to 1 and z from -2 to 1 are our x from -1 to 1 and y from -1 to 2; the wall is 0.5 m of that
    assert grid.clearance_at(0.0, -0.5 + 0.4) == pytest.approx(0.4, abs=0.03)
    assert grid.clearance_at(0.0, 2.0 - 0.4) == pytest.approx(0.4, abs=0.03)
    assert grid.clearance_at(0.0, -0.8) < 0.0
    way = ways["fridge_door"]
    assert way.position == pytest.approx((2.0, 3.0))
    assert way.yaw == pytest.approx(0.3)
    assert way.at(0.0) == pytest.approx((0.3, 0.0))
    c, s = math.cos(0.3), math.sin(0.3)
    assert way.at(0.5) == pytest.approx((0.5 * c + 0.5 * s, 0.5 * c - 0.5 * s))


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(UserError, match="datasets_download --uids replica_cad_dataset"):
        load_rearrange_episodes(str(tmp_path / "none.json.gz"))


def test_our_own_files_are_told_apart(tmp_path, entry):
    assert is_rearrange_dataset(write(tmp_path, entry))
    assert not is_rearrange_dataset("sampled")
    ours = tmp_path / "ours.json"
    ours.write_text('{"episodes": [{"objects": []}]}')
    assert not is_rearrange_dataset(ours)


# --- on the engine ----------------------------------------------------------------------------------


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
        frame = apartment.fridge if joint == "fridge_door" else apartment.cabinet
        for value in (0.0, 0.17, 0.4):
            found, expected = (
                np.add(place, turned(yaw) @ at)
                for place, yaw, at in (
                    (way.position, way.yaw, way.at(value)),
                    (frame.position[:2], frame.yaw, handle_place(joint, value)),
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
    told = dict(zip(ARTICULATED_JOINTS, simulator.state.articulated_joints[0], strict=True))
    assert told == pytest.approx(dict.fromkeys(ARTICULATED_JOINTS, 0.0) | values, abs=0.005)
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
