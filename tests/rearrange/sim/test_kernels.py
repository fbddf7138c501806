import numpy as np
import pytest

from rearrange.sim.kernels import SLOWEST, yield_to


@pytest.mark.parametrize(
    ("push_back", "motion", "expected"),
    [
        ((-99.0, 0.0, 0.0), (0.02, 0.0, 0.0), (False, False)),
        ((-101.0, 0.0, 0.0), (0.02, 0.0, 0.0), (True, False)),
        ((-101.0, 0.0, 0.0), (-0.02, 0.0, 0.0), (False, False)),  # away from what pushes
        ((-101.0, 0.0, 0.0), (0.0, 0.02, 0.0), (False, False)),  # along it
        ((-120.0, 0.0, 0.0), (0.01, 0.01, 0.0), (False, False)),  # of which 85 N against the motion
        ((0.0, 0.0, -11.0), (0.0, 0.0, 0.02), (False, True)),
        ((0.0, 0.0, -9.0), (0.0, 0.0, 0.02), (False, False)),
        ((0.0, 0.0, 11.0), (0.0, 0.0, 0.02), (False, False)),
        ((-500.0, 0.0, -500.0), (0.0, 0.0, 0.0), (False, False)),
        ((-500.0, 0.0, -500.0), (0.01, 0.0, 0.01), (True, True)),
    ],
)
def test_wheels_yield_to_what_is_more_than_they_can_push(push_back, motion, expected):
    pace = np.ones(2)
    moved = np.array((7.0, 8.0, 9.0, *motion))
    assert yield_to(np.array(push_back), moved, pace, 100.0, 10.0) == expected
    np.testing.assert_array_equal(pace, np.where(expected, 0.5, 1.0))
    for _ in range(9):
        yield_to(np.array(push_back), moved, pace, 100.0, 10.0)
    np.testing.assert_array_equal(pace, np.where(expected, SLOWEST, 1.0))
