"""Fields of episode files: what is wrong is named."""

import dataclasses
import gzip
import json
import math

import pytest

from rearrange.episodes.dataset import EpisodeSet
from rearrange.episodes.episode import Episode
from rearrange.errors import UserError


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


def test_numbers_are_short_and_without_negative_zeros(raw, saved):
    text = gzip.decompress(saved.read_bytes()).decode()
    assert "-0," not in text
    assert ".0," not in text
    assert len(text.splitlines()) == 4  # a line per episode
    assert all(len(str(abs(x)).split(".")[-1]) <= 5 for x in raw["episodes"][0]["arm_joints"])
    assert json.loads(text) == raw
