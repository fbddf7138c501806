"""Episodes of habitat-lab's rearrangement datasets: files, scenes as tasks begin in them, and on the engine."""

import copy
import math

import numpy as np
import pytest

from rearrange.episodes import SceneHandle
from rearrange.errors import UserError
from rearrange.habitat import dataset as habitat_dataset
from rearrange.habitat.dataset import (
    DatasetEpisodes,
    is_rearrange_dataset,
    kind_of,
    load_rearrange_episodes,
    scene_floor,
    scene_handles,
    scene_of,
)
from rearrange.navigation import OccupancyGrid
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.tasks import make_task
from rearrange.tasks.sampling import HandleWay
from tests.helpers.lab_entries import transformation, write

# A fridge at (3, 2) that looks along y, with its hinge in the origin, and a drawer at (1, 1) that looks along x
ANGLES = np.linspace(0.0, 2.0, 17)
ARC = tuple((0.6 * math.sin(angle), -0.6 * math.cos(angle)) for angle in ANGLES)
WAYS = {
    "fridge_door": HandleWay((3.0, 2.0), math.pi / 2, tuple(ANGLES), ARC),
    "drawer_right_top": HandleWay((1.0, 1.0), 0.0, (0.0, 0.5), ((0.3, 0.0), (0.8, 0.0))),
}


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
    kinds = [
        (kind_of(file), APARTMENT.slot_kinds[slot]) for slot, file in scene.files.objects.items()
    ]
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
        assert joint == episode.target_joint == task.parts[0].name
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
