"""Diaries of episodes: what is written, and the means that are made of it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.diary import (
    Diary,
    WithDiary,
    curve,
    read_diary,
)
from tests.helpers.short_episodes import Counting


def test_a_line_is_written_for_the_begin_and_for_each_episode(tmp_path):
    env = Diary(Counting(), str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    for _ in range(2):
        env.reset(seed=1)
        env.step(0)
        env.step(0)
    env.reset()  # this one does not end
    env.step(0)
    env.reset()
    env.step(0)
    diary = read_diary(tmp_path)
    assert diary[:, 1].tolist() == [0, 2, 2, 1]
    assert diary[:, 2].tolist() == [0, 1 + 2, 3 + 4, 6]
    assert (np.diff(diary[:, 0]) >= 0).all()


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    (tmp_path / "one.txt").write_text("5.0 0 0.0\n7.5 10 2.5\n9.0 1")
    (tmp_path / "two.txt").write_text("6.0 4 -1.5\n")
    assert read_diary(tmp_path).tolist() == [[5, 0, 0], [6, 4, -1.5], [7.5, 10, 2.5]]
    assert read_diary(tmp_path / "nowhere").shape == (0, 3)


def test_an_environment_with_a_diary_is_made_in_another_process_too(tmp_path):
    make = pickle.loads(pickle.dumps(WithDiary("CartPole-v1", str(tmp_path))))
    env = make()
    env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, _ = env.step(0)
    _, steps, total = read_diary(tmp_path)[-1]
    assert steps == total >= 8  # one for each step


def test_means_by_hand():
    diary = np.array([[0, 0, 0], [1, 5, 2], [2, 0, 0], [3, 7, 4], [4, 1, 9]], float)
    assert curve(diary, 2).tolist() == [[3, 12, 3], [4, 13, 6.5]]
    assert curve(diary, 4).shape == (0, 3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(1, 30))
def test_means_are_those_of_the_last_episodes(returns, window):
    diary = np.array([[i, 1, value] for i, value in enumerate(returns)], float)
    wanted = [np.mean(returns[i - window : i]) for i in range(window, len(returns) + 1)]
    assert curve(diary, window)[:, 2].tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-6)
