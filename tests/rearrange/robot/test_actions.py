"""Actions by their parts."""

import numpy as np

from rearrange.robot.actions import (
    ACTION_NAMES,
    ARM,
    BASE,
    FULL_ACTION_SIZE,
    GRIP,
    HOLD,
    PHYSICAL_ACTION_SIZE,
    STOP,
    physical_action,
)


def test_the_parts_cover_the_action_once():
    numbers = list(range(FULL_ACTION_SIZE))
    assert [*numbers[ARM], GRIP, *numbers[BASE], STOP] == numbers
    assert PHYSICAL_ACTION_SIZE == STOP


def test_each_part_lands_where_its_name_stands():
    arm = np.arange(1.0, 8.0)
    action = dict(zip(ACTION_NAMES, physical_action(arm, HOLD, 0.3, -0.2), strict=False))
    assert [action[name] for name in ACTION_NAMES[ARM]] == arm.tolist()
    assert (action["grip"], action["forward"], action["turn"]) == (1.0, 0.3, -0.2)
    np.testing.assert_array_equal(physical_action(), [0.0] * 7 + [-1.0, 0.0, 0.0])
