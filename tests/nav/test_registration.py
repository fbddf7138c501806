import dataclasses
import math
from typing import Any

import gymnasium
import numpy as np
import pytest

import nav
from nav.gym_ids import IDS
from rearrange.errors import UserError
from tests.helpers.scanned import hall, write


def test_every_task_has_an_id_and_can_be_made():
    assert set(IDS) == set(nav.all_tasks())
    for task, name in IDS.items():
        env = gymnasium.make(
            name, split="val", camera_size=40, max_steps=1, disable_env_checker=True
        )
        env.reset(seed=0)
        *_, truncated, info = env.step(1)
        assert truncated, task
        assert info["is_success"] is False
        env.close()


def test_agents_side_by_side_are_made_by_it_too():
    envs = gymnasium.make_vec(
        IDS["pointnav"], 2, split="val", camera_size=40, render_mode="rgb_array"
    )
    observations, _ = envs.reset(seed=0)
    assert observations["depth"].shape == (2, 40, 40, 1)
    envs.step(np.ones(2, np.int64))
    one, other = envs.render()
    assert one.shape == other.shape == (360, 720, 3)
    assert (one != other).any()  # each has its own place
    envs.close()


def test_a_scanned_scene_is_a_keyword(tmp_path):
    scan = write(tmp_path / "room.glb", hall())
    elsewhere = {"sim": "scan", "scenes": scan, "camera_size": 8}
    env = gymnasium.make(IDS["pointnav"], disable_env_checker=True, **elsewhere)
    env.reset(seed=0)
    assert env.unwrapped.episode.building == scan
    env.close()
    envs = gymnasium.make_vec(IDS["pointnav"], 2, **elsewhere)
    assert envs.reset(seed=0)[0]["depth"].shape == (2, 8, 8, 1)
    envs.close()


@pytest.mark.slow
def test_scenes_that_are_shared_are_a_keyword(tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.glb", hall())
    scans = {"sim": "scan", "scenes": str(tmp_path), "camera_size": 8}
    envs: Any = gymnasium.make_vec(IDS["explore"], 3, **scans, **{"sharing.scenes": 2})
    envs.reset(seed=0)
    assert len({envs.worlds.scene(i).name for i in range(3)}) == 2
    envs.close()
    with pytest.raises(
        UserError, match=r"^sharing\.scenes must be from 1 to 3 for 3 agents and 3 "
    ):
        gymnasium.make_vec(IDS["explore"], 3, **scans, sharing={"scenes": 4})
    with pytest.raises(UserError, match=r"^sharing\.steps must be from 1 to "):
        gymnasium.make_vec(IDS["explore"], 3, **scans, sharing={"scenes": 2, "steps": 0})
    with pytest.raises(UserError, match=r"^unknown setting 'sharing' of rearrange/Explore-v0"):
        gymnasium.make(IDS["explore"], **scans, sharing={"scenes": 2})


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"sim": "grit"}, "unknown simulator 'grit': choose one of grid, habitat, scan"),
        ({"dataset": "a.json.gz"}, "dataset=a.json.gz is played in scenes of files: say sim="),
        ({"sim": "scan", "scenes": "none"}, "scenes=none: expected a .glb file"),
        ({"sim": 3}, "sim must be text, found 3"),
    ],
)
def test_places_that_there_are_not_are_refused_in_one_line(keywords, told):
    with pytest.raises(UserError, match=f"^{told}"):
        gymnasium.make(IDS["pointnav"], **keywords)


def test_unknown_settings_are_refused_in_one_line():
    with pytest.raises(UserError, match=r"unknown setting 'camera' of rearrange/PointNav-v0.*"):
        gymnasium.make(IDS["pointnav"], camera=3)
    with pytest.raises(
        UserError, match="render_mode must be rgb_array, human or None, found 'ansi'"
    ):
        gymnasium.make(IDS["pointnav"], render_mode="ansi")


@pytest.mark.parametrize("task", nav.all_tasks())
def test_every_number_of_a_task_is_checked(task):
    kind = nav.all_tasks()[task].config_type
    for each in dataclasses.fields(kind):
        for bad in (math.nan, math.inf, -1):
            with pytest.raises(UserError, match=rf"^task\.{each.name} must be from"):
                kind(**{each.name: bad}).check()
