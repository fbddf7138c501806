"""Action heads: from core outputs to distributions over actions.

Actions are rows [N, D]: floats in the Box's own units, or integers; a Tuple or Dict holds its parts
one after another as floats (ver/action_space.py). A Gaussian sample is not clipped here; it is
clipped to the Box only when it is sent to an environment, so its probability is that of the sample
that was drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional

from ver.action_space import (
    action_parts,
    action_widths,
    discrete_choices,
    has_bounds,
    is_composite,
)
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.ranges import SPREAD

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@dataclass
class Gaussian:
    """Independent normal distributions over the Box scaled to [-1, 1].

    Densities and entropies are those of the scaled action, so that they do not depend on units.

    Attributes:
        mean: [N, D] in scaled units.
        log_std: [N, D] or [D] in scaled units.
        centre: [D] middle of the Box.
        half_range: [D] half of the Box's width.
    """

    mean: Tensor
    log_std: Tensor
    centre: Tensor
    half_range: Tensor

    def sample(self) -> Tensor:
        """Draws actions [N, D] in the Box's units, not clipped."""
        noise = torch.randn_like(self.mean)
        return self.centre + self.half_range * (self.mean + self.log_std.exp() * noise)

    def mode(self) -> Tensor:
        """Returns the most likely actions [N, D]."""
        return self.centre + self.half_range * self.mean

    def log_prob(self, actions: Tensor) -> Tensor:
        """Returns the log-densities [N] of actions [N, D]."""
        return self.log_probs(actions).sum(-1)

    def log_probs(self, actions: Tensor) -> Tensor:
        """Returns the log-density of every number of actions [N, D]."""
        scaled = (actions - self.centre) / self.half_range
        deviation = (scaled - self.mean) * (-self.log_std).exp()
        return -0.5 * deviation.square() - self.log_std - _HALF_LOG_2PI

    def entropy(self) -> Tensor:
        """Returns the entropies [N] in nats."""
        return self.entropies().sum(-1)

    def entropies(self) -> Tensor:
        """Returns the entropy of every dimension [N, D] in nats."""
        return (self.log_std + 0.5 + _HALF_LOG_2PI).expand_as(self.mean)


@dataclass
class PartlyBinary:
    """A Gaussian of which some dimensions are binary: they take an end of the Box, nothing between.

    A Gaussian whose mean cannot leave the Box errs for ever: with a deviation of 0.4 a stop that is
    never meant still comes once in a hundred steps. Sums mix densities and probabilities, as
    Composite's do.

    Attributes:
        gaussian: Of all dimensions; those that are binary are ignored.
        logits: [N, D] of the upper end.
        binary: [D] bool.
        threshold: Probability of the upper end from which on `mode` takes it.
    """

    gaussian: Gaussian
    logits: Tensor
    binary: Tensor
    threshold: float = 0.5

    def sample(self) -> Tensor:
        """Draws actions [N, D] in the Box's units; other dimensions are not clipped."""
        upper = torch.rand_like(self.logits) < self.logits.sigmoid()
        return torch.where(self.binary, self._ends(upper), self.gaussian.sample())

    def mode(self) -> Tensor:
        """Returns the mean actions [N, D]; binary ones are on from the threshold on."""
        upper = self.logits > math.log(self.threshold / (1.0 - self.threshold))
        return torch.where(self.binary, self._ends(upper), self.gaussian.mode())

    def log_prob(self, actions: Tensor) -> Tensor:
        """Returns the log-densities [N] of actions [N, D]."""
        signs = torch.where(actions > self.gaussian.centre, 1.0, -1.0)
        chosen = functional.logsigmoid(signs * self.logits)
        return torch.where(self.binary, chosen, self.gaussian.log_probs(actions)).sum(-1)

    def entropy(self) -> Tensor:
        """Returns the entropies [N] in nats."""
        upper, logits = self.logits.sigmoid(), self.logits
        entropies = functional.softplus(-logits) + (1.0 - upper) * logits
        return torch.where(self.binary, entropies, self.gaussian.entropies()).sum(-1)

    def _ends(self, upper: Tensor) -> Tensor:
        signs = torch.where(upper, 1.0, -1.0)
        return self.gaussian.centre + self.gaussian.half_range * signs


@dataclass
class Categorical:
    """Independent categorical distributions, one for each action dimension.

    Attributes:
        log_probs: One [N, choices] table of normalised log-probabilities per dimension.
    """

    log_probs: list[Tensor]

    def sample(self) -> Tensor:
        """Draws actions [N, D] int64."""
        return torch.cat([torch.multinomial(table.exp(), 1) for table in self.log_probs], -1)

    def mode(self) -> Tensor:
        """Returns the most likely actions [N, D] int64."""
        return torch.stack([table.argmax(-1) for table in self.log_probs], -1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Returns the log-probabilities [N] of actions [N, D]."""
        parts = [
            table.gather(-1, actions[:, index : index + 1].long())
            for index, table in enumerate(self.log_probs)
        ]
        return torch.cat(parts, -1).sum(-1)

    def entropy(self) -> Tensor:
        """Returns the entropies [N] in nats."""
        return torch.stack([-(table.exp() * table).sum(-1) for table in self.log_probs]).sum(0)


@dataclass
class Composite:
    """Independent distributions side by side: log-probabilities and entropies are sums.

    A sum of densities' logs (of scaled Box actions) and probabilities' logs is itself the log of a
    density, over the product of a Box and a set of choices; ratios of two policies are sound.

    Attributes:
        parts: The distributions, in the order of the action's parts.
        widths: How many numbers of the action row each of them owns.
    """

    parts: list[Gaussian | PartlyBinary | Categorical]
    widths: list[int]

    def sample(self) -> Tensor:
        """Draws actions [N, D] float32; choices are whole numbers."""
        return torch.cat([part.sample().float() for part in self.parts], -1)

    def mode(self) -> Tensor:
        """Returns the most likely actions [N, D] float32."""
        return torch.cat([part.mode().float() for part in self.parts], -1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Returns the log-probabilities [N] of actions [N, D]."""
        rows = actions.split(self.widths, -1)
        parts = [part.log_prob(row) for part, row in zip(self.parts, rows, strict=True)]
        return torch.stack(parts).sum(0)

    def entropy(self) -> Tensor:
        """Returns the entropies [N] in nats."""
        return torch.stack([part.entropy() for part in self.parts]).sum(0)


Distribution = Gaussian | PartlyBinary | Categorical | Composite


class GaussianHead(nn.Module):
    """A tanh mean, and a log standard deviation that is free or depends on the state.

    The dimensions in `network.binary_actions` take an end of the Box; their tanh mean is the
    expectation of that.

    Args:
        inputs: Width of the core's output.
        space: A bounded Box [D].
        config: Network settings.
    """

    def __init__(self, inputs: int, space: spaces.Box, config: NetworkConfig):
        super().__init__()
        self.config = config
        if not (has_bounds(space) and (space.low < space.high).all()):
            raise UserError("The action Box must have finite bounds, low < high; give both.")
        size = int(np.prod(space.shape))
        low = torch.as_tensor(space.low.reshape(-1), dtype=torch.float32)
        high = torch.as_tensor(space.high.reshape(-1), dtype=torch.float32)
        self.register_buffer("centre", (high + low) / 2)
        self.register_buffer("half_range", (high - low) / 2)
        if not 0.0 < config.binary_threshold < 1.0:
            raise UserError("network.binary_threshold must lie between 0 and 1.")
        binary = _binary(config.binary_actions, size)
        self.register_buffer("binary", binary, persistent=False)
        self.mean = nn.Linear(inputs, size)
        nn.init.orthogonal_(self.mean.weight, 0.01)
        with torch.no_grad():
            self.mean.bias.copy_(torch.atanh(_initial_mean(config.initial_mean, size)))
        self.log_std_head: nn.Linear | None = None
        if config.log_std == "state":
            head = nn.Linear(inputs, size)
            nn.init.orthogonal_(head.weight, 0.01)
            nn.init.constant_(head.bias, config.initial_log_std)
            self.log_std_head = head
        elif config.log_std == "free":
            self.log_std = nn.Parameter(torch.full((size,), config.initial_log_std))
        else:
            raise UserError(f"Unknown network.log_std '{config.log_std}'; valid: free, state.")

    def forward(self, x: Tensor) -> Gaussian | PartlyBinary:
        """Maps core outputs [N, inputs] to a distribution."""
        log_std = self.log_std if self.log_std_head is None else self.log_std_head(x)
        log_std = log_std.clamp(SPREAD.low, SPREAD.high)
        raw = self.mean(x)
        mean = torch.tanh(raw)
        gaussian = Gaussian(mean, log_std, self.centre, self.half_range)  # pyright: ignore
        if not self.config.binary_actions:
            return gaussian
        # sigmoid(2 raw) of the upper end and the rest of the lower one have the mean tanh(raw)
        threshold = self.config.binary_threshold
        return PartlyBinary(gaussian, 2.0 * raw, self.binary, threshold)  # pyright: ignore


def _initial_mean(values: Any, size: int) -> Tensor:
    """The mean actions [D] with which a Box's head begins, in scaled units."""
    if not isinstance(values, (list, tuple)) or not all(
        isinstance(value, (int, float)) for value in values
    ):
        raise UserError(f"network.initial_mean must be a list of numbers, found {values}.")
    if values and len(values) != size:
        raise UserError(
            f"network.initial_mean must have one number for each of the Box's {size} actions, "
            f"found {len(values)}."
        )
    if not all(-1.0 < value < 1.0 for value in values):
        raise UserError(f"network.initial_mean must lie between -1 and 1, found {values}.")
    return torch.tensor(values or [0.0] * size, dtype=torch.float32)


def _binary(indices: list[int], size: int) -> Tensor:
    """Returns which dimensions of a Box [D] are binary, bool."""
    known = range(size)
    if len(set(indices)) < len(indices) or not all(index in known for index in indices):
        raise UserError(
            f"network.binary_actions must be different numbers from 0 to {size - 1}, found "
            f"{indices}."
        )
    binary = torch.zeros(size, dtype=torch.bool)
    binary[indices] = True
    return binary


class CategoricalHead(nn.Module):
    """Logits for one or several discrete action dimensions.

    Args:
        inputs: Width of the core's output.
        choices: Number of choices in each dimension.
    """

    def __init__(self, inputs: int, choices: list[int]):
        super().__init__()
        self.choices = choices
        self.logits = nn.Linear(inputs, sum(choices))
        nn.init.orthogonal_(self.logits.weight, 0.01)
        nn.init.zeros_(self.logits.bias)

    def forward(self, x: Tensor) -> Categorical:
        """Maps core outputs [N, inputs] to a distribution."""
        tables = self.logits(x).split(self.choices, -1)
        return Categorical([table.log_softmax(-1) for table in tables])


class CompositeHead(nn.Module):
    """One head for each part of a Tuple or Dict.

    Args:
        inputs: Width of the core's output.
        space: A flat Tuple or Dict.
        config: Network settings.
    """

    def __init__(self, inputs: int, space: spaces.Space, config: NetworkConfig):
        super().__init__()
        self.widths = action_widths(space)
        self.parts = nn.ModuleList(_make_part(inputs, part, config) for part in action_parts(space))

    def forward(self, x: Tensor) -> Composite:
        """Maps core outputs [N, inputs] to a distribution."""
        return Composite([part(x) for part in self.parts], self.widths)


def make_head(inputs: int, space: spaces.Space, config: NetworkConfig) -> nn.Module:
    """Builds the head for an action space.

    Raises:
        UserError: Settings are for a Box, and there is none, or they do not fit it.
    """
    if not any(isinstance(part, spaces.Box) for part in action_parts(space)):
        for name in ("binary_actions", "initial_mean"):
            if getattr(config, name):
                raise UserError(
                    f"network.{name} is for actions of a Box, found {space}; leave it out."
                )
    if is_composite(space):
        return CompositeHead(inputs, space, config)
    return _make_part(inputs, space, config)


def _make_part(inputs: int, space: spaces.Space, config: NetworkConfig) -> nn.Module:
    if isinstance(space, spaces.Box):
        return GaussianHead(inputs, space, config)
    return CategoricalHead(inputs, discrete_choices(space))
