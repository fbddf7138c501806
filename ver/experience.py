"""Steps of a full rollout that are learned from: their returns, weights and sequences.

Sampling bias: an environment that is quick to step fills more slots, so what is learned from leans
towards experience that is cheap to simulate. Importance weights (T + 1) / n of an environment's n
slots undo this; truncated at 1 they turn the fast ones down and leave the slow ones as rare as they
are. And whatever is under way at the end is seen in the next rollout, under a newer policy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ver.gae import compute_advantages
from ver.rollout import RolloutBuffer


@dataclass
class Experience:
    """The T x N complete steps of a rollout, ordered by environment and time.

    Attributes:
        slots: [M] buffer slots in that order; the environments' newest slots are left out.
        advantages: [M] generalised advantage estimates.
        returns: [M] advantage plus value.
        weights: [M] importance weights, at most the truncation.
        stale: [M] whether an earlier rollout has learned from the step already.
        starts: [K] positions in `slots` where a contiguous run of one episode starts.
        lengths: [K] lengths of these runs.
    """

    slots: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray
    weights: np.ndarray
    stale: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


def make_experience(
    buffer: RolloutBuffer,
    gamma: float,
    gae_lambda: float,
    max_weight: float,
    max_sequence_length: int,
) -> Experience:
    """Computes returns and weights of a full buffer and finds its sequences.

    Args:
        buffer: A full buffer.
        gamma: Discount.
        gae_lambda: Mixing of generalised advantage estimation.
        max_weight: Truncation of the importance weights; 0 makes them all one.
        max_sequence_length: Longest sequence, 0 for no limit.
    """
    chain, counts = buffer.chains()
    buffer.advantages[chain] = compute_advantages(
        buffer.rewards[chain],
        buffer.values[chain],
        buffer.outcomes[chain],
        buffer.final_values[chain],
        counts,
        gamma,
        gae_lambda,
    )
    slots, slot_counts = buffer.complete_slots()
    starts, lengths = find_sequences(sequence_heads(buffer, slots), max_sequence_length)
    advantages = buffer.advantages[slots]
    return Experience(
        slots,
        advantages,
        advantages + buffer.values[slots],
        importance_weights(slot_counts, buffer.length, max_weight),
        buffer.rollouts[slots] < buffer.rollout[0],
        starts,
        lengths,
    )


def importance_weights(counts: np.ndarray, length: int, maximum: float) -> np.ndarray:
    """Returns min((T + 1) / n, maximum) for environments with n slots, or ones if maximum is 0.

    Args:
        counts: [N] slots of each environment.
        length: T.
        maximum: Truncation.
    """
    if maximum <= 0:
        return np.ones(len(counts), dtype=np.float32)
    return np.minimum((length + 1) / counts, maximum).astype(np.float32)


def sequence_heads(buffer: RolloutBuffer, slots: np.ndarray) -> np.ndarray:
    """Finds the steps before which something is missing or begins anew.

    A sequence is one environment's, one episode's and one rollout's, without a gap: steps between
    two stale ones may have been overwritten.

    Args:
        buffer: Where the steps are.
        slots: [M] in the order of environment and time.

    Returns:
        Whether each step has to start a sequence, [M].
    """
    heads = buffer.first[slots].copy()
    for column in (buffer.environments, buffer.episodes, buffer.rollouts):
        heads[1:] |= np.diff(column[slots]) != 0
    heads[1:] |= np.diff(buffer.steps[slots]) != 1
    heads[:1] = True
    return heads


def find_sequences(heads: np.ndarray, max_length: int) -> tuple[np.ndarray, np.ndarray]:
    """Turns the heads of sequences into their starts and lengths, cut to a longest length.

    A cut piece starts from the recurrent state that was stored at its own first step.

    Args:
        heads: [M] whether a step starts a sequence; the first one does.
        max_length: Longest run, 0 for no limit.

    Returns:
        Starts [K] and lengths [K].
    """
    starts = np.flatnonzero(heads)
    lengths = np.diff(np.append(starts, len(heads)))
    if max_length > 0 and len(lengths):
        pieces = -(-lengths // max_length)
        offset = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        ends = np.repeat(starts + lengths, pieces)
        starts = np.repeat(starts, pieces) + offset * max_length
        lengths = np.minimum(ends - starts, max_length)
    return starts, lengths


def experience_statistics(buffer: RolloutBuffer, experience: Experience) -> dict[str, float]:
    """Returns what is logged of an experience: how good its values are, and how old its steps."""
    residual = experience.returns - buffer.values[experience.slots]
    variance = float(np.var(experience.returns))
    explained = 1.0 - float(np.var(residual)) / variance if variance > 1e-8 else 0.0
    versions = buffer.versions[experience.slots]
    return {
        "mean_return": float(experience.returns.mean()),
        "explained_variance": explained,
        "mean_importance_weight": float(experience.weights.mean()),
        "off_policy_fraction": float((versions < versions.max()).mean()),
        "stale_fraction": float(experience.stale.mean()),
        "sequences": float(len(experience.starts)),
    }
