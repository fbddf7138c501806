"""Warm starts: a new run's policy begins with the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

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
    reset_actions: Sequence[int] = (),
) -> None:
    """Gives a new run's policy the weights of a checkpoint of either kind; an empty path leaves it.

    Args:
        path: The checkpoint.
        policy: As it was made for this run.
        metadata: What the trainer's caller keeps in checkpoints.
        reset_log_std: The policy keeps its own free log standard deviations: it explores anew.
        reset_actions: Of a Box, which the policy's own head chooses, as it was made.

    Raises:
        UserError: If the checkpoint is foreign or does not fit this run, or there is nothing to reset.
    """
    if not str(path):
        for name, value in (("reset_log_std", reset_log_std), ("reset_actions", reset_actions)):
            if value:
                raise UserError(
                    f"trainer.{name} is for a run that has trainer.start_from; leave it out"
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
    load_weights(policy, _with_own_actions(policy, weights, reset_actions), str(path))


def _with_own_actions(
    policy: ActorCritic, weights: dict[str, Tensor], actions: Sequence[int]
) -> dict[str, Tensor]:
    """Returns weights whose head chooses some actions as the policy's does now."""
    if not actions:
        return weights
    own, changed = policy.state_dict(), dict(weights)
    for name in ("head.mean.weight", "head.mean.bias"):
        if name not in own or name not in weights:
            raise UserError("trainer.reset_actions: only actions of one Box can begin anew")
        size = len(own[name])
        if not all(index in range(size) for index in actions):
            raise UserError(
                f"trainer.reset_actions must be numbers from 0 to {size - 1}, found {actions}"
            )
        changed[name] = weights[name].to(own[name].dtype, copy=True)
        changed[name][list(actions)] = own[name][list(actions)].to(weights[name].device)
    return changed
