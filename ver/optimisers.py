"""Optimisers and learning rates: Adam, Lamb, scaling with the batch, schedules."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from ver.config import PPOConfig
from ver.errors import UserError

NOT_COMPILED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")


def leave_out_compiler() -> None:
    """Keep the first optimiser of a process from importing PyTorch's compiler, which takes seconds.

    PyTorch marks these methods as none to compile. What its compiler makes of such a method it keeps beside
    the method, and imports the compiler where nothing is there. Without compiling, that is the method itself.
    """
    for name in NOT_COMPILED:
        method = getattr(getattr(torch.optim.Optimizer, name), "__wrapped__", None)
        if method is not None:  # else another version of PyTorch, which may import it
            method.__dict__.setdefault("__dynamo_disable", method)


leave_out_compiler()


class Adam(torch.optim.Adam):
    """Adam as PyTorch has it, bit for bit; its step imports no compiler (`leave_out_compiler`)."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.Adam.step))


class Lamb(torch.optim.Optimizer):
    """Adam's direction, scaled for each tensor by a clipped trust ratio (BPS, section 3.4).

    With Adam's bias-corrected direction s and weight decay l, a tensor w moves by
    -rate * r * (s + l * w), where r = min(|w|, 10) / |s + l * w| is kept within [rho, 1 / rho].

    Vectors (biases, normalisations, layer scales, Fixup's scalars, a free spread) have rho = 1 as
    in BPS, appendix B: the ratio is then always 1, and Lamb is AdamW.

    Args:
        parameters: What to optimise.
        lr: Step size.
        betas: Adam's averaging factors.
        eps: Adam's denominator guard.
        weight_decay: l, of every parameter.
        rho: Lower bound of the matrices' trust ratio, in (0, 1]; 1 / rho is the upper one.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-5,
        weight_decay: float = 1e-2,
        rho: float = 1e-2,
    ):
        everything = list(parameters)
        matrices = [parameter for parameter in everything if parameter.ndim > 1]
        vectors = [parameter for parameter in everything if parameter.ndim <= 1]
        groups = [
            {"params": part, "rho": bound}
            for part, bound in ((matrices, rho), (vectors, 1.0))
            if part
        ]
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # pyright: ignore
        """Takes one step with the parameters' gradients."""
        del closure
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        state["step"] += 1
        count, (beta1, beta2) = float(state["step"]), group["betas"]
        mean = state["exp_avg"].lerp_(gradient, 1.0 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(gradient, gradient, value=1.0 - beta2)
        deviation = (square / (1.0 - beta2**count)).sqrt_().add_(group["eps"])
        direction = (mean / deviation).div_(1.0 - beta1**count)
        direction.add_(parameter, alpha=group["weight_decay"])
        rho = group["rho"]
        # Tensors throughout: a number would make the CPU wait for the GPU at each parameter.
        ratio = parameter.norm().clamp(max=10.0) / direction.norm().clamp(min=1e-12)
        parameter.sub_(direction.mul_(ratio.clamp(rho, 1.0 / rho)), alpha=group["lr"])


def make_optimiser(
    config: PPOConfig, parameters: Iterable[torch.nn.Parameter]
) -> torch.optim.Optimizer:
    """Builds the optimiser called `config.optimizer`.

    Raises:
        UserError: If there is no such optimiser.
    """
    rate, eps, betas = config.learning_rate, config.adam_epsilon, (config.adam_beta1, 0.999)
    if config.optimizer == "adam":
        return Adam(parameters, rate, betas, eps)
    if config.optimizer == "lamb":
        decay, rho = config.lamb_weight_decay, config.lamb_rho
        return Lamb(parameters, rate, betas, eps, decay, rho)
    raise UserError(f"Unknown ppo.optimizer '{config.optimizer}'; valid: adam, lamb.")


def learning_rate_scale(batch_size: int, base_batch_size: int) -> float:
    """Returns sqrt(B / B_base), by which BPS (section 3.4) scales the learning rate, unwarmed.

    Args:
        batch_size: B, steps in one update, over all learners.
        base_batch_size: B_base, steps for which the unscaled rate was found.
    """
    return math.sqrt(batch_size / base_batch_size)


def scheduled_rate(config: PPOConfig, progress: float, batch_size: int) -> float:
    """Returns the learning rate after a fraction of training.

    With the scaled rate S (the base rate itself without `scale_learning_rate`), "constant" is S,
    "cosine" is S * (1 + cos(pi * p)) / 2, and "to_base", BPS's own, goes from S to the base rate
    along a cosine over the first half of training and stays there.

    Args:
        config: Names base rate, scaling and schedule.
        progress: p, the fraction of the training steps done, cut to [0, 1].
        batch_size: Steps in one update, over all learners.

    Raises:
        UserError: If there is no such schedule.
    """
    base = scaled = config.learning_rate
    if config.scale_learning_rate:
        scaled = base * learning_rate_scale(batch_size, config.base_batch_size)
    progress = min(max(progress, 0.0), 1.0)
    if config.schedule == "constant":
        return scaled
    if config.schedule == "cosine":
        return scaled * _half_cosine(progress)
    if config.schedule == "to_base":
        return base + (scaled - base) * _half_cosine(min(1.0, 2.0 * progress))
    raise UserError(f"Unknown ppo.schedule '{config.schedule}'; valid: constant, cosine, to_base.")


class AdaptiveRate:
    """A share of the schedule's learning rate that keeps the policy's KL divergence near a target.

    A fixed rate cannot: how far a step moves the policy grows as the deviation of its actions
    falls. The rule is that of Rudin et al. (arXiv:2109.11978), but never above the schedule's rate.

    Attributes:
        share: In [0.01, 1]; 1 without a target.
    """

    FIRST, SMALLEST, FACTOR = 0.1, 0.01, 1.5

    def __init__(self, target_kl: float) -> None:
        """Begin with a tenth of the rate; a target of 0 or less is none."""
        self.target = target_kl
        self.share = self.FIRST if target_kl > 0.0 else 1.0

    def adapt(self, divergence: float) -> None:
        """Lower the share above twice the target, raise it below half of it."""
        if divergence > 2.0 * self.target:
            self.share = max(self.share / self.FACTOR, self.SMALLEST)
        elif divergence < 0.5 * self.target:
            self.share = min(self.share * self.FACTOR, 1.0)


def _half_cosine(progress: float) -> float:
    return (1.0 + math.cos(math.pi * progress)) / 2.0
