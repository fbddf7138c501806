"""Ranges and choices of every training setting, checked before anything starts."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, NamedTuple

from ver.errors import UserError


class Range(NamedTuple):
    """Numbers from `low` to `high`; `above`: `low` itself is too little."""

    low: float
    high: float = math.inf
    above: bool = False

    def __contains__(self, value: object) -> bool:
        """Return whether a number lies within, and is finite."""
        assert isinstance(value, (int, float))
        enough = value > self.low if self.above else value >= self.low
        return enough and value <= self.high and math.isfinite(value)

    def cut(self, value: float) -> float:
        """Return the number itself, or the bound that it is beyond."""
        return min(max(value, self.low), self.high)

    def __str__(self) -> str:
        """In words."""
        least = f"above {self.low:g}" if self.above else f"at least {self.low:g}"
        return least if self.high == math.inf else f"{least} and at most {self.high:g}"


# No number is endless: what is beyond these is a slip, and would end in a traceback or never
LARGEST = 1e9
COUNT, COUNT_OR_NONE = Range(1, LARGEST), Range(0, LARGEST)
WIDTH, WIDTH_OR_NONE = Range(1, 16_384), Range(0, 16_384)  # of layers
MANY, THREADS, THREADS_OR_NONE = Range(1, 65_536), Range(1, 1024), Range(0, 1024)
POSITIVE, NOT_NEGATIVE = Range(0, LARGEST, above=True), Range(0, LARGEST)
SHARE = Range(0, 1)
SEED = Range(0, 2**31 - 1)
SPREAD = Range(-5, 2)  # log standard deviations; the heads cut theirs to this

NUMBERS: dict[str, Range] = {
    "network.visual_features": WIDTH,
    "network.hidden_size": WIDTH,
    "network.layers": Range(1, 64),
    "network.previous_action_features": WIDTH_OR_NONE,
    "network.initial_log_std": SPREAD,
    "network.binary_threshold": Range(0, 0.9999, above=True),
    "network.distance_scale": POSITIVE,
    "network.vector_features": WIDTH_OR_NONE,
    "ppo.learning_rate": Range(0, 1, above=True),
    "ppo.base_batch_size": COUNT,
    "ppo.lamb_weight_decay": NOT_NEGATIVE,
    "ppo.lamb_rho": Range(0, 1, above=True),
    "ppo.epochs": MANY,
    "ppo.mini_batches": MANY,
    "ppo.clip": POSITIVE,
    "ppo.target_kl": NOT_NEGATIVE,
    "ppo.value_coefficient": NOT_NEGATIVE,
    "ppo.gamma": SHARE,
    "ppo.gae_lambda": SHARE,
    "ppo.max_gradient_norm": NOT_NEGATIVE,
    "ppo.adam_epsilon": POSITIVE,
    "ppo.adam_beta1": Range(0, 0.9999),
    "ppo.final_log_std": SPREAD,
    "ppo.max_importance_weight": POSITIVE,
    "ppo.max_sequence_length": COUNT_OR_NONE,
    "ppo.entropy.initial": NOT_NEGATIVE,
    "ppo.entropy.minimum": POSITIVE,
    "ppo.entropy.maximum": POSITIVE,
    "ppo.entropy.target": Range(-1000, 1000),
    "ppo.entropy.learning_rate": SHARE,
    "ppo.cpca.scale": NOT_NEGATIVE,
    "ppo.cpca.steps": MANY,
    "ppo.cpca.starts": COUNT_OR_NONE,
    "ppo.cpca.horizons": COUNT_OR_NONE,
    "ppo.cpca.negatives": MANY,
    "ppo.cpca.hidden_size": WIDTH,
    "ppo.cpca.action_features": WIDTH,
    "ppo.cpca.max_gradient_norm": NOT_NEGATIVE,
    "ppo.state_estimation": NOT_NEGATIVE,
    "collect.num_environments": MANY,
    "collect.environments_per_worker": MANY,
    "collect.rollout_length": MANY,
    "collect.num_inference_workers": THREADS,
    "collect.min_requests": COUNT_OR_NONE,
    "collect.max_requests": COUNT_OR_NONE,
    "collect.max_wait_ms": NOT_NEGATIVE,
    "collect.worker_flush_ms": NOT_NEGATIVE,
    "collect.startup_timeout_s": POSITIVE,
    "collect.step_timeout_s": NOT_NEGATIVE,
    "collect.max_faults_per_hour": COUNT_OR_NONE,
    "collect.repeat_failed": Range(0, 0.9),  # always: an episode that cannot be done never ends
    "appo.batch_trajectories": COUNT_OR_NONE,
    "appo.max_policy_lag": COUNT_OR_NONE,
    "appo.rho_bar": POSITIVE,
    "appo.c_bar": POSITIVE,
    "distributed.sync_fraction": Range(0, 1, above=True),
    "distributed.timeout_s": POSITIVE,
    "total_steps": Range(1, 1e12),
    "seed": SEED,
    "learner_threads": THREADS_OR_NONE,
    "inference_threads": THREADS,
    "checkpoint_interval_s": NOT_NEGATIVE,
    "keep_checkpoints": COUNT,
    "log_interval_s": NOT_NEGATIVE,
    "episode_window": COUNT,
    "cloning.transitions": COUNT,
    "cloning.updates": COUNT,
    "cloning.batch": COUNT,
    "cloning.learning_rate": Range(0, 1, above=True),
    "cloning.max_gradient_norm": POSITIVE,
}

CHOICES: dict[str, tuple[str, ...]] = {
    "network.memory": ("gru", "lstm", "none"),
    "network.activation": ("relu", "selu", "tanh"),
    "network.log_std": ("free", "state"),
    "network.mixed_precision": ("none", "bfloat16"),
    "ppo.optimizer": ("adam", "lamb"),
    "ppo.schedule": ("cosine", "constant", "to_base"),
    "distributed.preemption": ("none", "optimal", "fixed"),
    "device": ("cpu", "cuda"),
    "tracker": ("none", "wandb", "trackio"),
}
# Texts: a pattern, and what it asks for
NAMES = {"project": (r"[^/\\#?%:]{1,128}", "1 to 128 characters, none of / \\ # ? % :")}


def check_ranges(config: Any, prefix: str = "", told: str = "") -> None:
    """Raise a UserError that names the first setting that cannot be, its value and what is allowed.

    Args:
        config: A TrainerConfig, a part of one, or a CloningConfig.
        prefix: Dotted key of that part, or "cloning.", with a dot at its end; it is told, too.
        told: What comes before the keys in messages, such as "trainer.".
    """
    for each in dataclasses.fields(config):
        key, value = prefix + each.name, getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            check_ranges(value, f"{key}.", told)
        elif key in NUMBERS and value is not None and value not in NUMBERS[key]:
            raise UserError(f"{told}{key} must be {NUMBERS[key]}, found {value:g}")
        elif key in NAMES and not re.fullmatch(NAMES[key][0], str(value)):
            raise UserError(f"{told}{key} must be {NAMES[key][1]}, found '{value}'")
        elif key in CHOICES and value not in CHOICES[key]:
            raise UserError(
                f"{told}{key} must be one of {', '.join(CHOICES[key])}, found '{value}'"
            )
