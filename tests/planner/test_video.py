import dataclasses
import json

import imageio.v3
import numpy as np
import pytest

from planner import eval as command
from planner import judge, labels, panels, scenarios, video
from planner.interactions import InteractionResult
from planner.record import Execution, HandOff
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.tasks import household_names
from skills import skill_names
from tests.helpers.planner_fakes import FakeWorld, make_table_episode, moment_of


def test_captions_name_what_is_opened():
    world = FakeWorld(make_table_episode())
    texts = [video.caption(world, moment_of(step)) for step in range(8)]
    assert texts == [
        "1/16  driving to the top right drawer",
        "2/16  opening the top right drawer",
        "3/16  driving to the cracker box",
        "4/16  picking up the cracker box",
        "5/16  driving to table 1",
        "6/16  placing on table 1",
        "7/16  driving to the top right drawer",
        "8/16  closing the top right drawer",
    ]
    assert video.caption(world, moment_of(9, "reset_arm")) == "10/16  folding the arm"


def test_handle_is_marked_while_it_matters():
    world = FakeWorld(make_table_episode())
    world.state.handle_position[0] = np.arange(15.0).reshape(5, 3)
    found = [video.handle_of(world, moment_of(step)) for step in range(11)]
    drawer, fridge = [3.0, 4.0, 5.0], [0.0, 1.0, 2.0]
    expected = [drawer, drawer, *[None] * 4, drawer, drawer, fridge, fridge, None]
    assert [None if f is None else f.tolist() for f in found] == expected
    assert video.handle_of(world, moment_of(1, "reset_arm")) is None


def test_captions_tell_who_acts():
    assert video.kind_of("/somewhere/data/checkpoints/pick.safetensors") == "learned"
    assert [video.kind_of(s) for s in ("oracle", "sense-plan-act")] == ["oracle", "sense-plan-act"]


def hand_off(plan_index, deviation):
    return HandOff(plan_index, "place", "x", "done", 3, (0.0, 0.0, 0.0), 0.5, 0.0, None, deviation)


def ended(failure, *hand_offs, count=1):
    results = (InteractionResult("pick_0", True, True),) * count
    return Execution(failure is None, False, results, failure, 9, hand_offs)


def test_a_last_step_without_a_fault_is_not_red():
    last = moment_of(15)
    assert video.progress(last, None) == (15, False)
    fine, lost = hand_off(15, None), hand_off(15, "dropped")
    assert video.progress(last, ended(None, fine)) == (16, False)
    assert video.progress(last, ended("pick: wrong object", hand_off(3, "a"), fine)) == (16, False)
    assert video.progress(last, ended("place: dropped", lost)) == (15, True)
    # A skill's own task has no hand-offs.
    assert video.progress(last, ended("place: time-out")) == (15, True)
    assert video.progress(last, ended(None)) == (16, False)


def test_results_are_words():
    assert video.result_text(ended(None))[0] == "Success"
    told = video.result_text(ended("reset_arm: moved a placed object", count=10))[0]
    assert told == "Failed, folding the arm: moved a placed object: 10 of 10 interactions"
    assert video.result_text(ended("plan exhausted"))[0] == "Failed, plan exhausted"


def width(text, size):
    return panels.font(size).getlength(text)


def test_the_longest_texts_fit():
    line = video.SCENE.width - 2 * 16
    causes = (judge.MOVED, judge.WRONG_OBJECT, "holds a handle", "missed the goal")
    results = [
        video.result_text(ended(f"{skill}: {cause}", count=10))[0]
        for skill in (*skill_names(), labels.REARM, labels.LOOK)
        for cause in causes
    ]
    assert max(width(text, 19) for text in results) <= line
    objects = [APARTMENT.objects[slot].title for slot in range(len(APARTMENT.slot_kinds))]
    goals = [APARTMENT.title(name) for name in APARTMENT.open_receptacles]
    told = [f"20/20  picking up the {name}" for name in objects]
    told += [f"20/20  placing on the {name}" for name in goals]
    ends = width("sense-plan-act", 14) + width("step 3000, 0.5x speed", 14)
    assert max(width(text, 19) for text in told) + 12 + ends + 12 <= line
    panel = video.PANEL_WIDTH - 2 * video.MARGIN
    titles = [scenarios.title_of(task) + ", NoNav" for task in household_names()]
    titles += [labels.label_of(name).title.title() for name in skill_names()]
    assert max(width(title, 17) for title in titles) <= panel


class Idle:
    """Stands still until its time-out."""

    source = "idle"

    def __init__(self, name: str, timeout: int) -> None:
        self.name, self.timeout = name, timeout

    def reset(self, world, argument) -> None:
        pass

    def act(self, world):
        return np.zeros(10)

    def done(self, world) -> bool:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("task", ["tidy_house", "set_table"])
def test_video_of_the_real_world(tmp_path, monkeypatch, task):
    def open_stage(task, split, *_):
        world = pytest.importorskip("rearrange.env").RearrangeEnv(task, split=split)
        names = ("navigate", "pick", "open_cab", "reset_arm")
        return scenarios.Stage(world, {name: Idle(name, 12) for name in names})

    monkeypatch.setattr(scenarios, "open_stage", open_stage)
    arguments = [task, "--episodes", "1", "--workers", "1", "--video", "--no-nav"]
    assert command.main([*arguments, "--output", str(tmp_path)]) == 0
    frames = imageio.v3.imread(tmp_path / f"{task}_000.mp4")
    assert frames.shape == (4 + 45, 540, 960, 3)  # every third of 12 steps, then the result
    assert frames[0, :, :680].std() > 20  # a picture, not a plain colour
    assert [p.name for p in tmp_path.iterdir()] == [f"{task}_000.mp4"]


@pytest.mark.slow
def test_worker_processes_find_the_same(tmp_path):
    pytest.importorskip("skills.library")
    found = []
    for workers in ("1", "2"):
        path = tmp_path / f"{workers}.json"
        arguments = ["tidy_house", "--episodes", "2", "--skills", "oracle", "--workers", workers]
        assert command.main([*arguments, "--json", str(path)]) == 0
        records = json.loads(path.read_text())["records"]
        kept = {f.name for f in dataclasses.fields(command.EpisodeRecord)}
        for record in records:
            for name in ("wall_seconds", "plan_seconds", "problem_seconds"):
                assert name in kept
                record.pop(name)
        found.append(records)
    assert found[0] == found[1]
