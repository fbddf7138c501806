"""Critics: value estimates from the core's output, and from observations that the policy never sees."""

from __future__ import annotations

import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.branches import Branches
from ver.networks.normaliser import RunningNormaliser
from ver.networks.recurrent import make_mlp, mlp_widths
from ver.networks.vectors import VectorInputs

MEMORY = 10.0  # rollouts
LEAST_VARIANCE = 1e-6  # of returns: where there is no reward they are all the same


class Critic(nn.Linear):
    """One linear layer on the core's output.

    Where returns are normalised it predicts them in standard deviations, and `rate` gives values in
    the rewards' own units. The deviation follows the returns; weights and bias make up for it, so
    that no value changes (PopArt, van Hasselt et al. 2016). Their mean is not taken off.

    Args:
        inputs: Width of the core's output.
        normalised: Normalise returns.
    """

    def __init__(self, inputs: int, normalised: bool = False):
        super().__init__(inputs, 1)
        nn.init.orthogonal_(self.weight)
        nn.init.zeros_(self.bias)
        self.normalised = normalised
        self.variance: Tensor
        self.count: Tensor  # of rollouts that the variance is of, up to MEMORY
        if normalised:  # else checkpoints stay as they were before there was this
            self.register_buffer("variance", torch.ones(()))
            self.register_buffer("count", torch.zeros(()))

    @property
    def deviation(self) -> float:
        """The unit of the layer's output: 1 where returns are not normalised."""
        return float(self.variance) ** 0.5 if self.normalised else 1.0

    def rate(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns values [N] for outputs of the core [N, inputs]."""
        del observations
        values = self(outputs)[:, 0]
        return values * self.variance.sqrt() if self.normalised else values

    @torch.no_grad()
    def follow(self, moments: Tensor) -> None:
        """Takes a rollout's returns into account, without changing any value.

        Args:
            moments: [K, 3] counts, means and variances of K sets of returns.
        """
        if not float(moments[:, 0].sum()):
            return
        shares = moments[:, 0] / moments[:, 0].sum()
        mean = (shares * moments[:, 1]).sum()
        variance = (shares * (moments[:, 2] + (moments[:, 1] - mean).square())).sum()
        count = min(float(self.count) + 1.0, MEMORY)
        before = float(self.variance)
        # Of each rollout alone: how far the mean has come since the start would hide how little
        # returns differ now, and errors as large as these differences would count for nothing
        after = max(before + (float(variance) - before) / count, LEAST_VARIANCE)
        for parameter in (self.weight, self.bias):
            parameter.mul_((before / after) ** 0.5)
        self.variance.fill_(after)
        self.count.fill_(count)


class SeparateCritic(nn.Module):
    """An MLP of the policy's shape on all 1-D observations, those for the critic alone among them.

    Args:
        space: Of all observations.
        config: Shape of the MLP.

    Raises:
        UserError: There is something that such an MLP does not see: an image, or what an LSTM remembers.
    """

    def __init__(self, space: spaces.Dict, config: NetworkConfig):
        super().__init__()
        keys = [key for key, box in space.spaces.items() if len(box.shape or ()) == 1]
        if len(keys) < len(space.spaces) or config.memory != "none":
            raise UserError(
                "network.separate_critic=true is for 1-D observations and network.memory=none."
            )
        self.vectors = VectorInputs(space, keys, config)
        self.normaliser = _make_normaliser(self.vectors.width, config)
        self.branches = Branches(space, keys, config) if config.branches else None
        width = self.vectors.width if self.branches is None else self.branches.width
        self.mlp = make_mlp(width, mlp_widths(config), config.activation)
        self.value = Critic(config.output_size, config.normalise_returns)

    def rate(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns values [N] for what was observed."""
        del outputs
        vectors = self.normaliser(self.vectors.join(observations))
        vectors = vectors if self.branches is None else self.branches(vectors)
        return self.value.rate(self.mlp(vectors), {})


class InformedCritic(nn.Module):
    """An MLP on the core's output and on 1-D observations that are the critic's alone.

    A value function is only needed in training, so it may know what a deployed policy cannot
    (asymmetric actor-critic, Pinto et al. 2018).

    Args:
        space: Of all observations.
        config: Names them in `critic_only`.

    Raises:
        UserError: `critic_only` names what is not there.
    """

    def __init__(self, space: spaces.Dict, config: NetworkConfig):
        super().__init__()
        self.vectors = VectorInputs(space, list(config.critic_only), NetworkConfig())
        self.normaliser = _make_normaliser(self.vectors.width, config)
        width, hidden = config.output_size + self.vectors.width, config.hidden_size
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.value = Critic(hidden, config.normalise_returns)

    def rate(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns values [N] for outputs of the core [N, output_size] and what was observed."""
        inputs = torch.cat([outputs, self.told(observations)], -1)
        return self.value.rate(self.mlp(inputs), observations)

    def told(self, observations: dict[str, Tensor]) -> Tensor:
        """Returns the critic's own observations [N, width], normalised unless settings say no."""
        return self.normaliser(self.vectors.join(observations))


def _make_normaliser(width: int, config: NetworkConfig) -> nn.Module:
    return RunningNormaliser(width) if config.normalise_vectors else nn.Identity()


def make_critic(
    space: spaces.Dict, config: NetworkConfig
) -> Critic | InformedCritic | SeparateCritic:
    """Builds the critic that the settings ask for, on observations of a space."""
    if config.separate_critic:
        return SeparateCritic(space, config)
    if config.critic_only:
        return InformedCritic(space, config)
    return Critic(config.output_size, config.normalise_returns)
