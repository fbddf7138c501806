"""Starts where a blind drive got stuck: the robot is blocked there, and a recipe can be trained from them."""

import numpy as np
import pytest

from planner import blind_drives
from planner.blind_drives import BlindDriver, environments_of, parse
from rearrange.episodes import EpisodeSet
from rearrange.errors import UserError

FEW = ("navigate", "--episodes", "2", "--seed", "4")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = parse([*FEW, "--output", str(tmp_path_factory.mktemp("starts"))])
    driver = BlindDriver(environments_of(options))
    yield driver
    driver.close()


def test_a_robot_that_is_put_there_does_not_get_far(driver):
    number, episode = driver.play(3, 11)
    assert (number, episode.episode_id) == (3, "blind_drives/3")
    world = driver._world
    world.reset(options={"episode": episode})
    places = world.robot.actions
    action = np.zeros(len(world.task.action.scale(places)))
    action[places.forward] = world.task.action.scale(places)[places.forward]
    began, steps = world.state.base_pose[0, :2].copy(), 10
    for _ in range(steps):
        world.step_physical(action)
    moved = float(np.linalg.norm(world.state.base_pose[0, :2] - began))
    assert moved < 0.5 * steps * action[places.forward]


def test_the_seed_decides_whatever_was_driven_before(driver):
    first = driver.play(0, 5)
    driver.play(1, 6)
    assert driver.play(0, 5) == first


def test_a_robot_that_nothing_holds_up_is_told_of(driver, monkeypatch):
    monkeypatch.setattr(blind_drives, "LONGEST", 1)
    monkeypatch.setattr(blind_drives, "ATTEMPTS", 4)
    with pytest.raises(UserError, match="never got stuck in 4 drives"):
        driver.play(0, 5)


def test_a_file_is_written_that_a_training_takes(tmp_path, capsys):
    blind_drives.main([*FEW, "--workers", "1", "--output", str(tmp_path)])
    path = tmp_path / "navigate" / "blind_drives_train.json.gz"
    assert str(path) in capsys.readouterr().out.replace("\n", "")
    found = EpisodeSet.load(path, "navigate", "train")
    assert len(found) == 2
    assert "planner.blind_drives navigate --episodes 2 --seed 4" in found.generator


def test_what_is_no_skill_is_refused_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        parse(["tidy_house", "--output", str(tmp_path)])
    assert "argument skill: invalid choice: 'tidy_house'" in capsys.readouterr().err
