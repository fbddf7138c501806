import numpy as np
import pytest

from rearrange.tasks.disturbance import pushed_shut


def test_only_what_falls_shut_counts():
    assert pushed_shut(np.array([1.5, 0.2, 0.0]), np.array([1.2, 0.4, 0.0])) == pytest.approx(0.3)
