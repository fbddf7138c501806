"""Trains PPO with TorchRL on PointNav: `pip install torchrl`, then `python examples/torchrl_ppo.py [STEPS]`.

As examples/ppo.py it sees the direction to the goal and no image.
"""

import sys

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.data import LazyTensorStorage, SamplerWithoutReplacement, TensorDictReplayBuffer
from torchrl.envs import CatTensors, GymWrapper, TransformedEnv
from torchrl.modules import MLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import nav  # noqa: F401 - makes the ids known

GOAL = ["pointgoal_with_gps_compass", "pointgoal_direction"]
BATCH, EPOCHS = 512, 4


def main(steps: int = 50_000, seed: int = 0) -> list[float]:
    """Train; returns the mean reward of a step in each batch."""
    torch.manual_seed(seed)
    plain = gymnasium.make("rearrange/PointNav-v0", camera_size=16, max_steps=100)
    env = GymWrapper(plain, categorical_action_encoding=True)
    env = TransformedEnv(env, CatTensors(GOAL, "seen", del_keys=False))
    env.set_seed(seed)
    sizes = {"num_cells": [64, 64], "activation_class": nn.Tanh}
    scores = TensorDictModule(MLP(4, env.action_spec.n, **sizes), ["seen"], ["logits"])
    actor = ProbabilisticActor(
        scores, ["logits"], distribution_class=torch.distributions.Categorical, return_log_prob=True,
        spec=env.action_spec,
    )  # fmt: skip
    critic = ValueOperator(MLP(4, 1, **sizes), ["seen"])
    advantages = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic)
    optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)
    buffer = TensorDictReplayBuffer(
        storage=LazyTensorStorage(BATCH), sampler=SamplerWithoutReplacement(), batch_size=BATCH // 4
    )
    means = []
    for _ in range(max(1, steps // BATCH)):
        with torch.no_grad():
            batch = env.rollout(BATCH, actor, break_when_any_done=False)
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantages(batch)
            buffer.extend(batch)
            for part in buffer:
                losses = loss(part)
                optimiser.zero_grad()
                sum(value for key, value in losses.items() if key.startswith("loss_")).backward()
                optimiser.step()
        means.append(float(batch["next", "reward"].mean()))
        print(f"{len(means) * BATCH} steps: reward {means[-1]:.4f} a step", flush=True)
    env.close()
    return means


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
