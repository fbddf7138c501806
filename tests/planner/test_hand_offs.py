"""Recorded hand-offs: what is kept, and that a world set up from it is the one that was recorded."""

import dataclasses

import numpy as np
import pytest

from planner import hand_offs
from planner.executive import Executive
from planner.hand_offs import HandOffRecorder, grasp_of, keep_resting, save_starts, snapshot
from planner.rules import ExecutiveSettings
from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, RecordedStarts, recorded
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.sim.base import NOTHING
from rearrange.sim.mujoco import SimulatorConfig
from skills.base import SkillArgument

SMALL = SimulatorConfig(camera_size=8)


def make_env(task="place", starts=None):
    return RearrangeEnv(task, split="val", simulator=SMALL, seed=0, starts=starts)


@pytest.fixture(scope="module")
def met():
    """A world in which Place was driven about, and what the skill would be told then."""
    env = make_env()
    env.reset(seed=3)
    target = env.episode.targets[0]
    # A tilted grasp, as a learned Pick leaves it: about the hand's y axis by 0.3 rad.
    nominal = grasp_of(env.state, target.slot)
    tilted = (nominal[0], 0.01, -0.01, *np.array([0.8, 0.1, -0.58, 0.05]))
    norm = np.linalg.norm(tilted[3:])
    grasp = (*tilted[:3], *(value / norm for value in tilted[3:]))
    env.reset(options={"episode": dataclasses.replace(env.episode, grasp=grasp)})
    rng = np.random.default_rng(0)
    for _ in range(20):
        action = np.append(0.5 * rng.uniform(-1, 1, 7), [1.0, *rng.uniform(-1, 1, 2)])
        env.step(action)
    assert env.state.held_object[0] == target.slot
    argument = SkillArgument("goal", target.slot, 0, target.goal)
    return env, argument


def compare(first, second, tolerance):
    for name in ("base_pose", "arm_joints", "articulated_joints", "end_effector_position"):
        np.testing.assert_allclose(
            getattr(first, name), getattr(second, name), atol=tolerance, err_msg=name
        )
    assert first.held_object[0] == second.held_object[0]
    np.testing.assert_allclose(first.object_position, second.object_position, atol=2 * tolerance)
    held = int(first.held_object[0])
    if held != NOTHING:
        np.testing.assert_allclose(grasp_of(first, held), grasp_of(second, held), atol=tolerance)


def test_a_world_set_up_from_a_snapshot_is_the_one_recorded(met):
    env, argument = met
    episode = snapshot(env, argument, "val/0/3")
    again = make_env()
    again.reset(options={"episode": episode})
    compare(env.state, again.state, 3e-3)  # the arm comes to rest a little lower
    assert again.episode.targets[0].goal == argument.position
    before = np.array(grasp_of(again.state, argument.slot))
    for _ in range(15):
        again.step(np.append(np.zeros(7), [1.0, 0.0, 0.0]))
    np.testing.assert_allclose(grasp_of(again.state, argument.slot), before, atol=5e-3)


def test_what_is_held_from_above_is_held_as_ever():
    env = make_env()
    env.reset(seed=5)
    slot = env.episode.held_slot
    position = np.array(grasp_of(env.state, slot))
    assert position[1:3] == pytest.approx([0.0, 0.0], abs=1e-3)
    np.testing.assert_allclose(position[3:], [np.sqrt(0.5), 0, -np.sqrt(0.5), 0], atol=1e-3)


def test_files_of_starts_are_episode_files_from_which_worlds_begin(met, tmp_path):
    env, argument = met
    episodes = [snapshot(env, argument, f"val/{k}/3") for k in range(2)]
    starts = [("place", episode) for episode in episodes]
    (path,) = save_starts(starts, tmp_path, "tidy_house", "val", 0, "python -m planner.eval")
    assert path == tmp_path / "place" / "tidy_house_val.json.gz"
    assert len(EpisodeSet.load(path, "place", "val")) == 2
    mixed = make_env(starts=RecordedStarts([str(path)], share=1.0))
    mixed.reset(seed=9)
    compare(env.state, mixed.state, 3e-3)
    seeds = {mixed.reset() and mixed.episode.seed for _ in range(4)}
    assert len(seeds) == 4  # what is random within episodes is not always the same


def test_starts_in_which_something_would_topple_are_left_out(met, tmp_path):
    env, argument = met
    still = snapshot(env, argument, "val/0/3")
    slot, pose = next(each for each in still.objects.items() if each[0] != still.held_slot)
    lifted = (*pose[:2], pose[2] + 0.05, *pose[3:])
    hangs = dataclasses.replace(
        still, objects={**still.objects, slot: lifted}, episode_id="val/1/3"
    )
    starts = [("place", still), ("place", hangs)]
    (path,) = save_starts(starts, tmp_path, "tidy_house", "val", 0, "a command")
    assert keep_resting(path) == 1
    assert [each.episode_id for each in EpisodeSet.load(path)] == ["val/0/3"]
    assert keep_resting(path) == 0
    (path,) = save_starts(starts[1:], tmp_path, "tidy_house", "val", 0, "a command")
    assert keep_resting(path) == 1
    assert not path.exists()  # a training would refuse a file without episodes


def test_a_recording_takes_the_place_of_the_one_before(met, tmp_path):
    env, argument = met
    start = snapshot(env, argument, "val/0/3")
    for place in (("tidy_house", "val"), ("tidy_house", "train"), ("set_table", "val")):
        save_starts([("place", start), ("pick", start)], tmp_path, *place, 0, "a command")
    save_starts([("place", start)], tmp_path, "tidy_house", "val", 1, "a command")
    assert sorted(path.name for path in (tmp_path / "pick").iterdir()) == [
        "set_table_val.json.gz",
        "tidy_house_train.json.gz",
    ]
    assert EpisodeSet.load(tmp_path / "place" / "tidy_house_val.json.gz").seed == 1


def test_a_recording_of_one_skill_leaves_the_others(met, tmp_path):
    env, argument = met
    start = snapshot(env, argument, "blind_drives/0")
    for skill in ("navigate", "place"):
        save_starts(
            [(skill, start)], tmp_path, "blind_drives", "val", 0, "a command", skills=(skill,)
        )
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert found == [f"{skill}/blind_drives_val.json.gz" for skill in ("navigate", "place")]


def test_paths_of_configs_are_found_from_anywhere(met, tmp_path, monkeypatch):
    env, argument = met
    starts = [("place", snapshot(env, argument, "val/0/3"))]
    save_starts(starts, tmp_path / "data", "tidy_house", "val", 0, "python -m planner.eval")
    monkeypatch.setattr(recorded, "DIRECTORY", tmp_path / "data" / "episodes")
    shipped = RecordedStarts(["data/place/tidy_house_val.json.gz"], share=1.0)
    shipped.check("place", "val", DEFAULT_HOMES)
    assert shipped.draw("place", "val", np.random.default_rng(0)) is not None


def test_a_folder_stands_for_the_files_of_the_skill_and_split_in_it(met, tmp_path):
    env, argument = met
    starts = [("place", snapshot(env, argument, "val/0/3"))]
    for scenario in ("tidy_house", "set_table"):
        save_starts(starts, tmp_path, scenario, "val", 0, "python -m planner.eval")
    save_starts(starts, tmp_path, "tidy_house", "train", 0, "python -m planner.eval")
    mixed = RecordedStarts([str(tmp_path)], share=1.0)
    names = [
        str(tmp_path / "place" / f"{name}_val.json.gz") for name in ("set_table", "tidy_house")
    ]
    assert mixed.files("place", "val") == names
    assert mixed.draw("place", "val", np.random.default_rng(0)) is not None
    with pytest.raises(UserError, match=r"has no pick/\*_val\.json\.gz \(starts.paths="):
        mixed.check("pick", "val", DEFAULT_HOMES)


def test_the_share_says_how_often(met, tmp_path):
    env, argument = met
    starts = [("place", snapshot(env, argument, "val/0/3"))]
    (path,) = save_starts(starts, tmp_path, "tidy_house", "val", 0, "python -m planner.eval")
    rng = np.random.default_rng(0)
    mixed = RecordedStarts([str(path)], share=0.25)
    drawn = [mixed.draw("place", "val", rng) is not None for _ in range(1000)]
    assert 200 < sum(drawn) < 300


@pytest.mark.parametrize(
    ("paths", "share", "complaint"),
    [
        (["nowhere.json.gz"], 0.5, "nowhere.json.gz: No such file"),
        ([], 1.5, "starts.share must be from 0 to 1, found 1.5"),
    ],
)
def test_wrong_starts_are_refused_at_once(paths, share, complaint):
    with pytest.raises(UserError, match=complaint):
        make_env(starts=RecordedStarts(paths, share))


def test_starts_of_another_skill_are_refused(met, tmp_path):
    env, argument = met
    starts = [("place", snapshot(env, argument, "val/0/3"))]
    (path,) = save_starts(starts, tmp_path, "tidy_house", "val", 0, "python -m planner.eval")
    with pytest.raises(UserError, match="expected 'pick', found 'place'"):
        make_env("pick", RecordedStarts([str(path)]))


def test_every_skill_of_a_plan_is_recorded_but_those_with_nothing_to_do(
    world, skills, task_and_plan, monkeypatch
):
    monkeypatch.setattr(hand_offs, "snapshot", lambda world, argument, name: name)
    task, plan = task_and_plan
    skills["pick"].misses = (1,)  # so there is nothing to carry and to place the second time
    recorder = HandOffRecorder("val/7")
    Executive(skills).run(world, plan, task.arguments, [recorder.observe])
    assert [skill for skill, _ in recorder.starts] == (
        ["navigate", "pick", "navigate", "place"]
        + ["navigate", "pick"]
        + ["navigate", "pick", "navigate", "place"] * 3
    )
    indices = [int(name.removeprefix("val/7/")) for _, name in recorder.starts]
    assert indices == [*range(6), *range(8, 20)]


def test_a_drive_that_is_driven_anew_has_a_name_of_its_own(
    world, skills, task_and_plan, monkeypatch
):
    monkeypatch.setattr(hand_offs, "snapshot", lambda world, argument, name: name)
    task, plan = task_and_plan
    navigate, done = skills["navigate"], skills["navigate"].done
    navigate.done = lambda world: len(navigate.resets) not in (2, 3) and done(world)
    recorder = HandOffRecorder("val/7")
    executive = Executive(skills, ExecutiveSettings(redrives=2))
    executive.run(world, plan, task.arguments, [recorder.observe])
    drives = [name for skill, name in recorder.starts if skill == "navigate"]
    assert drives[:5] == ["val/7/0", "val/7/2", "val/7/2_1", "val/7/2_2", "val/7/4"]
    assert len(set(drives)) == len(drives)
