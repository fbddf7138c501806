"""Policy lag: how old the weights were that acted, and V-trace's correction for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ver.config import APPOConfig, PPOConfig
from ver.distributed import SingleProcess
from ver.experience import Experience, find_sequences, sequence_heads
from ver.mini_batches import MiniBatch, Packer, cut_mini_batches
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.vtrace import compute_vtrace


def lag_statistics(
    buffer: RolloutBuffer, experience: Experience, updates: int, group: SingleProcess
) -> dict[str, float]:
    """Returns by how many updates the acting weights are older than those that begin to learn.

    Args:
        buffer: A full buffer.
        experience: Its steps to learn from.
        updates: Gradient steps behind the learner's weights.
        group: The ranks, of which the largest lag counts.
    """
    lags = updates - buffer.versions[experience.slots]
    most = max(group.gather(float(lags.max())))
    return {"policy_lag_mean": float(lags.mean()), "policy_lag_max": most}


@torch.no_grad()
def correct_lag(
    policy: ActorCritic,
    buffer: RolloutBuffer,
    experience: Experience,
    packer: Packer,
    config: PPOConfig,
    bounds: APPOConfig,
) -> dict[str, float]:
    """Puts V-trace's advantages and value targets in the place of GAE's.

    Ratios and values are those of the weights before the first update. The values of final
    observations, which are not kept, stay those of the acting weights.

    Args:
        policy: The learner's.
        buffer: A full buffer.
        experience: Its advantages and returns are replaced.
        packer: Copies out what the policy needs.
        config: Discount, lambda, and how steps are cut.
        bounds: V-trace's.

    Returns:
        Diagnostics of the ratios.
    """
    chain, counts = buffer.chains()
    starts, lengths = find_sequences(sequence_heads(buffer, chain), config.max_sequence_length)
    log_probs, values = np.zeros((2, len(chain)), dtype=np.float32)

    def evaluate(batch: MiniBatch, inputs: dict[str, Any]) -> None:
        with torch.no_grad():  # each thread has its own mode
            result = policy.evaluate(**inputs)
        log_probs[batch.positions] = result.log_probs.cpu().numpy()
        values[batch.positions] = result.values.cpu().numpy()

    # In parts, as learning does, for the memory's sake; with a generator of its own.
    for part in cut_mini_batches(starts, lengths, config.mini_batches, np.random.default_rng(0)):
        packed = packer.pack(buffer, chain, part)
        list(packer.map(evaluate, packed.shards, packed.inputs))
    ratios = np.exp(log_probs - buffer.log_probs[chain])
    targets, advantages = compute_vtrace(
        buffer.rewards[chain],
        values,
        buffer.outcomes[chain],
        buffer.final_values[chain],
        ratios,
        counts,
        config.gamma,
        config.gae_lambda,
        bounds.rho_bar,
        bounds.c_bar,
    )
    steps = np.ones(len(chain), dtype=bool)
    steps[np.cumsum(counts) - 1] = False
    experience.advantages, experience.returns = advantages[steps], targets[steps]
    rho = np.minimum(ratios[steps], bounds.rho_bar)
    cut = (ratios[steps] > bounds.rho_bar).mean()
    return {"mean_rho": float(rho.mean()), "rho_cut_fraction": float(cut)}
