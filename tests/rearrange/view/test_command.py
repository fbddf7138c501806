"""`python -m rearrange.view`: a picture for any task, one line for what goes wrong."""

import sys
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from rearrange.errors import UserError
from rearrange.render.sheet import Sheet
from rearrange.scenes.registry import DEFAULT_HOMES, GENERATED, layouts_of
from rearrange.view import command as view
from rearrange.view import episode_sheet


@pytest.fixture
def small(monkeypatch):
    """Pictures of a tenth of the size: the sheet is laid out, but quick."""
    monkeypatch.setattr(episode_sheet, "SCENE", episode_sheet.SKETCH)


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


def test_an_episode_that_the_file_lacks_is_refused():
    with pytest.raises(UserError, match=r"--episode 99999: .*val.*holds 200 episodes"):
        view.load_world(view.parse(["pick", "--episode", "99999"]))
    view.load_world(view.parse(["pick", "--episode", "99999", "--dataset", "sampled"]))


def test_pictures_are_png_and_keep_their_colours(tmp_path):
    with pytest.raises(UserError, match=r"must end in \.png"):
        view.parse(["pick", "--output", "a.jpg"])
    picture = np.random.default_rng(0).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    sheet = Sheet(40, 40)
    sheet.put(picture, 0, 0)
    sheet.save(tmp_path / "a.png")
    found = np.asarray(Image.open(tmp_path / "a.png"))
    assert np.array_equal(found[:39, :39], sheet.pixels[:39, :39])


def test_episodes_and_plans_are_of_the_homes_that_are_asked_for():
    asked = ["pick", "--dataset", "sampled", "--homes", GENERATED]
    assert view.load_world(view.parse(asked)).episode.layout in layouts_of("val", GENERATED)
    assert view.parse(["pick"]).homes == DEFAULT_HOMES
    assert view.parse(["homes"]).homes == GENERATED


def test_random_actions_never_call_stop():
    world = view.load_world(view.parse(["tidy_house"]))
    assert episode_sheet.run_on(world, 8, "random", 0) is False
    assert world.elapsed_steps == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["juggle"], "unknown task 'juggle'"),
        (["pick", "--split", "all"], "unknown split 'all'"),
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
