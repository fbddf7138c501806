import dataclasses
import gzip

import numpy as np
import pytest

from rearrange.episodes import dataset
from rearrange.episodes.dataset import EpisodeSet, default_path, find_dataset
from rearrange.episodes.episode import SceneFiles
from rearrange.errors import UserError
from rearrange.scenes.registry import CLASSIC, GENERATED, layouts_of


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


def test_the_command_that_made_a_file_may_name_seven_policies(episode_set, tmp_path):
    policies = ",".join(
        f"{k}=runs/household/seed_1/{'skill' * 10}/policy.safetensors" for k in range(7)
    )
    made = dataclasses.replace(
        episode_set, generator=f"python -m planner.eval tidy_house --skills {policies}"
    )
    made.save(tmp_path / "set.json.gz")
    assert EpisodeSet.load(tmp_path / "set.json.gz").generator == made.generator


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
