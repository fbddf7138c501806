"""`python -m rearrange.view`: a picture for any task, one line for what goes wrong."""

import sys
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from rearrange.env import RearrangeEnv
from rearrange.episodes import EpisodeSet, default_path
from rearrange.errors import UserError
from rearrange.scenes.apartment import DEFAULT_HOMES, GENERATED, layouts_of
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import TASKS
from rearrange.view import command as view
from rearrange.view import episode_sheet
from rearrange.view.episode_sheet import Subject, facts


@pytest.fixture
def small(monkeypatch):
    """Pictures of a tenth of the size: the sheet is laid out, but quick."""
    monkeypatch.setattr(episode_sheet, "SCENE", episode_sheet.SKETCH)


def first(task):
    return EpisodeSet.load(default_path(task, "val"), task, "val").episode(0)


def test_the_sheet_of_an_episode_with_moments(small, tmp_path, capsys):
    path = tmp_path / "folder" / "sheet.png"
    arguments = ["close_fridge", "--steps", "3", "--output", str(path)]
    assert view.main(arguments) == 0
    assert capsys.readouterr().out == f"{path}\n"
    plain = tmp_path / "plain.png"
    assert view.main(["close_fridge", "--output", str(plain)]) == 0
    image, start = Image.open(path), Image.open(plain)
    assert image.height > start.height + episode_sheet.SMALL.height
    top = np.asarray(image.convert("RGB"), int)[: start.height - 40]
    np.testing.assert_allclose(
        top.mean(), np.asarray(start.convert("RGB"), int)[: len(top)].mean(), atol=2
    )


def test_sampled_episodes_follow_the_seed():
    worlds = [
        view.load_world(view.parse(["pick", "--dataset", "sampled", "--seed", seed]))
        for seed in ("4", "4", "5")
    ]
    assert worlds[0].episode == worlds[1].episode
    assert worlds[0].episode != worlds[2].episode


def test_episodes_and_plans_are_of_the_homes_that_are_asked_for():
    asked = ["pick", "--dataset", "sampled", "--homes", GENERATED]
    assert view.load_world(view.parse(asked)).episode.layout in layouts_of("val", GENERATED)
    assert view.parse(["pick"]).homes == DEFAULT_HOMES
    assert view.parse(["homes"]).homes == GENERATED


@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_says_what_is_asked(task):
    episode = first(task)
    subject = Subject.of(task, episode)
    text = "\n".join(facts(subject))
    assert all(f"slot {target.slot}" in text for target in episode.targets)
    assert "arm joints at the start" in text
    assert (subject.handle is None) == (episode.target_joint is None)
    assert (subject.navigation is not None) == (
        task in ("navigate", *episode_sheet.household_names())
    )
    moved = [t.goal_receptacle for k, t in enumerate(episode.targets) if k in subject.goals]
    assert all(f"to {name}" in text for name in moved)
    carries = episode.held_slot is not None  # Navigate to where something belongs, and Place
    assert bool(moved) == (carries or task in episode_sheet.household_names())


def test_zero_actions_keep_the_base_where_it_is():
    world = RearrangeEnv("navigate", split="val", simulator=SimulatorConfig(camera_size=8))
    world.reset(options={"episode": first("navigate")})
    before = world.state.base_pose.copy()
    assert episode_sheet.run_on(world, 3, "zero", 0) is False
    assert world.elapsed_steps == 3
    np.testing.assert_array_equal(world.state.base_pose, before)
    episode_sheet.run_on(world, 6, "random", 0)
    assert not np.array_equal(world.state.base_pose, before)


def test_random_actions_never_call_stop():
    world = view.load_world(view.parse(["tidy_house"]))
    assert episode_sheet.run_on(world, 8, "random", 0) is False
    assert world.elapsed_steps == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["juggle"], "unknown task 'juggle'"),
        (["pick", "--split", "all"], "unknown split 'all'"),
        (["pick", "--episode", "-1"], "--episode must not be negative"),
        (["pick", "--dataset", "nowhere.json.gz"], "nowhere.json.gz"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message):
    with pytest.raises(UserError, match=message) as error:
        view.main(arguments)
    assert "\n" not in str(error.value)


def test_the_viewer_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    world = view.load_world(view.parse(["pick"]))
    with pytest.raises(UserError, match="needs a display"):
        view.open_viewer(world, "zero", 0)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delattr("mujoco.viewer", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco.viewer", None)
    with pytest.raises(UserError, match="pip install glfw"):
        view.open_viewer(world, "zero", 0)


def test_a_sheet_of_homes_says_how_many_draws_were_rejected(tmp_path, capsys):
    path = tmp_path / "homes.png"
    view.main(["homes", "--count", "2", "--output", str(path)])
    plans, homes, written = capsys.readouterr().out.splitlines()
    assert plans.startswith("plans: ")
    assert homes.startswith("homes: ")
    assert all("draws rejected" in line for line in (plans, homes))
    assert written == str(path)
    assert Image.open(path).size[0] > 900
    told = view.told_rejections("plans", 6, Counter({"no wall": 1, "no way": 3}))
    assert told == "plans: 4 of 10 draws rejected (40%): no way 3, no wall 1"
