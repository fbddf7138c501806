"""Leagues of the coin race that are over in seconds."""

from tests.helpers.coin_race import CoinRace
from ver import TrainerConfig, merge_config
from ver.league.league import League

GAME = "tests.helpers.coin_race:CoinRace"
QUICK = [
    "collect.num_environments=4",
    "collect.rollout_length=16",
    "network.hidden_size=8",
    "network.memory=lstm",
    "ppo.epochs=1",
    "ppo.mini_batches=2",
    "tensorboard=false",
    "learner_threads=1",
    "log_interval_s=1e9",
]


def quick_league(directory, *overrides, policies=2, make=CoinRace, **more):
    config = merge_config(TrainerConfig, [], [*QUICK, "total_steps=512", *overrides])
    return League(config, make, directory, policies, **more)
