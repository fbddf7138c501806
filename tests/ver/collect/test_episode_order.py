import numpy as np

from ver.collect.episode_order import (
    TRY,
    EpisodeOrder,
    episode_seed,
    is_first_try,
    newest_told,
)


def test_episode_seeds_differ():
    seeds = {episode_seed(1, i, k) for i in range(20) for k in range(20)}
    assert len(seeds) == 400
    assert episode_seed(1, 2, 3) == episode_seed(1, 2, 3) != episode_seed(2, 2, 3)


def test_each_try_begins_as_the_first_did():
    order = EpisodeOrder(3)
    first = order.beginning(5, 7)
    assert first == (episode_seed(3, 5, 7), {"episode_number": 7})
    assert order.beginning(5, 7 + 2 * TRY) == first
    assert is_first_try(7)
    assert not is_first_try(7 + TRY)


def test_an_episode_that_failed_begins_again_by_the_chance():
    order = EpisodeOrder(3, 0.6)
    followers = [order.after(i, 7, {"success": 0.0}) for i in range(1000)]
    assert set(followers) == {8, 7 + TRY}
    assert 550 < followers.count(7 + TRY) < 650
    assert followers == [order.after(i, 7, {"success": 0.0}) for i in range(1000)]
    assert {order.after(i, 7, {"success": 1.0}) for i in range(100)} == {8}
    assert {order.after(i, 7, {}) for i in range(100)} == {8}  # who tells nothing does not fail
    assert {EpisodeOrder(3).after(i, 7, {"success": 0.0}) for i in range(100)} == {8}


def test_after_the_last_try_comes_the_next_episode():
    assert EpisodeOrder(3, 0.6).next(7 + 3 * TRY) == 8
    assert EpisodeOrder(3, 0.6).after(0, 7 + 3 * TRY, {"success": 1.0}) == 8


def test_the_newest_episode_that_counts_is_the_one_before_or_the_first_try():
    assert newest_told(np.array([1, 7, 7 + 2 * TRY])).tolist() == [0, 6, 7]
