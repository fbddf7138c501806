"""Homes with little in them: one open receptacle, and scenes in which there is nothing to pick."""

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.scenes.registry import check_homes, spec_of_homes
from rearrange.tasks import Navigate, Pick
from rearrange.tasks.sampling import source_of
from tests.helpers.file_home import WORDS, known_home

OTHERS = ("  bench", "  cabinet_top")


def test_navigate_needs_no_second_receptacle(tmp_path):
    words = "\n".join(line for line in WORDS.splitlines() if not line.startswith(OTHERS))
    with known_home(tmp_path, "lone", words=words) as path:
        check_homes(path)
        spec, rng = spec_of_homes(path), np.random.default_rng(0)
        assert spec.open_receptacles == ("table",)
        task = Navigate(scene=spec)
        assert task.config.holding_share > 0.0
        episodes = [task.sample_episode(source_of("train", path), rng) for _ in range(12)]
    assert all(episode.held_slot is None for episode in episodes)
    assert "table" in {episode.targets[0].start_receptacle for episode in episodes}


def test_fingers_begin_with_nothing_between_them():
    task, rng = Navigate(robot=find_robot("fetch_fingers")), np.random.default_rng(0)
    task.config.holding_share = 1.0
    assert task.sample_episode("val", rng).held_slot is None


def test_a_scene_with_nothing_to_pick_is_not_the_last(monkeypatch):
    found, asked = Pick._sample_scene, []

    def sample(task, *given):
        asked.append(given)
        return found(task, *given) if len(asked) == 9 else (None, [])

    monkeypatch.setattr(Pick, "_sample_scene", sample)
    assert Pick().sample_episode("val", np.random.default_rng(0)).targets
    assert len(asked) == 9


def test_homes_with_nothing_to_pick_are_told(monkeypatch):
    monkeypatch.setattr(Pick, "_sample_scene", lambda task, *_: (None, []))
    with pytest.raises(UserError, match="pick: no room for anything that the hand can hold in 200"):
        Pick().sample_episode("val", np.random.default_rng(0))
