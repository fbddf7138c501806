"""Proximal policy optimisation: the loss and the update."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.config import PPOConfig
from ver.entropy import EntropyCoefficient
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.rollout import Experience, MiniBatch, RolloutBuffer, cut_mini_batches, make_experience


def schedule_factor(schedule: str, progress: float) -> float:
    """Returns the learning rate's factor after a fraction of training.

    Args:
        schedule: "cosine", (1 + cos(pi * progress)) / 2, or "constant".
        progress: Fraction of the training steps done, cut to [0, 1].
    """
    if schedule == "constant":
        return 1.0
    if schedule == "cosine":
        return (1.0 + math.cos(math.pi * min(max(progress, 0.0), 1.0))) / 2.0
    raise UserError(f"Unknown ppo.schedule '{schedule}'; valid: cosine, constant.")


class PPO:
    """Learns a policy from full rollout buffers.

    Args:
        policy: The networks, shared with inference.
        config: Settings.
        threads: CPU threads that compute gradients, each on its own share of a mini-batch with
            single-threaded operations. Measured against multi-threaded operations (OpenMP), this
            is as fast on idle cores and many times faster on busy ones, where OpenMP's threads
            spin while one of them is descheduled.

    Attributes:
        updates: Gradient steps taken so far.
        packing_seconds: Time spent on returns, packing and copying, rather than on computing.
    """

    def __init__(self, policy: ActorCritic, config: PPOConfig, threads: int = 1):
        schedule_factor(config.schedule, 0.0)  # complain now about an unknown schedule
        self.policy = policy
        self.config = config
        device = policy.critic.weight.device
        self.entropy = EntropyCoefficient(config.entropy).to(device)
        self.optimizer = torch.optim.Adam(
            policy.parameters(), lr=config.learning_rate, eps=config.adam_epsilon
        )
        self.entropy_optimizer = torch.optim.Adam(
            self.entropy.parameters(), lr=config.entropy.learning_rate
        )
        self._parameters = list(policy.parameters())
        self.threads = threads if device.type == "cpu" else 1
        self._map: Callable[..., Any] = map
        if self.threads > 1:
            pool = ThreadPoolExecutor(self.threads, "learner", lambda: torch.set_num_threads(1))
            self._map = pool.map
        self.updates = 0
        self.packing_seconds = 0.0

    @property
    def learning_rate(self) -> float:
        """The step size of the last update."""
        return self.optimizer.param_groups[0]["lr"]

    def set_progress(self, progress: float) -> None:
        """Sets the learning rate for a fraction of training done."""
        rate = self.config.learning_rate * schedule_factor(self.config.schedule, progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def learn(
        self,
        buffer: RolloutBuffer,
        rng: np.random.Generator,
        keep_going: Callable[[], bool] = lambda: True,
    ) -> dict[str, float]:
        """Runs all epochs over one rollout.

        Args:
            buffer: A full buffer.
            rng: Shuffles the sequences.
            keep_going: Asked before each update; learning stops early once it says no.

        Returns:
            Means of the losses and diagnostics over the updates.
        """
        config = self.config
        begin = time.perf_counter()
        experience = make_experience(
            buffer,
            config.gamma,
            config.gae_lambda,
            config.max_importance_weight if config.importance_weights else 0.0,
            config.max_sequence_length,
        )
        self.packing_seconds += time.perf_counter() - begin
        history: list[dict[str, float]] = []
        for _ in range(config.epochs):
            begin = time.perf_counter()
            batches = cut_mini_batches(
                experience.starts, experience.lengths, config.mini_batches, rng
            )
            self.packing_seconds += time.perf_counter() - begin
            history += [self.update(buffer, experience, batch) for batch in batches if keep_going()]
        # After learning, so that ratios within this rollout compare like with like.
        begin = time.perf_counter()
        self._update_normaliser(buffer, experience)
        self.packing_seconds += time.perf_counter() - begin
        means = {key: float(np.mean([row[key] for row in history])) for key in (history or [{}])[0]}
        return means | _return_statistics(buffer, experience)

    def update(
        self, buffer: RolloutBuffer, experience: Experience, batch: MiniBatch
    ) -> dict[str, float]:
        """Takes one gradient step on one mini-batch and returns its losses."""
        advantages = experience.advantages
        if self.config.normalise_advantages:
            part = advantages[batch.positions]
            advantages = (advantages - part.mean()) / (part.std() + 1e-5)
        shards = batch.shards(self.threads)
        results = list(
            self._map(lambda shard: self._gradients(buffer, experience, advantages, shard), shards)
        )
        # Losses are means over a shard, so shards count by their size.
        shares = [len(shard.positions) / len(batch.positions) for shard in shards]
        gradients = [gradient * shares[0] for gradient in results[0][0]]
        for share, (more, _) in zip(shares[1:], results[1:], strict=True):
            for gradient, addition in zip(gradients, more, strict=True):
                gradient.add_(addition, alpha=share)
        numbers = {
            name: sum(share * float(result[1][name]) for share, result in zip(shares, results))  # noqa: B905
            for name in results[0][1]
        }
        numbers["gradient_norm"] = self._descend(gradients)
        self._adapt_entropy(numbers["entropy"])
        self.updates += 1
        return numbers

    def _gradients(
        self,
        buffer: RolloutBuffer,
        experience: Experience,
        advantages: np.ndarray,
        batch: MiniBatch,
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Computes the loss's gradients on one shard; several threads may do so at once."""
        begin = time.perf_counter()
        device = buffer.device
        rows = experience.slots[batch.positions]
        slots = torch.as_tensor(rows, device=device)
        heads = torch.as_tensor(experience.slots[batch.heads], device=device)

        def column(values: np.ndarray) -> Tensor:
            return torch.as_tensor(values, device=device)

        observations = {
            key: tensor.index_select(0, slots) for key, tensor in buffer.observations.items()
        }
        self.packing_seconds += (time.perf_counter() - begin) / self.threads
        result = self.policy.evaluate(
            observations,
            buffer.states.index_select(0, heads),
            buffer.previous_actions.index_select(0, slots),
            column(~buffer.first[rows]),
            buffer.actions.index_select(0, slots),
            torch.as_tensor(batch.batch_sizes),
        )
        loss, numbers = ppo_loss(
            self.config,
            log_probs=result.log_probs,
            old_log_probs=column(buffer.log_probs[rows]),
            values=result.values,
            old_values=column(buffer.values[rows]),
            advantages=column(advantages[batch.positions]),
            returns=column(experience.returns[batch.positions]),
            weights=column(experience.weights[batch.positions]),
            entropies=result.entropies,
            entropy_coefficient=self.entropy.value,
        )
        return list(torch.autograd.grad(loss, self._parameters)), numbers

    def _descend(self, gradients: list[Tensor]) -> float:
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        limit = self.config.max_gradient_norm
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters, limit or math.inf))
        if not math.isfinite(norm):
            raise UserError(
                "The gradient is not finite; lower ppo.learning_rate, or look for extreme "
                "observations and rewards."
            )
        self.optimizer.step()
        return norm

    def _adapt_entropy(self, entropy: float) -> None:
        if not self.config.entropy.learned:
            return
        self.entropy_optimizer.zero_grad(set_to_none=True)
        self.entropy.loss(entropy).backward()
        self.entropy_optimizer.step()
        self.entropy.clamp()

    def _update_normaliser(self, buffer: RolloutBuffer, experience: Experience) -> None:
        if self.policy.normaliser is None:
            return
        slots = torch.as_tensor(experience.slots, device=buffer.device)
        vectors = {
            key: buffer.observations[key].index_select(0, slots) for key in self.policy.vector_keys
        }
        self.policy.normaliser.update(self.policy.join_vectors(vectors))


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
) -> tuple[Tensor, dict[str, Tensor]]:
    """The clipped surrogate loss; every term is a mean of w * term over M steps.

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

    Returns:
        The loss, and detached numbers to log.
    """
    log_ratio = log_probs - old_log_probs
    ratio = log_ratio.exp()
    clipped_ratio = ratio.clamp(1.0 - config.clip, 1.0 + config.clip)
    surrogate = torch.minimum(ratio * advantages, clipped_ratio * advantages)
    policy_loss = -(weights * surrogate).mean()

    squared = (values - returns).square()
    if config.clip_value:
        near = old_values + (values - old_values).clamp(-config.clip, config.clip)
        squared = torch.maximum(squared, (near - returns).square())
    value_loss = 0.5 * (weights * squared).mean()

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


def _return_statistics(buffer: RolloutBuffer, experience: Experience) -> dict[str, float]:
    residual = experience.returns - buffer.values[experience.slots]
    spread = float(np.var(experience.returns))
    explained = 1.0 - float(np.var(residual)) / spread if spread > 1e-8 else 0.0
    versions = buffer.versions[experience.slots]
    return {
        "mean_return": float(experience.returns.mean()),
        "explained_variance": explained,
        "mean_importance_weight": float(experience.weights.mean()),
        "off_policy_fraction": float((versions < versions.max()).mean()),
        "sequences": float(len(experience.starts)),
    }
