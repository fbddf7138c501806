import numpy as np

from rearrange.robot import find_robot
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim import NOTHING, SimState
from rearrange.sim.base import world_state

FETCH = find_robot()


def test_every_field_is_a_view_of_the_worlds_records():
    state, kind = SimState(3, FETCH), world_state(FETCH, APARTMENT)
    assert kind.names is not None
    assert set(kind.names) <= set(vars(state))
    for name in kind.names:
        array = getattr(state, name)
        assert array.shape == (3, *kind[name].shape)
        array[1] = 1
        np.testing.assert_array_equal(state.worlds[name][1], np.ones_like(array[1]))
        assert not np.array_equal(state.worlds[name][0], state.worlds[name][1])


def test_nothing_is_held_or_touched_at_first():
    state = SimState(2, FETCH)
    for name in ("held_object", "held_handle", "touched_object", "touched_handle"):
        assert (getattr(state, name) == NOTHING).all()
