"""Network that tells the chance of a start, and its file beside the policy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rearrange.errors import UserError
from skills.provenance import checksum
from ver.checkpoint import halved, load_weights, read_file, write_file
from ver.networks.policy import ActorCritic

FORMAT = "initiation-1"
SUFFIX = ".initiation"
HIDDEN = 256
STARTS = 6000  # from which one is learned, where nothing else is said
LEAST_STARTS = 100


class InitiationSet(nn.Module):
    """Value of a start by what the policy makes of its first observation, and the chance of success by that.

    Args:
        inputs: Width of what `first_seen` tells.
    """

    mean: Tensor
    deviation: Tensor
    unit: Tensor
    odds: Tensor

    def __init__(self, inputs: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
        self.register_buffer("mean", torch.zeros(inputs))  # of the inputs
        self.register_buffer("deviation", torch.ones(inputs))
        self.register_buffer("unit", torch.tensor([0.0, 1.0]))  # mean and deviation of the values
        self.register_buffer("odds", torch.tensor([0.0, 1.0]))  # log odds at value 0, and per unit

    def standardised(self, seen: Tensor) -> Tensor:
        """Returns values [N] in standard deviations for what was seen [N, inputs]."""
        return self.layers((seen - self.mean) / self.deviation)[:, 0]

    def values(self, seen: Tensor) -> Tensor:
        """Returns the returns [N] that are to be expected, as the critic has them."""
        return self.unit[0] + self.unit[1] * self.standardised(seen)

    def chances(self, seen: Tensor) -> Tensor:
        """Returns the chances of success [N], from 0 to 1, by a logistic function (Platt 1999)."""
        return torch.sigmoid(self.odds[0] + self.odds[1] * self.values(seen))

    def chance(self, policy: ActorCritic, observation: dict[str, np.ndarray]) -> float:
        """Returns the chance of success where the policy begins with an observation of one world."""
        tensors = {key: torch.as_tensor(observation[key])[None] for key in policy.seen_keys}
        with torch.inference_mode():
            return float(self.chances(first_seen(policy, tensors)[0])[0])


def first_seen(policy: ActorCritic, observations: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Returns what a policy makes of first observations [N, ...]: all its features, and its core's output.

    The first [N, F] end with the second [N, output_size].
    """
    count = len(next(iter(observations.values())))
    features = policy.features(observations, policy.initial_actions(count), torch.zeros(count))
    outputs, _ = policy.core.step(features, policy.initial_state(count))
    return torch.cat([features, outputs], -1), outputs


def initiation_path(policy: str | Path) -> Path:
    """Return where the initiation set of a policy's file lies."""
    return Path(policy).with_suffix(SUFFIX)


def save_initiation(learned: InitiationSet, policy: Path, told: dict[str, Any]) -> Path:
    """Write the initiation set of a policy's file beside it, with what is to be told of it; returns where."""
    path = initiation_path(policy)
    header = {"policy": checksum(policy), **told}
    tensors = {name: halved(tensor) for name, tensor in learned.state_dict().items()}
    write_file(path, tensors, header, FORMAT)
    return path


def load_initiation(policy: str | Path) -> InitiationSet:
    """Read the initiation set of a policy's file.

    Raises:
        UserError: There is none, or it is another policy's, or not whole.
    """
    path = initiation_path(policy)
    again = f"make it with python -m skills.initiation SKILL --checkpoint {policy}"
    if not path.is_file():
        raise UserError(f"{policy} has no initiation set: {again}")
    tensors, header = read_file(path, (FORMAT,))
    if header.get("policy") != checksum(Path(policy)):
        raise UserError(f"{path} is of another policy than {policy}: {again}")
    learned = InitiationSet(len(tensors.get("mean", ())))
    load_weights(learned, {name: tensor.float() for name, tensor in tensors.items()}, str(path))
    return learned.eval()
