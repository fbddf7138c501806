import numpy as np

from tests.helpers.filled_buffer import ACTIONS, OBSERVATIONS, fill
from tests.helpers.played_rollouts import make_player
from ver.rollout import RolloutBuffer


def test_carried_slots_stay_and_the_oldest_policy_is_overwritten_first():
    buffer = RolloutBuffer(OBSERVATIONS, ACTIONS, 2, 2, 1)
    clock: dict[int, int] = {}
    buffer.begin()
    fill(buffer, [0, 1, 1, 1, 1, 0], set(), clock)
    buffer.versions[:] = [6, 5, 6, 6, 6, 6]
    assert list(buffer.newest) == [5, 4]
    buffer.begin()
    assert buffer.remaining == 4
    # Slot 1 is of an older policy than slots 0, 2 and 3; all but the newest are free.
    assert list(buffer.claim(3)) == [1, 0, 2]
    assert list(buffer.claim(3)) == [3]
    assert list(buffer.claim(3)) == []
    np.testing.assert_allclose(buffer.states[buffer.newest, 0], [2, 1004])


def test_slots_are_handed_out_as_they_lie_in_memory_where_no_rollout_ends_early():
    buffer = RolloutBuffer(OBSERVATIONS, ACTIONS, 2, 20, 1)
    rng = np.random.default_rng(0)
    clock: dict[int, int] = {}
    for version in range(5):
        buffer.begin(may_end_early=False)
        order = buffer.free[: buffer.limit[0]].copy()
        assert (np.diff(order) > 0).all()
        assert not set(order) & set(buffer.newest.tolist())
        assert len(order) == (42 if version == 0 else 40)
        owners = [0, 1, *rng.integers(0, 2, len(order) - 2).tolist()]
        fill(buffer, owners, set(), clock)
        buffer.versions[order] = version


def test_the_first_rollout_cannot_end_early():
    player = make_player(2, 4)
    player.buffer.begin()
    assert not player.buffer.end_early()
    assert player.buffer.remaining == 10
