"""Trains with Stable-Baselines3.

`pip install stable-baselines3`, then `python examples/stable_baselines.py`.
"""

import sys

import gymnasium
from stable_baselines3 import PPO

import rearrange  # noqa: F401 - makes the ids known


def main(steps: int = 20_000) -> PPO:
    """Train PPO on Open Fridge for a while; returns the model."""
    env = gymnasium.make("rearrange/OpenFridge-v0", camera_size=32)
    model = PPO(
        "MultiInputPolicy", env, n_steps=256, batch_size=64, verbose=1, seed=0, device="cpu"
    )
    model.learn(steps)
    env.close()
    return model


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
