"""Games of the package that named the interface."""

import pytest

from tests.helpers.coin_race import CoinRace
from ver import TrainerConfig, load_policy, merge_config
from ver.league.games import Table, game_maker
from ver.league.league import League

pettingzoo = pytest.importorskip("pettingzoo")


def test_the_tests_own_game_is_one():
    from pettingzoo.test import parallel_api_test

    class Petting(CoinRace, pettingzoo.ParallelEnv):
        metadata = {"name": "coin_race_v0"}  # noqa: RUF012 - as PettingZoo has it

    parallel_api_test(Petting(), num_cycles=50)


def test_three_agents_of_a_real_game_learn_together(tmp_path):
    pytest.importorskip("mpe2")
    make = game_maker("mpe2.simple_spread_v3", {"max_cycles": 5})
    assert Table(make, 2).seats == 6
    words = ["collect.num_environments=2", "collect.rollout_length=8", "total_steps=96"]
    words += ["network.hidden_size=8", "tensorboard=false", "learner_threads=1"]
    rows = League(merge_config(TrainerConfig, [], words), make, tmp_path, policies=2).train()
    assert [row["episode/episode_length"] for row in rows] == [5.0, 5.0]
    assert load_policy(tmp_path / "policy_1" / "policy.safetensors").metadata["steps"] == 96


def test_a_real_game_repeats_from_its_seed():
    pytest.importorskip("mpe2")
    table = Table(game_maker("mpe2.simple_spread_v3", {}), 2)
    table.open()
    shown = [table.begin(game, 7)[3 * game + 1]["observation"].tolist() for game in (0, 1)]
    assert shown[0] == shown[1]
    table.close()
