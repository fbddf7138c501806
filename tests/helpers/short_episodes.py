"""An environment whose episodes and rewards are known beforehand."""

import gymnasium
import numpy as np


class Counting(gymnasium.Env):
    """Is cut off after two steps or ends, in turn; the rewards are 1, 2, 3 and so on."""

    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        over = self.steps % 2 == 0
        ended = over and self.steps % 4 == 0
        return np.zeros(1, np.float32), float(self.steps), ended, over and not ended, {}
