import dataclasses
import gzip
import json
import math

import numpy as np
import pytest

from rearrange.episodes import dataset
from rearrange.episodes.dataset import EpisodeSet, default_path, find_dataset
from rearrange.episodes.episode import Episode, SceneFiles
from rearrange.errors import UserError
from rearrange.scenes.apartment import CLASSIC, GENERATED, layouts_of


def test_what_is_saved_comes_back_rounded(episode_set, saved):
    found = EpisodeSet.load(saved)
    assert (found.task, found.split, found.seed, len(found)) == ("pick", "val", 0, 2)
    for expected, episode in zip(episode_set.episodes, found, strict=True):
        assert list(episode.objects) == sorted(expected.objects)
        for slot, pose in expected.objects.items():
            np.testing.assert_allclose(episode.objects[slot][:3], pose[:3], atol=5.1e-5)
            np.testing.assert_allclose(episode.objects[slot][3:], pose[3:], atol=5.1e-4)
        for target, wanted in zip(episode.targets, expected.targets, strict=True):
            np.testing.assert_allclose(target.start, wanted.start, atol=5.1e-5)
            np.testing.assert_allclose(target.goal, wanted.goal, atol=5.1e-5)
            assert target.slot == wanted.slot
            assert target.start_receptacle == wanted.start_receptacle
        np.testing.assert_allclose(episode.base_pose, expected.base_pose, atol=5.1e-5)
        np.testing.assert_allclose(episode.arm_joints, expected.arm_joints, atol=5.1e-5)
        for name in ("episode_id", "layout", "variation", "articulated", "held_slot", "seed"):
            assert getattr(episode, name) == getattr(expected, name)


def test_every_field_of_an_episode_is_written(episode_set, saved, raw, tmp_path):
    names = {field.name for field in dataclasses.fields(Episode)}
    assert set(raw["episodes"][0]) == names - {"grasp", "scene"}  # which only a few have
    full = dataclasses.replace(
        episode_set.episodes[0],
        articulated={"fridge_door": 1.5, "drawer_right_top": 0.45},
        held_slot=3,
        target_joint="fridge_door",
        grasp=(0.05, 0.01, -0.02, 0.6, 0.0, -0.8, 0.0),
    )
    path = tmp_path / "full.json.gz"
    dataclasses.replace(episode_set, episodes=(full,)).save(path)
    (found,) = EpisodeSet.load(path).episodes
    assert found.articulated == full.articulated
    assert (found.held_slot, found.target_joint) == (3, "fridge_door")
    assert found.grasp == full.grasp


def test_an_episode_in_a_scene_of_a_dataset_is_not_written(episode_set, tmp_path):
    scene = SceneFiles("room.json", "rooms.json", {}, {}, {}, grid=None)
    elsewhere = dataclasses.replace(episode_set.episodes[0], scene=scene)
    with pytest.raises(UserError, match=r"takes place in room.json: only those in our apartments"):
        dataclasses.replace(episode_set, episodes=(elsewhere,)).save(tmp_path / "set.json.gz")
    assert not list(tmp_path.glob("set*"))


def test_the_same_episodes_give_the_same_bytes(saved, tmp_path):
    again = tmp_path / "again.json.gz"
    EpisodeSet.load(saved).save(again)
    assert again.read_bytes() == saved.read_bytes()
    assert saved.read_bytes()[4:8] == b"\0\0\0\0"  # no time of writing
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_is_read_once_until_it_changes(saved, episode_set):
    first = EpisodeSet.load(saved)
    assert EpisodeSet.load(saved) is first
    dataclasses.replace(episode_set, episodes=episode_set.episodes[:1]).save(saved)
    assert len(EpisodeSet.load(saved)) == 1


def test_seeds_permute_the_order(episode_set):
    first = episode_set.episodes[0]
    many = tuple(dataclasses.replace(first, episode_id=f"val/{k}") for k in range(30))
    episodes = dataclasses.replace(episode_set, episodes=many)
    ids = {
        seed: [episodes.episode(k, seed).episode_id for k in range(30)] for seed in (0, 1, 2, -1)
    }
    assert ids[0] == [episode.episode_id for episode in many]
    assert sorted(ids[1]) == sorted(ids[2]) == sorted(ids[0])
    assert ids[1] != ids[0]
    assert ids[1] != ids[2]
    assert ids[1] == [episodes.episode(k, 1).episode_id for k in range(30)]
    with pytest.raises(IndexError, match="episode 30 of 30"):
        episodes.episode(30)


def test_other_apartments_than_in_the_file_are_told(raw, write_raw):
    raw["apartments"][0]["fingerprint"] = "0" * 12
    episodes = EpisodeSet.load(write_raw(raw))
    with pytest.raises(
        UserError, match=r"another apartment 5\d+/0 .* python -m rearrange.episodes"
    ):
        episodes.episode(0)


# --- what is wrong is named -------------------------------------------------------------------------


def put(path, value):
    """A change: the value at this path."""

    def change(raw):
        for key in path[:-1]:
            raw = raw[key]
        raw[path[-1]] = value

    return change


def drop(path):
    def change(raw):
        for key in path[:-1]:
            raw = raw[key]
        del raw[path[-1]]

    return change


EPISODE = ("episodes", 1)
POSE = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
WRONG = {
    "version": (put(("version",), 2), ["version: expected 1", "found 2"]),
    "version is a bool": (put(("version",), True), ["version", "found True"]),
    "task": (put(("task",), "pick me"), ["task: expected a name of", "'pick me'"]),
    "split": (put(("split",), "dev"), ["split: expected one of train, val, test", "'dev'"]),
    "seed": (put(("seed",), -1), ["seed", "found -1"]),
    "generator": (put(("generator",), "a\nb"), ["generator", r"'a\nb'"]),
    "unknown in file": (put(("author",), "x"), ["only the fields", "'author'"]),
    "missing in file": (drop(("task",)), ["a field 'task'"]),
    "episodes are no list": (put(("episodes",), {}), ["episodes: expected a list", "{}"]),
    "apartment split": (
        put(("apartments", 0, "layout"), 0),
        ["layout of split val (3, 5000 to 5099)"],
    ),
    "apartment variation": (put(("apartments", 0, "variation"), 21), ["from 0 to 20"]),
    "apartment size": (put(("apartments", 0, "size"), [math.pi]), ["size", "2 numbers"]),
    "unknown": (put((*EPISODE, "weather"), 1), ["only the fields", "weather"]),
    "missing": (drop((*EPISODE, "objects")), ["a field 'objects'"]),
    "no record": (put(EPISODE, 7), ["episode: expected an object", "found 7"]),
    "id": (put((*EPISODE, "episode_id"), ""), ["episode_id", "''"]),
    "same id": (put((*EPISODE, "episode_id"), "val/0"), ["not yet taken", "'val/0'"]),
    "layout": (
        put((*EPISODE, "layout"), 4),
        ["val/1", "layout of split val (3, 5000 to 5099)", "found 4"],
    ),
    "layout is a bool": (put((*EPISODE, "layout"), True), ["layout", "True"]),
    "variation": (put((*EPISODE, "variation"), 99), ["variation", "0 to 20", "99"]),
    "apartment unlisted": (put((*EPISODE, "variation"), 7), ["the file's list", ", 7]"]),
    "seed float": (put((*EPISODE, "seed"), 1.0), ["val/1", "seed", "found 1.0"]),
    "slot": (put((*EPISODE, "objects"), [[30, *POSE]]), ["objects[0] slot", "0 to 29", "30"]),
    "slot twice": (put((*EPISODE, "objects"), [[1, *POSE]] * 2), ["objects[1] slot", "not yet"]),
    "row": (put((*EPISODE, "objects"), [[1, 2]]), ["objects[0]", "qw", "[1, 2]"]),
    "31 objects": (put((*EPISODE, "objects"), [[0, *POSE]] * 31), ["0 to 30 entries"]),
    "outside": (put((*EPISODE, "objects"), [[0, 99.0, *POSE[1:]]]), ["pose[0]", "99.0"]),
    "huge": (put((*EPISODE, "objects"), [[0, 10**400, *POSE[1:]]]), ["pose[0]", "1000"]),
    "norm": (put((*EPISODE, "objects"), [[0, *POSE[:3], 0.9, 0, 0, 0]]), ["norm of 1", "0.9"]),
    "text": (put((*EPISODE, "objects"), [[0, "1.0", *POSE[1:]]]), ["pose[0]", "'1.0'"]),
    "base": (put((*EPISODE, "base_pose"), [-1.0, 1.0, 0.0]), ["base_pose[0]", "-1.0"]),
    "base size": (put((*EPISODE, "base_pose"), [1.0, 1.0]), ["base_pose", "3 numbers"]),
    "yaw": (put((*EPISODE, "base_pose"), [1.0, 1.0, 7.0]), ["base_pose[2]", "7.0"]),
    "arm": (put((*EPISODE, "arm_joints", 1), 2.0), ["arm_joints[1]", "2.0"]),
    "arm null": (put((*EPISODE, "arm_joints"), None), ["arm_joints", "7 numbers", "None"]),
    "joint": (put((*EPISODE, "articulated"), {"oven": 0}), ["fridge_door", "'oven'"]),
    "joint range": (put((*EPISODE, "articulated"), {"drawer_bottom": 0.6}), ["0.451", "0.6"]),
    "joints": (put((*EPISODE, "articulated"), []), ["articulated", "[]"]),
    "held": (put((*EPISODE, "held_slot"), 30), ["held_slot", "30"]),
    "grasp of nothing": (
        put((*EPISODE, "grasp"), [0.1, 0, 0, 1, 0, 0, 0]),
        ["grasp: expected none", "nothing is held"],
    ),
    "target joint": (put((*EPISODE, "target_joint"), "oven"), ["target_joint", "'oven'"]),
    "target slot": (put((*EPISODE, "objects"), []), ["targets[0].slot", "there or held"]),
    "receptacle": (
        put((*EPISODE, "targets", 0, "goal_receptacle"), "bed"),
        ["targets[0].goal_receptacle", "sofa", "'bed'"],
    ),
    "goal": (put((*EPISODE, "targets", 0, "goal"), [1, 1, 5]), ["targets[0].goal[2]", "found 5"]),
    "target": (drop((*EPISODE, "targets", 0, "goal")), ["targets[0]", "a field 'goal'"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_fields_are_named_in_one_line(raw, write_raw, case):
    change, words = WRONG[case]
    change(raw)
    path = write_raw(raw)
    with pytest.raises(UserError) as error:
        EpisodeSet.load(path)
    message = str(error.value)
    assert "\n" not in message
    assert len(message) < 600
    assert all(word in message for word in [str(path), *words]), message


def test_the_same_target_twice_is_refused(raw, write_raw):
    raw["episodes"][0]["targets"] *= 2
    with pytest.raises(UserError, match=r"val/0': targets\[1\].slot: .*no other target"):
        EpisodeSet.load(write_raw(raw))


@pytest.mark.parametrize(
    ("grasp", "words"),
    [
        ([0.2, 0, 0, 1, 0, 0, 0], r"grasp\[0\]: .*0.15, found 0.2"),
        ([0.1, 0, 0, 0.9, 0, 0, 0], "grasp quaternion: expected a norm of 1, found 0.9"),
        ([0.1, 0, 0], "grasp: expected a list of 7 numbers"),
    ],
)
def test_a_grasp_is_a_pose_within_reach(raw, write_raw, grasp, words):
    episode = raw["episodes"][0]
    episode["held_slot"] = episode["targets"][0]["slot"]
    episode["grasp"] = grasp
    with pytest.raises(UserError, match=words):
        EpisodeSet.load(write_raw(raw))


def test_held_objects_need_not_lie_around(raw, write_raw):
    episode = raw["episodes"][0]
    episode["held_slot"] = episode["targets"][0]["slot"]
    episode["objects"] = []
    assert EpisodeSet.load(write_raw(raw)).episodes[0].objects == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2", "line 1"),
        ("[NaN]", "no finite number"),
        ('{"task": 1, "task": 2}', "'task' twice"),
        ("[" * 100_000, "nested too deep"),
        ("[" + "9" * 5000 + "]", "JSON"),
        ("[]", "an object with fields"),
        (b"\xff\xfe\xfa", "JSON"),
        ("", "JSON"),
    ],
)
def test_text_that_is_no_episode_file_is_refused(tmp_path, text, words):
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(text if isinstance(text, bytes) else text.encode()))
    with pytest.raises(UserError, match=words) as error:
        EpisodeSet.load(path)
    assert "\n" not in str(error.value)


def test_files_that_are_no_whole_gzip_are_refused(saved, tmp_path):
    packed = saved.read_bytes()
    for name, content, words in (
        ("cut", packed[: len(packed) // 2], "cut off"),
        ("plain", gzip.decompress(packed), "a gzip file"),
        ("flipped", packed[:200] + bytes([packed[200] ^ 255]) + packed[201:], "gzip"),
        ("empty", b"", "JSON"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(UserError, match=words):
            EpisodeSet.load(path)
    with pytest.raises(UserError, match="a folder"):
        EpisodeSet.load(tmp_path)


def test_files_that_are_too_large_are_refused(saved, tmp_path, monkeypatch):
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 2_000_000))
    monkeypatch.setattr(dataset, "LARGEST_TEXT", 1_000_000)
    with pytest.raises(UserError, match="1000000 bytes when unpacked"):
        EpisodeSet.load(bomb)
    monkeypatch.setattr(dataset, "LARGEST_FILE", 100)
    with pytest.raises(UserError, match="at most 100 bytes"):
        EpisodeSet.load(bomb.rename(tmp_path / "other.json.gz"))


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(UserError, match="generate pick --homes generated --split test"):
        EpisodeSet.load(tmp_path / "none.json.gz", "pick", "test")


def test_files_of_another_task_or_split_are_refused(saved):
    with pytest.raises(UserError, match="task: expected 'tidy_house', found 'pick'"):
        EpisodeSet.load(saved, "tidy_house")
    with pytest.raises(UserError, match="split: expected 'train', found 'val'"):
        EpisodeSet.load(saved, "pick", "train")


# --- which file is taken ----------------------------------------------------------------------------


def test_the_default_file_is_taken_where_it_holds_enough(saved, monkeypatch, tmp_path):
    monkeypatch.setattr(dataset, "DIRECTORY", tmp_path / "data" / "episodes")
    assert find_dataset(None, "pick", "val", 2)[0] is None
    path = default_path("pick", "val")
    path.parent.mkdir(parents=True)
    path.write_bytes(saved.read_bytes())
    found, line = find_dataset(None, "pick", "val", 2)
    assert found is not None
    assert len(found) == 2
    assert "data/episodes/pick/val.json.gz" in line
    assert str(tmp_path) not in line
    found, line = find_dataset(None, "pick", "val", 3)
    assert found is None
    assert "holds only 2" in line
    assert find_dataset("sampled", "pick", "val", 1)[0] is None


def test_a_file_that_was_asked_for_must_hold_enough(saved):
    found, _ = find_dataset(str(saved), "pick", "val", 2)
    assert found is not None
    with pytest.raises(UserError, match="holds 2 episodes, not 3"):
        find_dataset(str(saved), "pick", "val", 3)


def test_a_file_holds_homes_of_one_collection(raw, write_raw):
    assert EpisodeSet.load(write_raw(raw)).homes == GENERATED
    raw["apartments"].append(raw["apartments"][0] | {"layout": layouts_of("val", CLASSIC)[0]})
    with pytest.raises(UserError, match="apartments: expected homes of one collection"):
        EpisodeSet.load(write_raw(raw))


def test_numbers_are_short_and_without_negative_zeros(raw, saved):
    text = gzip.decompress(saved.read_bytes()).decode()
    assert "-0," not in text
    assert ".0," not in text
    assert len(text.splitlines()) == 4  # a line per episode
    assert all(len(str(abs(x)).split(".")[-1]) <= 5 for x in raw["episodes"][0]["arm_joints"])
    assert json.loads(text) == raw
