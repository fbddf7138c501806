"""A training on the page: its curves, and a world of its own."""

import json
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

from live.page import Page
from live.training import Curves, TrainingPage
from rearrange.errors import UserError
from rearrange.robot import registry as robots
from rearrange.robot import unregister_robot
from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home
from rearrange.scenes.home_files.home import FIRST_NUMBER, NAMES
from skills.command import USER_ERRORS
from skills.peek import FILE, Peek
from skills.sight import FLOOR, Sight
from tests.helpers.file_home import write_home
from tests.helpers.file_robot import write_robot


def row(steps, success):
    return json.dumps({"steps": steps, "episode/success": success, "episode/return": 2 * success})


def test_curves_read_what_is_new_and_leave_out_what_is_half_written(tmp_path):
    curves = Curves(tmp_path)
    assert not curves.read()
    path = tmp_path / "metrics.jsonl"
    path.write_text(row(1000, 0.5) + "\n" + row(2000, 0.75)[:20])
    assert curves.read()
    assert curves.steps == [1000]
    path.write_text(row(1000, 0.5) + "\n" + row(2000, 0.75) + "\n")
    assert curves.read()
    assert not curves.read()
    steps, success = curves.points("episode/success")
    np.testing.assert_allclose(steps, [1.0, 2.0])
    np.testing.assert_allclose(success, [0.5, 0.75])
    assert curves.words().startswith("2,000 steps")
    path.write_text(row(1000, 0.5) + "\n" + row(2000, 0.75) + '\n{"steps": 3000}\n')
    assert curves.read()
    assert len(curves.points("episode/return")[0]) == 2  # no episode has ended since
    path.write_text(row(500, 0.25) + "\n")  # a run that begins anew
    assert curves.read()
    assert curves.steps == [500]
    stage = tmp_path / "second" / "metrics.jsonl"
    stage.parent.mkdir()
    stage.write_text(row(10, 1.0) + "\n")
    assert curves.read()
    assert curves.steps == [10]


def test_a_run_that_was_not_started_for_it_cannot_be_watched(tmp_path):
    with pytest.raises(UserError, match="live=true"):
        Peek(tmp_path / FILE)


def test_the_page_asks_for_a_world_only_while_somebody_looks(page, tmp_path, monkeypatch):
    Peek.create(tmp_path / FILE, 8)
    worker, training = Peek(tmp_path / FILE), TrainingPage(page, tmp_path)
    assert not page.controls.step.visible
    training.update()
    assert worker.asked() == -1
    monkeypatch.setattr(Page, "is_watched", True)
    training.environment.value = 3
    training.update()
    assert worker.asked() == 3
    pose = np.array([(0, 0, 0, 1, 0, 0, 0), (1, 2, 0, 1, 0, 0, 0)], np.float32)
    worker.put(
        Sight(FLOOR, "pointnav", "layout5000_variation00", "1", 5, 500, "", (1.0, 2.0, 0.0),
              poses=pose)
    )  # fmt: skip
    training.update()
    np.testing.assert_allclose(page._moving[1].position, [1.0, 2.0, 0.0])
    assert "environment 3" in page._words.content


def test_a_home_and_a_robot_of_files_are_known_by_the_run(page, tmp_path, monkeypatch):
    home, robot = write_home(tmp_path, "hut").resolve(), write_robot(tmp_path, "egret").resolve()
    Peek.create(tmp_path / FILE, 1)
    worker, training = Peek(tmp_path / FILE), TrainingPage(page, tmp_path, str(home))
    about = {"metadata": {"homes": "hut.yaml", "robot": str(robot)}}
    (tmp_path / "run.json").write_text(json.dumps(about))
    monkeypatch.setattr(Page, "is_watched", True)
    layout = FIRST_NUMBER + 3 * (zlib.crc32(b"hut") % NAMES)
    poses = np.zeros((200, 7), np.float32)
    worker.put(
        Sight(
            "rearrange",
            "pick",
            f"{layout}/0",
            "1",
            5,
            500,
            "",
            (1.0, 2.0, 0.0),
            "egret",
            poses=poses,
        )
    )
    try:
        training.update()
        assert "/home/part_0" in page._parts
    finally:
        registry._register_file.cache_clear()
        registry.unregister_homes(read_home(home).spec)
        unregister_robot("egret")
        robots._register_file.cache_clear()


@pytest.mark.parametrize("text", ["{", "[]", '{"metadata": 1}'])
def test_a_run_whose_description_is_broken_is_one_line(page, tmp_path, monkeypatch, text):
    Peek.create(tmp_path / FILE, 1)
    worker, training = Peek(tmp_path / FILE), TrainingPage(page, tmp_path)
    (tmp_path / "run.json").write_text(text)
    monkeypatch.setattr(Page, "is_watched", True)
    worker.put(Sight(FLOOR, "pick", "1/0", "1", 5, 500, "", (1.0, 2.0, 0.0)))
    with pytest.raises(USER_ERRORS, match=r"run\.json is broken: the training's command writes it"):
        training.update()


@pytest.mark.slow
def test_a_training_shows_a_world_and_ends_its_page(tmp_path):
    run = tmp_path / "run"
    command = [
        *(sys.executable, "-m", "skills.train", "pointnav", "live=true", f"run={run}"),
        *("trainer.system=ver", "trainer.total_steps=64", "trainer.collect.num_environments=2"),
        *("trainer.collect.rollout_length=16", "trainer.collect.environments_per_worker=1"),
        *("trainer.network.hidden_size=32", "agent.camera_size=36"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as training:
        while training.poll() is None and not (run / FILE).exists():
            time.sleep(0.05)
        peek, seen = Peek(run / FILE), None
        while training.poll() is None and seen is None:
            peek.ask(1)
            seen = peek.take()
            time.sleep(0.01)
        seen = seen or peek.take()
        told = training.communicate()[0].decode()
    assert training.returncode == 0, told
    assert seen is not None
    assert seen.task == "pointnav"
    assert not (run / FILE).exists()
    assert not peek.is_written()
