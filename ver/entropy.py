"""The learned entropy coefficient, and a bound on the log standard deviation of actions."""

from __future__ import annotations

import math

import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.action_space import action_parts
from ver.config import EntropyConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic

DISCRETE = 0.01  # usual for Atari (Mnih et al. 2016)


def initial_coefficient(config: EntropyConfig, action_space: spaces.Space) -> float:
    """Returns the coefficient at the start, by the kind of actions where the settings leave it open.

    One that is learned begins above 0 with a Box, too. Of a Tuple or Dict all parts have the one
    coefficient: it is that of a Box only where all of them are.
    """
    if config.initial is not None:
        return config.initial
    boxes = all(isinstance(part, spaces.Box) for part in action_parts(action_space))
    return 0.0 if boxes and not config.learned else DISCRETE


class EntropyCoefficient(nn.Module):
    """alpha = exp(log_alpha), which rises while the policy's entropy is below its target.

    Its loss is alpha * (entropy - target), in which the entropy is a constant: the gradient with
    respect to log_alpha is negative below the target, so descent raises alpha. (VER, section 4,
    prints alpha * (target - entropy), whose descent would do the opposite; Haarnoja et al. 2018
    have the sign used here.) log_alpha starts within its bounds and is kept there.

    Args:
        config: Bounds, target and step size.
        action_space: Of the policy, on which the default depends.

    Raises:
        UserError: If the bounds are impossible.
    """

    def __init__(self, config: EntropyConfig, action_space: spaces.Space):
        super().__init__()
        if not 0.0 < config.minimum <= config.maximum:
            raise UserError("ppo.entropy needs 0 < minimum <= maximum.")
        self.config = config
        self.action_space = action_space
        initial = initial_coefficient(config, action_space)
        self.log_alpha = nn.Parameter(torch.tensor(math.log(max(initial, 1e-12))))
        self.clamp()

    @property
    def value(self) -> float:
        """The coefficient; exactly the configured one when it is not learned."""
        if self.config.learned:
            return float(self.log_alpha.detach().exp())
        return initial_coefficient(self.config, self.action_space)

    def loss(self, entropy: float) -> Tensor:
        """Returns the coefficient's own loss for a mean entropy."""
        return self.log_alpha.exp() * (entropy - self.config.target)

    @torch.no_grad()
    def clamp(self) -> None:
        """Puts the coefficient back within its bounds."""
        self.log_alpha.clamp_(math.log(self.config.minimum), math.log(self.config.maximum))


@torch.no_grad()
def limit_log_std(policy: ActorCritic, largest: float) -> float:
    """Cuts the free log standard deviations of a policy's actions.

    Returns:
        The entropy of Gaussian actions of the largest deviation, in nats, summed over dimensions.

    Raises:
        UserError: It has none: its actions are discrete or composite, or theirs are computed from the state.
    """
    log_std = getattr(policy.head, "log_std", None)
    if not isinstance(log_std, nn.Parameter):
        raise UserError(
            "ppo.final_log_std bounds the deviation of actions that are one Box, no Tuple or Dict, with "
            "network.log_std=free; leave it out."
        )
    log_std.clamp_(max=largest)
    return log_std.numel() * (largest + 0.5 * math.log(2 * math.pi * math.e))
