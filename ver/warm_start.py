"""Warm starts: a new run's policy begins with the weights of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ver.checkpoint import (
    POLICY_FORMAT,
    TRAINING_FORMAT,
    check_same_training,
    load_weights,
    read_file,
    strip_prefix,
)
from ver.errors import UserError
from ver.networks.policy import ActorCritic


def start_from(
    path: str | Path,
    policy: ActorCritic,
    metadata: dict[str, Any],
    reset_log_std: bool = False,
) -> None:
    """Gives a new run's policy the weights of a checkpoint of either kind; an empty path leaves it.

    Args:
        path: The checkpoint.
        policy: As it was made for this run.
        metadata: What the trainer's caller keeps in checkpoints.
        reset_log_std: The policy keeps its own free log standard deviations: it explores anew.

    Raises:
        UserError: If the checkpoint is foreign or does not fit this run, or there is nothing to reset.
    """
    if not str(path):
        if reset_log_std:
            raise UserError(
                "trainer.reset_log_std is for a run that has trainer.start_from; leave it out"
            )
        return
    tensors, header = read_file(path, (POLICY_FORMAT, TRAINING_FORMAT))
    check_same_training(path, header, policy, metadata, "another trainer.start_from")
    weights = strip_prefix(tensors, "policy/")
    if reset_log_std:
        own = policy.state_dict()
        free = {name: own[name] for name in own if name.endswith(".log_std")}
        if not free:
            raise UserError(
                "trainer.reset_log_std=true is for actions of a Box with network.log_std=free; leave it out"
            )
        weights |= free
    load_weights(policy, weights, str(path))
