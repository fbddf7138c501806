"""The paper's settings of the learner: its table 4 and section 4.2, as `key=value`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

AGENTS = 1024  # for which table 4 is written


class Row(NamedTuple):
    """A column of table 4.

    Attributes:
        timesteps: In a batch, of each of AGENTS robots.
        epochs: Passes over a batch.
        minibatch: Timesteps of each robot in a mini-batch.
        divergence: Desired KL divergence.
        widths: Of the layers of policy and value network.
        branches: Widths of the layers that observations go through before, each by its name.
        agents: Of the paper.
    """

    timesteps: int
    epochs: int
    minibatch: int
    divergence: float
    widths: tuple[int, ...]
    branches: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    agents: int = AGENTS


TABLE_4 = {
    "ant": Row(32, 20, 16, 0.01, (128, 64, 32)),
    "humanoid": Row(32, 20, 32, 0.02, (256, 128, 64)),
    "humanoid_flagrun": Row(64, 10, 32, 0.01, (512, 256, 128)),
    # Its section 4.5: 512 agents, as the map takes much memory
    "humanoid_terrain": Row(
        *(64, 20, 8, 0.01, (256, 128)), {"observation": (512,), "heights": (256, 128)}, agents=512
    ),
}
# The paper gives none of these: a ceiling for the rate that follows the divergence, no bonus for entropy, and
# the spread of actions at the start
OURS = (
    *("ppo.learning_rate=3e-3", "ppo.schedule=constant", "ppo.entropy.initial=0"),
    "network.initial_log_std=0",
)


def settings(task: str, count: int = 0) -> list[str]:
    """The settings for a task; the same frames in an update for any number of agents, as in the paper.

    Args:
        task: Of TABLE_4.
        count: Agents; 0 takes the paper's.
    """
    row = TABLE_4[task]
    agents = count or row.agents
    return [
        "system=batched",
        f"collect.num_environments={agents}",
        f"collect.rollout_length={max(1, row.timesteps * AGENTS // agents)}",
        f"ppo.epochs={row.epochs}",
        f"ppo.mini_batches={row.timesteps // row.minibatch}",
        f"ppo.target_kl={row.divergence}",
        f"network.widths={_listed(row.widths)}",
        *(f"network.branches.{key}={_listed(widths)}" for key, widths in row.branches.items()),
        "network.activation=selu",
        "network.separate_critic=true",
        "network.vector_features=0",
        *OURS,
    ]


def _listed(widths: Sequence[int]) -> str:
    return f"[{','.join(map(str, widths))}]"
