from tests.helpers.played_rollouts import make_player
from ver.collect.in_flight import newest_steps, put_newest_steps


def test_nothing_stale_survives_the_move_to_another_buffer():
    player = make_player(2, 4)
    player.collect()
    old, new = player.buffer, make_player(2, 4).buffer
    put_newest_steps(new, newest_steps(old))
    player.buffer = new
    new.begin()
    assert new.remaining == 2 * 4
    assert not new.end_early()  # never written slots are nothing to learn from
    claimed = new.claim(3)
    assert new.sequences[claimed].tolist() == [10, 11, 12]
    assert (new.rollouts[new.newest] == old.rollout[0] + 1).all()
