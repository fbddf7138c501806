"""Critics: value estimates from the core's output, and from observations that the policy never sees."""

from __future__ import annotations

import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.config import NetworkConfig
from ver.networks.normaliser import RunningNormaliser
from ver.networks.vectors import VectorInputs


class Critic(nn.Linear):
    """One linear layer on the core's output.

    Args:
        inputs: Width of the core's output.
    """

    def __init__(self, inputs: int):
        super().__init__(inputs, 1)
        nn.init.orthogonal_(self.weight)
        nn.init.zeros_(self.bias)

    def rate(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns values [N] for outputs of the core [N, inputs]."""
        del observations
        return self(outputs)[:, 0]


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
        self.normaliser = RunningNormaliser(self.vectors.width)
        width, hidden = config.hidden_size + self.vectors.width, config.hidden_size
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.value = Critic(hidden)

    def rate(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns values [N] for outputs of the core [N, hidden_size] and what was observed."""
        told = self.normaliser(self.vectors.join(observations))
        return self.value.rate(self.mlp(torch.cat([outputs, told], -1)), observations)
