"""Behaviour cloning: a policy learns to choose what demonstrations have chosen.

Its actions' log-probability is maximised along whole episodes, with memory where the network has
some; the log standard deviation of the actions is learned with it. The critic learns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ver.config import CloningConfig
from ver.mini_batches import MiniBatch, cut_mini_batches
from ver.networks.policy import ActorCritic
from ver.optimisers import Adam

_CHUNK = 4096  # rows that are normalised at once


class Demonstrations(NamedTuple):
    """Whole episodes, one after the other.

    Attributes:
        observations: {key: [M, ...]} as the policy sees them; images may be float16.
        actions: [M, D] in the action space's units.
        first: [M] bool, True at an episode's first step.
    """

    observations: dict[str, Tensor]
    actions: Tensor
    first: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Demonstrations]) -> Demonstrations:
        """One after the other."""
        keys = parts[0].observations
        return cls(
            {key: torch.cat([each.observations[key] for each in parts]) for key in keys},
            torch.cat([each.actions for each in parts]),
            np.concatenate([each.first for each in parts]),
        )

    def inputs(self, policy: ActorCritic, batch: MiniBatch) -> dict[str, object]:
        """Arguments of `ActorCritic.evaluate`; a piece of an episode begins without memory."""
        rows = torch.as_tensor(batch.positions)
        first = torch.as_tensor(self.first)[rows]
        before = self.actions[(rows - 1).clamp(min=0)]
        previous = torch.where(first[:, None], policy.initial_actions(len(rows)), before)
        return {
            "observations": {key: values[rows] for key, values in self.observations.items()},
            "state": policy.initial_state(len(batch.heads)),
            "previous_actions": previous,
            "masks": ~first,
            "actions": self.actions[rows],
            "batch_sizes": torch.as_tensor(batch.batch_sizes),
        }


def clone(
    policy: ActorCritic,
    shown: Demonstrations,
    config: CloningConfig,
    rng: np.random.Generator,
    report: Callable[[int, float], None] = lambda update, loss: None,
) -> float:
    """Train a policy on demonstrations.

    Args:
        policy: Changed in place.
        shown: What to choose.
        config: Settings.
        rng: Shuffles episodes.
        report: Called after every update with its number, from 1 on, and its loss.

    Returns:
        The mean loss of the last tenth of the updates: minus the log-probability of an action.
    """
    _normalise(policy, shown)
    optimiser = Adam(policy.parameters(), config.learning_rate)
    starts = np.flatnonzero(shown.first)
    lengths = np.diff(np.append(starts, len(shown.first)))
    pieces = max(1, len(shown.first) // config.batch)
    batches: list[MiniBatch] = []
    losses: list[float] = []
    policy.train()
    for update in range(config.updates):
        if not batches:
            batches = cut_mini_batches(starts, lengths, pieces, rng)
        optimiser.param_groups[0]["lr"] = config.learning_rate * (1.0 - update / config.updates)
        chosen = policy.evaluate(**shown.inputs(policy, batches.pop()))  # pyright: ignore
        loss = -chosen.log_probs.mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), config.max_gradient_norm)
        optimiser.step()
        losses.append(float(loss.detach()))
        report(update + 1, losses[-1])
    policy.eval()
    return float(np.mean(losses[-max(1, len(losses) // 10) :]))


def _normalise(policy: ActorCritic, shown: Demonstrations) -> None:
    """Let the running normalisation see all demonstrations once."""
    if policy.normaliser is None:
        return
    for begin in range(0, len(shown.first), _CHUNK):
        rows = {k: v[begin : begin + _CHUNK] for k, v in shown.observations.items()}
        policy.normaliser.update(policy.vectors.join(rows))
