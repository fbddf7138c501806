import numpy as np

from rearrange.sim import NOTHING, SimState
from rearrange.sim.base import WORLD_STATE


def test_every_field_is_a_view_of_the_worlds_records():
    state = SimState(3)
    assert set(WORLD_STATE.names) <= set(vars(state))
    for name in WORLD_STATE.names:
        array = getattr(state, name)
        assert array.shape == (3, *WORLD_STATE[name].shape)
        array[1] = 1
        np.testing.assert_array_equal(state.worlds[name][1], np.ones_like(array[1]))
        assert not np.array_equal(state.worlds[name][0], state.worlds[name][1])


def test_nothing_is_held_or_touched_at_first():
    state = SimState(2)
    for name in ("held_object", "held_handle", "touched_object", "touched_handle"):
        assert (getattr(state, name) == NOTHING).all()
