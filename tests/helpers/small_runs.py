"""Trainings that take a moment: their settings, their collector, and the rows that they log."""

import json
from pathlib import Path

import torch

from ver.collect.collector import Collector
from ver.collect.environment_worker import MakeEnv, probe_spaces
from ver.collect.systems import find_system
from ver.config import FORMER_DEFAULTS, TrainerConfig, merge_config
from ver.networks.policy import ActorCritic

SMALL = (
    "tensorboard=false",
    "learner_threads=1",
    "network.hidden_size=16",
    "collect.num_environments=4",
    "collect.environments_per_worker=2",
    "collect.rollout_length=16",
)
CUE = (  # of one that learns to remember a cue
    "collect.num_environments=16",
    "collect.environments_per_worker=8",
    "collect.rollout_length=64",
    "ppo.learning_rate=0.003",
    "ppo.schedule=constant",
    "ppo.gamma=0.9",
    "network.hidden_size=32",
)
TINY_NAVIGATION = (  # of a navigation task, as skills.train takes them
    "agent.camera_size=40",
    "task.max_steps=12",
    "trainer.total_steps=64",
    "trainer.collect.num_environments=4",
    "trainer.collect.rollout_length=8",
    "trainer.network.hidden_size=8",
    "trainer.network.visual_features=8",
    "trainer.ppo.mini_batches=1",
    "trainer.learner_threads=1",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
)
TINY_NAMED = (  # of an environment by name, as `python -m ver train` takes them
    *("collect.num_environments=2", "collect.rollout_length=8", "ppo.mini_batches=1"),
    *("network.hidden_size=8", "learner_threads=1", "tensorboard=false", "log_interval_s=1e9"),
)
TIMES = ("time/", "seconds", "steps_per_second", "loss/samples_per_second")


def small_run(*overrides: str) -> TrainerConfig:
    """Settings of a small training of the VER paper's learner; overrides win."""
    return merge_config(TrainerConfig, [], [*FORMER_DEFAULTS, *SMALL, *overrides])


def start_collector(
    config: TrainerConfig, make_env: MakeEnv, **arguments
) -> tuple[Collector, ActorCritic]:
    """A collector of the system that is asked for, and the policy that its learner would change."""
    torch.manual_seed(0)
    policy = ActorCritic(*probe_spaces(make_env, 0), config.network)
    return find_system(config.system)(config, make_env, policy, 5, **arguments), policy


def logged(directory: Path) -> list[dict[str, float]]:
    """Rows of metrics.jsonl in a run's folder."""
    return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]


def curve(directory: Path) -> list[dict[str, float]]:
    """The logged rows, without what depends on the clock."""
    rows = logged(directory)
    return [{k: v for k, v in row.items() if not k.startswith(TIMES)} for row in rows]
