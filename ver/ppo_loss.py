"""PPO's loss: clipped surrogate, value error and entropy bonus (Schulman et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor

from ver.config import PPOConfig


def ppo_loss(
    config: PPOConfig,
    *,
    log_probs: Tensor,
    old_log_probs: Tensor,
    values: Tensor,
    old_values: Tensor,
    advantages: Tensor,
    returns: Tensor,
    weights: Tensor,
    entropies: Tensor,
    entropy_coefficient: float,
    value_unit: float = 1.0,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The clipped surrogate loss; every term is a mean of w * term over M steps.

    Environments that step fast contribute more steps, which biases the sample towards them. The
    weights w = min(1, (T + 1) / n), truncated importance sampling (VER, section 4), undo that for
    fast environments; slow ones are left under-represented, as the truncation forbids weights
    above 1. The mean is over all M steps, not divided by the sum of w: a rollout that is uneven
    takes a smaller step.

    Args:
        config: Settings.
        log_probs: [M] of the taken actions, now.
        old_log_probs: [M] of the taken actions, when they were taken.
        values: [M] now.
        old_values: [M] when the actions were taken.
        advantages: [M], already normalised if that is wanted.
        returns: [M].
        weights: [M] importance weights of the environments.
        entropies: [M].
        entropy_coefficient: Weight of the entropy bonus.
        value_unit: Standard deviation of returns, in which errors of values count.

    Returns:
        The loss, and detached numbers to log.
    """
    log_ratio = log_probs - old_log_probs
    ratio = log_ratio.exp()
    clipped_ratio = ratio.clamp(1.0 - config.clip, 1.0 + config.clip)
    surrogate = torch.minimum(ratio * advantages, clipped_ratio * advantages)
    policy_loss = -(weights * surrogate).mean()

    value_loss = _value_loss(config, values, old_values, returns, weights, value_unit)
    entropy = (weights * entropies).mean()
    loss = policy_loss + config.value_coefficient * value_loss - entropy_coefficient * entropy
    with torch.no_grad():
        numbers = {
            "policy_loss": policy_loss.detach(),
            "value_loss": value_loss.detach(),
            "entropy": entropies.mean(),
            "approximate_kl": (ratio - 1.0 - log_ratio).mean(),
            "clip_fraction": ((ratio - 1.0).abs() > config.clip).float().mean(),
        }
    return loss, numbers


def _value_loss(
    config: PPOConfig,
    values: Tensor,
    old_values: Tensor,
    returns: Tensor,
    weights: Tensor,
    value_unit: float,
) -> Tensor:
    squared = (values - returns).square()
    if config.clip_value:
        reach = config.clip * value_unit
        near = old_values + (values - old_values).clamp(-reach, reach)
        squared = torch.maximum(squared, (near - returns).square())
    return 0.5 * (weights * squared).mean() / value_unit**2
