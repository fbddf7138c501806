from tests.helpers.played_rollouts import make_player
from ver.collect import in_flight
from ver.collect.in_flight import EpisodeActions, newest_steps, put_newest_steps


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


def test_of_an_episode_that_is_too_long_no_action_is_kept(monkeypatch):
    monkeypatch.setattr(in_flight, "LONGEST", 5)
    player = make_player(2, 4)
    actions = EpisodeActions(2)
    longest = 0
    for _ in range(30):
        player.collect()
        actions.record(player.buffer)
        again = EpisodeActions(2)
        again.restore(actions.capture())
        for environment in range(2):
            firsts = [step.first for step in player.steps if step.environment == environment]
            count = firsts[::-1].index(True)  # steps taken since the episode's start
            found = actions[environment]
            longest = max(longest, count)
            if count > 5 + 4:  # it is noticed with the rollout
                assert found is None
            if found is None:
                assert count > 5
                assert again[environment] is None
            else:
                assert (again[environment] == found).all()
                assert len(found) == count
    assert longest > 10
