import numpy as np
import pytest

from rearrange.tasks.disturbance import moved, pushed_shut


def test_only_what_falls_shut_counts():
    assert pushed_shut(np.array([1.5, 0.2, 0.0]), np.array([1.2, 0.4, 0.0])) == pytest.approx(0.3)


def test_what_is_moved_counts_up_to_a_limit_and_one_does_not():
    before = np.zeros((4, 3))
    now = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, -0.9], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]])
    assert moved(before, now, 2) == pytest.approx(0.1 + 0.3)
    assert moved(before, now, 3) == pytest.approx(0.1 + 0.3 + 0.2)
