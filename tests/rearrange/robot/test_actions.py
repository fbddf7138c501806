"""Actions by their parts."""

import numpy as np
import pytest

from rearrange.robot.actions import (
    HOLD,
    LET_GO,
    ActionLayout,
    grip_of,
    stop_of,
    turn_of,
)
from rearrange.robot.fetch import FETCH
from rearrange.sim.base import SimState

SHORT = ActionLayout(("lift", "bend"), np.array([0.3, 1.0]))


@pytest.mark.parametrize("layout", [FETCH.actions, SHORT])
def test_the_parts_cover_the_action_once(layout):
    numbers = list(range(layout.full_size))
    assert [*numbers[layout.arm], layout.grip, *numbers[layout.base], layout.stop] == numbers
    assert layout.physical_size == layout.stop
    assert len(layout.names) == layout.full_size


def test_neighbouring_parts_are_one_slice():
    assert SHORT.names[SHORT.part(("arm", "grip"))] == ("lift", "bend", "grip")
    assert SHORT.names[SHORT.part(("base", "stop"))] == ("forward", "turn", "stop")
    for wrong in ((), ("arm", "base"), ("base", "grip"), ("arm", "leg")):
        with pytest.raises(ValueError, match="neighbours"):
            SHORT.part(wrong)


def test_each_part_lands_where_its_name_stands():
    layout, arm = FETCH.actions, np.arange(1.0, 8.0)
    action = dict(zip(layout.names, layout.physical(arm, HOLD, 0.3, -0.2), strict=False))
    assert [action[name] for name in layout.names[layout.arm]] == arm.tolist()
    assert (action["grip"], action["forward"], action["turn"]) == (1.0, 0.3, -0.2)
    np.testing.assert_array_equal(layout.physical(), [0.0] * 7 + [LET_GO, 0.0, 0.0])


def test_compiled_tasks_find_the_same_places():
    world, layout = SimState(1, FETCH).worlds[0], FETCH.actions
    assert (grip_of(world), turn_of(world), stop_of(world)) == (
        layout.grip,
        layout.turn,
        layout.stop,
    )
