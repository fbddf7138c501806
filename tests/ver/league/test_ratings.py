import numpy as np
import pytest

from tests.helpers.coin_race import CoinRace
from ver import ActorCritic, NetworkConfig
from ver.league.games import Table
from ver.league.ratings import elo, play_all


def test_ratings_tell_the_odds():
    """Points as Bradley and Terry's model expects them, of so many games that one draw more is nothing."""
    true = np.array([0.0, 120.0, -300.0, 400.0])
    odds = 1.0 / (1.0 + 10.0 ** ((true - true[:, None]) / 400.0))
    scores = 1e6 * odds
    np.fill_diagonal(scores, 0.0)
    np.testing.assert_allclose(elo(scores), true, atol=0.01)


def test_who_never_lost_is_not_infinitely_good():
    ratings = elo(np.array([[0.0, 0.0], [10.0, 0.0]]))
    # With the draw 10.5 to 0.5 points: 400 log10(21)
    assert ratings == pytest.approx([0.0, 528.9], abs=0.1)


class Stepping(ActorCritic):
    """A policy that always takes one action."""

    def __init__(self, table, action):
        super().__init__(table.observation_space, table.action_space, NetworkConfig(hidden_size=4))
        self.action = action

    def choose(self, observations, state, previous_actions, masks, deterministic=False):
        choice = super().choose(observations, state, previous_actions, masks)
        return choice._replace(actions=choice.actions * 0 + self.action)


def test_each_plays_each_on_both_seats_and_all_points_are_given():
    table = Table(CoinRace, 8)
    players = [Stepping(table, 1), Stepping(table, 2), Stepping(table, 2)]
    scores = play_all(table, players, 4, seed=1)
    together = scores + scores.T
    np.testing.assert_array_equal(together, 32.0 * (1.0 - np.eye(3)))
    # Who never moves wins where the coin is under it, and a coin is within the other's eight cells mostly
    assert scores[1, 0] > 20.0
    np.testing.assert_array_equal(play_all(table, players, 4, seed=1), scores)
