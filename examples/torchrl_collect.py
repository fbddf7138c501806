"""Collects experience with TorchRL: `pip install torchrl`, then `python examples/torchrl_collect.py`."""

import sys

import gymnasium
from tensordict import TensorDict
from torchrl.envs import GymWrapper

import rearrange  # noqa: F401 - makes the ids known


def main(steps: int = 50) -> TensorDict:
    """Play random actions in Close Cabinet; returns what was met, [steps]."""
    env = GymWrapper(gymnasium.make("rearrange/CloseCab-v0", split="train", camera_size=32))
    env.set_seed(0)
    rollout = env.rollout(steps, break_when_any_done=False)
    print(rollout)
    env.close()
    return rollout


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
