"""Trainings that take a moment: their settings, and the rows that they log."""

import json
from pathlib import Path

from ver.config import TrainerConfig, merge_config

SMALL = (
    "tensorboard=false",
    "learner_threads=1",
    "network.hidden_size=16",
    "collect.num_environments=4",
    "collect.environments_per_worker=2",
    "collect.rollout_length=16",
)


def small_run(*overrides: str) -> TrainerConfig:
    """Settings of a small training; overrides win."""
    return merge_config(TrainerConfig, [], [*SMALL, *overrides])


def logged(directory: Path) -> list[dict[str, float]]:
    """Rows of metrics.jsonl in a run's folder."""
    return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
