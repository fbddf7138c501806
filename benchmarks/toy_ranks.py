"""The toy task of `benchmarks.preemption`; imports no torch.

A cue of -1 or 1 is shown at the first of four steps,
and every action must share its sign. A step sleeps for a while, which costs no processor time, so more
ranks than cores do not slow each other's simulation down.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import gymnasium
import numpy as np
from gymnasium import spaces

LENGTH = 4  # steps of an episode


class SleepyCue(gymnasium.Env):
    """Remember the cue; each step takes `step_s` seconds of sleep."""

    def __init__(self, step_s: float):
        """Spaces and the length of the nap."""
        self.step_s = step_s
        self.observation_space = spaces.Dict({"cue": spaces.Box(-2, 2, (2,), np.float32)})
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        """Show a new cue."""
        super().reset(seed=seed)
        self.cue = float(self.np_random.choice([-1.0, 1.0]))
        self.count, self.total = 0, 0.0
        return {"cue": np.array([self.cue, 1.0], np.float32)}, {}

    def step(self, action):
        """Sleep, and reward an action of the cue's sign."""
        time.sleep(self.step_s)
        self.count += 1
        reward = float(np.sign(action[0])) * self.cue / LENGTH
        self.total += reward
        done = self.count >= LENGTH
        info = {"metrics": {"success": float(self.total > 0.8)}} if done else {}
        return {"cue": np.zeros(2, np.float32)}, reward, done, False, info


@dataclass(frozen=True)
class SleepyCues:
    """Makes the environments; those of the last ranks are slower."""

    step_s: float
    slow_factor: float
    slow_ranks: int

    def __call__(self, environment_index: int, seed: int) -> SleepyCue:
        """One environment."""
        slow = int(os.environ["RANK"]) >= int(os.environ["WORLD_SIZE"]) - self.slow_ranks
        return SleepyCue(self.step_s * (self.slow_factor if slow else 1.0))
