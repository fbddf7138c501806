"""Trains with Stable-Baselines3.

`pip install stable-baselines3`, then `python examples/stable_baselines.py`. It takes for an image what is
of bytes, and at least 36 pixels wide; depth in floats it would see as a list of numbers.
"""

import sys

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO

import rearrange  # noqa: F401 - makes the ids known


class DepthAsBytes(gymnasium.ObservationWrapper):
    """Depth from 0 to 1 as bytes."""

    def __init__(self, env):
        super().__init__(env)
        parts = dict(env.observation_space.spaces)
        parts["head_depth"] = spaces.Box(0, 255, parts["head_depth"].shape, np.uint8)
        self.observation_space = spaces.Dict(parts)

    def observation(self, observation):
        """Convert what is seen."""
        return observation | {"head_depth": np.uint8(255.0 * observation["head_depth"])}


def main(steps: int = 20_000) -> PPO:
    """Train PPO on Open Fridge for a while; returns the model."""
    env = DepthAsBytes(gymnasium.make("rearrange/OpenFridge-v0", camera_size=64))
    model = PPO(
        "MultiInputPolicy", env, n_steps=256, batch_size=64, verbose=1, seed=0, device="cpu"
    )
    model.learn(steps)
    env.close()
    return model


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
