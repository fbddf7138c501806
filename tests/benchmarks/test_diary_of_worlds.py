"""Diaries of worlds that are stepped together."""

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from benchmarks.diary import read_diary
from benchmarks.diary_of_worlds import DiaryOfWorlds, WorldsWithDiary
from tests.helpers.mjlab_stand_in import install_stand_in
from tests.helpers.short_episodes import Counting


def test_worlds_that_are_stepped_together_have_one_file_and_the_same_lines(tmp_path):
    worlds = SyncVectorEnv([Counting, Counting], autoreset_mode=AutoresetMode.SAME_STEP)
    worlds.envs[1].steps = 1  # the second one ends a step earlier
    worlds = DiaryOfWorlds(worlds, str(tmp_path))
    worlds.reset(seed=[1, 2])
    for _ in range(4):
        worlds.step(np.zeros(2, np.int64))
    diary = read_diary(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert diary[:, 1].tolist() == [0, 1, 2, 2, 2]
    assert diary[:, 2].tolist() == [0, 2, 1 + 2, 3 + 4, 3 + 4]
    worlds.reset()  # those under way are left out, and none begins for the first time
    worlds.step(np.zeros(2, np.int64))
    assert read_diary(tmp_path)[:, 1].tolist() == [0, 1, 2, 2, 2, 1]


def test_worlds_of_a_library_are_made_with_a_diary(tmp_path, monkeypatch):
    install_stand_in(monkeypatch)
    worlds = WorldsWithDiary("mjlab:Counters", str(tmp_path)).make_vector(2, 0)
    worlds.reset(seed=0)
    for _ in range(3):
        worlds.step(torch.zeros(2, 2))
    assert read_diary(tmp_path)[:, 1].tolist() == [0, 2, 3]
