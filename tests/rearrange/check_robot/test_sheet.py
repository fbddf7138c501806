"""The map of reach on a robot's sheet."""

import numpy as np

from rearrange.check_robot.checks import Checks
from rearrange.check_robot.sheet import BOTH, DOWNWARDS, NONE, SIDE, reach_map
from rearrange.robot.files import read_robot
from tests.helpers.file_robot import write_robot


def test_the_resting_tip_is_in_reach_and_the_far_corner_is_not(tmp_path):
    picture = reach_map(Checks(read_robot(write_robot(tmp_path).resolve())))
    column, row = (
        int(3.5 / 12 * SIDE),
        int((1 - 8.5 / 16) * SIDE),
    )  # the cell of 0.5 m ahead, 0.85 m high
    assert tuple(picture[row, column]) in (BOTH, DOWNWARDS)
    assert np.array_equal(picture[-10, -10], NONE)
