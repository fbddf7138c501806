"""Warm starts: a new run's policy begins with the weights of a checkpoint.

The checkpoint's network may lack what this run's has: logarithms of distances among its inputs, or
a residual core's memory. Both act alike at first, and the new part is what is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ver.checkpoint import (
    POLICY_FORMAT,
    TRAINING_FORMAT,
    check_same_training,
    load_weights,
    read_file,
    strip_prefix,
)
from ver.config import NetworkConfig, config_from_dict, config_to_dict
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
        UserError: If the checkpoint is foreign or does not fit this run.
    """
    if not str(path):
        return
    tensors, header = read_file(path, (POLICY_FORMAT, TRAINING_FORMAT))
    weights = strip_prefix(tensors, "policy/")
    network = policy.network_config
    before = config_from_dict(NetworkConfig, header["network"])
    if network.memory == "residual" and before.memory == "none":
        weights = _add_memory(policy, weights)
        before.memory = network.memory
    if network.distances and not before.distances:
        weights = _add_distances(policy, weights)
        before.distances, before.distance_scale = network.distances, network.distance_scale
    header["network"] = config_to_dict(before)
    check_same_training(path, header, policy, metadata, "another trainer.start_from")
    if reset_log_std:
        own = policy.state_dict()
        weights |= {name: own[name] for name in own if name.endswith(".log_std")}
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
        changed[name] = weights[name].clone()
        changed[name][list(actions)] = own[name][list(actions)]
    return changed


def _add_distances(policy: ActorCritic, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns weights for a network from those of the same one without `network.distances`.

    The new inputs have weights of zero, so that both act alike, and are not normalised.

    Args:
        policy: Whose network it is.
        weights: By name, as `state_dict` has them.
    """
    added, end = policy.vectors.distances, policy.vectors.width
    before_vectors = policy.network_config.visual_features if policy.images.keys else 0
    wider = dict(weights)
    for name, own in policy.state_dict().items():
        if name not in weights:
            continue
        old = weights[name]
        if not old.dim() or own.shape != (*old.shape[:-1], old.shape[-1] + added):
            continue
        at = end - added + (before_vectors if name.startswith("core.") else 0)
        new = old.new_full((*old.shape[:-1], added), float(name == "normaliser.variance"))
        wider[name] = torch.cat([old[..., :at], new, old[..., at:]], -1)
    return wider


def _add_memory(policy: ActorCritic, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns weights for a network with a residual core from those of the one without memory.

    Args:
        policy: Whose network it is.
        weights: By name, as `state_dict` has them.
    """
    renamed = {name.replace("core.mlp.", "core.plain.mlp."): w for name, w in weights.items()}
    own = policy.state_dict()
    new = {name: own[name] for name in own if name.startswith(("core.memory.", "core.add."))}
    return renamed | new
