"""State estimation, as an auxiliary loss: the policy's core learns to tell what only its critic is told.

From the core's output a small network predicts the critic's own observations, in standard deviations. Its
gradients reach core and encoder, which so learn to find out, and to remember, what a simulator knows and the
policy does not. Mirowski et al. 2017 predict depth and closed loops so, Ji et al. 2022 train an estimator of a
robot's state beside its policy; nothing but the idea is theirs.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from ver.errors import UserError
from ver.networks.critic import InformedCritic
from ver.networks.policy import ActorCritic


class StateEstimator(nn.Module):
    """The network of the auxiliary loss, which no exported policy needs.

    Args:
        policy: Whose critic is told something (`network.critic_only`).

    Raises:
        UserError: It is not.
    """

    def __init__(self, policy: ActorCritic):
        super().__init__()
        if not isinstance(policy.critic, InformedCritic):
            raise UserError(
                "ppo.state_estimation predicts what only the critic is told: name that in "
                "network.critic_only, with network.separate_critic=false, or set ppo.state_estimation=0."
            )
        inputs, hidden = policy.network_config.output_size, policy.network_config.hidden_size
        self._told = policy.critic.told  # a bound method: the critic is no part of this
        self.estimate = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, policy.critic.vectors.width)
        )

    def forward(self, outputs: Tensor, observations: dict[str, Tensor]) -> Tensor:
        """Returns the mean over steps and numbers of Huber's loss, in standard deviations.

        Args:
            outputs: [M, hidden] of the core.
            observations: {key: [M, ...]}, the critic's own among them.
        """
        return functional.huber_loss(self.estimate(outputs), self._told(observations))
