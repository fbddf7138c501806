"""Proximal policy optimisation: the update and its epochs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.allocator import keep_freed_memory
from ver.auxiliary import CPCA
from ver.checkpoint import load_optimizer, load_weights, optimizer_tensors, strip_prefix
from ver.config import APPOConfig, PPOConfig
from ver.distributed import SingleProcess
from ver.entropy import EntropyCoefficient, limit_log_std
from ver.errors import GradientError, UserError
from ver.experience import Experience, experience_statistics, make_experience
from ver.mini_batches import MiniBatch, PackedBatch, Packer, cut_mini_batches
from ver.networks.normaliser import vector_moments
from ver.networks.policy import ActorCritic
from ver.optimisers import Adam, AdaptiveRate, make_optimiser, scheduled_rate
from ver.policy_lag import correct_lag, lag_statistics
from ver.ppo_loss import ppo_loss
from ver.rollout import RolloutBuffer
from ver.state_estimation import StateEstimator

# Where checkpoints keep an optimiser's state: one's averages would not fit the other.
_OPTIMISER_PREFIXES = {"adam": "optimizer/", "lamb": "lamb/"}
# Steps without images that are worth a thread: with fewer, threads wait for Python's lock more than they save
LEAST_SHARD = 512
_AUXILIARY_SETTINGS = {"cpca": "ppo.cpca.enabled", "estimator": "ppo.state_estimation"}


class PPO:
    """Learns a policy from full rollout buffers.

    Args:
        policy: The networks, shared with inference.
        config: Settings.
        threads: CPU threads that compute gradients, each on its own shard of a mini-batch; see
            `Packer`. CPC|A compares steps all over a mini-batch, so with it there is one only. Without
            images a shard has at least 512 steps, as less is not worth a thread.
        batch_size: Steps in one update, over all learners; scales the learning rate if it is to.
        group: The ranks that learn together.
        vtrace: Bounds of V-trace, which then takes the place of GAE; None leaves GAE.

    Attributes:
        after_update: Called with `updates` after each gradient step.
        cpca: The networks of the auxiliary loss CPC|A, None without it.
        estimator: The network of state estimation, None without it.
        packer: Copies mini-batches out of rollouts.
        parameters: All that the optimiser moves: the policy's, CPC|A's, the estimator's.
        updates: Gradient steps taken so far.
        rate: The learning rate's share in the schedule's.
        packing_seconds: Time spent on returns, packing and copying, rather than on computing.
    """

    def __init__(
        self,
        policy: ActorCritic,
        config: PPOConfig,
        threads: int = 1,
        batch_size: int = 256,
        group: SingleProcess | None = None,
        vtrace: APPOConfig | None = None,
    ):
        self.group = group or SingleProcess()
        self.vtrace = vtrace
        self.after_update: Callable[[int], None] = lambda updates: None
        self.policy = policy
        self.config = config
        self.batch_size = batch_size
        device = policy.device
        self.entropy = EntropyCoefficient(config.entropy, policy.action_space).to(device)
        self.cpca = _make_cpca(policy, config)
        self.estimator = StateEstimator(policy).to(device) if config.state_estimation else None
        found = {"cpca": self.cpca, "estimator": self.estimator}
        self._auxiliary = {name: module for name, module in found.items() if module is not None}
        # Each apart, so that no gradient of an auxiliary network shrinks the policy's.
        limits = {"cpca": config.cpca.max_gradient_norm, "estimator": config.max_gradient_norm}
        self._clipped = [(list(policy.parameters()), config.max_gradient_norm)]
        self._clipped += [
            (list(self._auxiliary[n].parameters()), limits[n]) for n in self._auxiliary
        ]
        self.parameters = [each for parameters, _ in self._clipped for each in parameters]
        self.optimizer = make_optimiser(config, self.parameters)
        self._out_of_reach = 0.0  # of the target entropy, as log_std is bounded
        self.rate = AdaptiveRate(config.target_kl)
        self.set_progress(0.0)  # complains now about an unknown schedule
        self.entropy_optimizer = Adam(self.entropy.parameters(), lr=config.entropy.learning_rate)
        if device.type == "cpu":
            keep_freed_memory()
        alone = device.type != "cpu" or self.cpca is not None
        self.packer = Packer(1 if alone else threads, LEAST_SHARD if policy.encoder is None else 1)
        self.updates = 0
        self.packing_seconds = 0.0

    @property
    def learning_rate(self) -> float:
        """The step size of the last update."""
        return self.optimizer.param_groups[0]["lr"]

    def set_progress(self, progress: float) -> None:
        """Sets learning rate and the largest log_std for a fraction of training done."""
        self._scheduled_rate = scheduled_rate(self.config, progress, self.batch_size)
        self._set_rate()
        final = self.config.final_log_std
        if final is not None:
            initial = self.policy.network_config.initial_log_std
            largest = limit_log_std(self.policy, initial + min(progress, 1.0) * (final - initial))
            self._out_of_reach = max(self.config.entropy.target - largest, 0.0)

    def state(self) -> dict[str, Tensor]:
        """Returns the tensors, beside the policy's, that are needed to go on learning."""
        tensors = optimizer_tensors(self.optimizer, _OPTIMISER_PREFIXES[self.config.optimizer])
        tensors |= optimizer_tensors(self.entropy_optimizer, "entropy_optimizer/")
        tensors["entropy/log_alpha"] = self.entropy.log_alpha
        tensors["rate_share"] = torch.tensor(self.rate.share, dtype=torch.float64)
        for name, module in self._auxiliary.items():
            tensors |= {f"{name}/{key}": value for key, value in module.state_dict().items()}
        return tensors

    def load_state(self, tensors: dict[str, Tensor], source: str) -> None:
        """Puts `state`'s answer back.

        Args:
            tensors: `state`'s tensors; others among them are ignored.
            source: The file they come from, for errors.

        Raises:
            UserError: If they were saved with other settings of ppo.optimizer or of what is learned
                beside.
        """
        for name, setting in _AUXILIARY_SETTINGS.items():
            saved = strip_prefix(tensors, f"{name}/")
            if bool(saved) != (name in self._auxiliary):
                which = "with" if saved else "without"
                raise UserError(f"{source} was trained {which} {setting}; resume it likewise.")
            if saved:
                load_weights(self._auxiliary[name], saved, source)
        for name, prefix in _OPTIMISER_PREFIXES.items():
            if name != self.config.optimizer and strip_prefix(tensors, prefix):
                raise UserError(
                    f"{source} was trained with ppo.optimizer={name}; resume it with the same one."
                )
        load_optimizer(self.optimizer, tensors, _OPTIMISER_PREFIXES[self.config.optimizer])
        load_optimizer(self.entropy_optimizer, tensors, "entropy_optimizer/")
        with torch.no_grad():
            self.entropy.log_alpha.copy_(tensors["entropy/log_alpha"])
        if self.config.target_kl > 0.0 and "rate_share" in tensors:
            self.rate.share = float(tensors["rate_share"])
            self._set_rate()

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
            self._longest_sequence,
        )
        self.packing_seconds += time.perf_counter() - begin
        diagnostics = lag_statistics(buffer, experience, self.updates, self.group)
        if self.vtrace is not None:
            diagnostics |= correct_lag(
                self.policy, buffer, experience, self.packer, config, self.vtrace
            )
        self._follow_returns(experience)
        history: list[dict[str, float]] = []
        begin = time.perf_counter()
        batches = cut_mini_batches(experience.starts, experience.lengths, config.mini_batches, rng)
        packed = [
            self.packer.pack(buffer, experience.slots, batch, i) for i, batch in enumerate(batches)
        ]
        self.packing_seconds += time.perf_counter() - begin
        # The same mini-batches in another order: copying images anew for each epoch took most of
        # the time that is not spent on computing.
        order = [i for _ in range(config.epochs) for i in rng.permutation(len(packed))]
        for i in order:
            if not keep_going():
                break
            history.append(self.update(buffer, experience, packed[i]))
        # After learning, so that ratios within this rollout compare like with like.
        begin = time.perf_counter()
        self._update_normaliser(buffer, experience)
        self.packing_seconds += time.perf_counter() - begin
        means = {key: float(np.mean([row[key] for row in history])) for key in (history or [{}])[0]}
        return means | diagnostics | experience_statistics(buffer, experience)

    def update(
        self, buffer: RolloutBuffer, experience: Experience, batch: PackedBatch
    ) -> dict[str, float]:
        """Takes one gradient step on one mini-batch and returns its losses."""
        advantages = experience.advantages
        if self.config.normalise_advantages:
            mean, deviation = self._advantage_scale(advantages[batch.positions])
            advantages = (advantages - mean) / (deviation + 1e-5)
        results = list(
            self.packer.map(
                lambda *of_shard: self._gradients(buffer, experience, advantages, *of_shard),
                batch.shards,
                batch.inputs,
            )
        )
        # Losses are means over a shard, so shards count by their size.
        shares = [len(shard.positions) / len(batch.positions) for shard in batch.shards]
        weighted = list(zip(shares, results, strict=True))
        gradients = [gradient * shares[0] for gradient in results[0][0]]
        for share, (more, _) in weighted[1:]:
            for gradient, addition in zip(gradients, more, strict=True):
                gradient.add_(addition, alpha=share)
        numbers = {
            name: sum(share * float(own[name]) for share, (_, own) in weighted)
            for name in results[0][1]
        }
        # The mean entropy too: it is all that the entropy coefficient's gradient depends on.
        numbers = self.group.average(gradients, numbers)
        if self.config.target_kl > 0.0:
            self.rate.adapt(numbers["approximate_kl"])
            self._set_rate()
        numbers["gradient_norm"] = self._descend(gradients)
        self.adapt_entropy(numbers["entropy"])
        self.updates += 1
        self.after_update(self.updates)
        return numbers

    def _set_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate.share * self._scheduled_rate

    def _advantage_scale(self, advantages: np.ndarray) -> tuple[float, float]:
        """Returns mean and standard deviation over the mini-batches of all ranks."""
        own = [len(advantages), float(advantages.mean()), float(advantages.var())]
        counts, means, variances = np.array(self.group.gather(own)).T
        mean = float(np.average(means, weights=counts))
        variance = np.average(variances + (means - mean) ** 2, weights=counts)
        return mean, float(np.sqrt(variance))

    def _gradients(
        self,
        buffer: RolloutBuffer,
        experience: Experience,
        advantages: np.ndarray,
        batch: MiniBatch,
        inputs: dict[str, Any],
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """Computes the loss's gradients on one shard; several threads may do so at once."""
        device = buffer.device
        rows = experience.slots[batch.positions]

        def column(values: np.ndarray) -> Tensor:
            return torch.as_tensor(values, device=device)

        result = self.policy.evaluate(**inputs)
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
            value_unit=self.policy.value_layer.deviation,
        )
        if self.cpca is not None:
            images = result.images
            assert images is not None  # _make_cpca saw to it
            extra = self.cpca(result.outputs, images, inputs["actions"], inputs["batch_sizes"])
            loss = loss + self.config.cpca.scale * extra
            numbers["cpca_loss"] = extra.detach()
        if self.estimator is not None:
            extra = self.estimator(result.outputs, inputs["observations"])
            loss = loss + self.config.state_estimation * extra
            numbers["state_estimation_loss"] = extra.detach()
        return list(torch.autograd.grad(loss, self.parameters)), numbers

    def _descend(self, gradients: list[Tensor]) -> float:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        norms = [_clip(*parameters_and_limit) for parameters_and_limit in self._clipped]
        if not math.isfinite(sum(norms)):
            raise GradientError(
                "The gradient is not finite; lower ppo.learning_rate, or look for extreme "
                "observations and rewards."
            )
        self.optimizer.step()
        return norms[0]

    def adapt_entropy(self, entropy: float) -> None:
        """Moves the entropy bonus towards its target, given the mean entropy in nats."""
        if not self.config.entropy.learned:
            return
        self.entropy_optimizer.zero_grad(set_to_none=True)
        # A target that the bound forbids would let the coefficient rise for ever: to 0.35 in
        # 1.3 million steps of Place.
        self.entropy.loss(entropy + self._out_of_reach).backward()
        self.entropy_optimizer.step()
        self.entropy.clamp()

    @property
    def _longest_sequence(self) -> int:
        plain = self.policy.state_size == 0 and self.cpca is None
        return 1 if plain and self.config.shuffle_steps else self.config.max_sequence_length

    def _follow_returns(self, experience: Experience) -> None:
        """Renews the deviation of returns; before learning, as no value changes by it."""
        layer = self.policy.value_layer
        if not layer.normalised:
            return
        fresh = experience.returns[~experience.stale]
        some = len(fresh) > 0
        own = [
            len(fresh),
            float(fresh.mean()) if some else 0.0,
            float(fresh.var()) if some else 0.0,
        ]
        layer.follow(torch.tensor(self.group.gather(own), dtype=torch.float64))

    def _update_normaliser(self, buffer: RolloutBuffer, experience: Experience) -> None:
        # Stale steps were counted when they were fresh.
        fresh = experience.slots[~experience.stale]
        slots = torch.as_tensor(fresh, device=buffer.device)
        for vectors, normaliser in self.policy.normalised():
            rows = {key: buffer.observations[key].index_select(0, slots) for key in vectors.keys}
            moments = vector_moments(vectors.join(rows))
            everyone = self.group.gather(moments.tolist())
            normaliser.merge(torch.tensor(everyone, dtype=torch.float64))


def _make_cpca(policy: ActorCritic, config: PPOConfig) -> CPCA | None:
    if not config.cpca.enabled:
        return None
    if policy.encoder is None:
        raise UserError(
            "ppo.cpca predicts image embeddings, and there is no image among the observations; "
            "set ppo.cpca.enabled=false."
        )
    cpca = CPCA(config.cpca, policy.network_config, policy.action_space)
    return cpca.to(policy.device)


def _clip(parameters: list[torch.nn.Parameter], limit: float) -> float:
    """Cuts the gradients' joint norm to `limit`, 0 for none, and returns what it was."""
    return float(torch.nn.utils.clip_grad_norm_(parameters, limit or math.inf))
