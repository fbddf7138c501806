import numpy as np
import pytest
from gymnasium import spaces

from tests.helpers.coin_race import CoinRace
from ver.errors import UserError, WorkerCrashError
from ver.league.games import Table, game_maker


def test_seats_are_agents_of_games_side_by_side():
    table = Table(CoinRace, 3)
    assert (table.seats, table.agents) == (6, ["red", "blue"])
    assert list(table.seats_of(1)) == [2, 3]
    assert list(table.observation_space.spaces) == ["observation"]
    table.open()
    alone = CoinRace()
    expected, _ = alone.reset(seed=5)
    shown = table.begin(1, 5)
    assert list(shown) == [2, 3]
    np.testing.assert_array_equal(shown[3]["observation"], expected["blue"])
    while alone.agents:
        results = table.step(1, {2: 1, 3: 2})
        expected = alone.step({"red": 1, "blue": 2})
        for seat, name in ((2, "red"), (3, "blue")):
            result = results[seat]
            np.testing.assert_array_equal(result.observation["observation"], expected[0][name])
            told = (result.reward, result.terminated, result.truncated)
            assert told == tuple(part[name] for part in expected[1:4])
            assert result.metrics == expected[4][name].get("metrics", {})


def test_agents_that_differ_are_refused():
    class Unequal(CoinRace):
        def action_space(self, agent):
            return spaces.Discrete(3 if agent == "red" else 4)

    with pytest.raises(UserError, match="1 kinds of observations and 2 of actions: pad them"):
        Table(Unequal, 2)


def test_games_are_found_by_name():
    assert game_maker("tests.helpers.coin_race:CoinRace", {"limit": 3})().limit == 3
    with pytest.raises(UserError, match=r"no game 'tests.helpers.coin_race': .*parallel_env"):
        game_maker("tests.helpers.coin_race", {})
    with pytest.raises(UserError, match=r"no game 'nowhere.at.all'"):
        game_maker("nowhere.at.all", {})
    with pytest.raises(UserError, match=r"takes no such arguments: .*'size'"):
        game_maker("tests.helpers.coin_race:CoinRace", {"size": 3})


def test_a_game_that_cannot_be_made_is_told_in_one_line():
    def make():
        raise OSError("no box")

    with pytest.raises(WorkerCrashError, match=r"^the game cannot be started: OSError: no box"):
        Table(make, 2)
