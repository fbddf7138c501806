"""Worlds that only count, and environments over them."""

import numpy as np
from gymnasium import spaces

from rearrange.errors import UserError
from rearrange.shell import TaskEnv
from rearrange.vector_shell import TaskVectorEnv


class Counters:
    """Worlds that count up to a length, which their seed decides; the action is what each step is worth."""

    observation_space = spaces.Dict({"count": spaces.Box(0, 99, (1,), np.float32)})
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
    remembers = False

    def __init__(self, count, repeat=1):
        self.repeat, self.episodes = repeat, [None] * count
        self.counts, self.asked = np.zeros(count), []
        self.closed = 0

    def reset(self, i, rng, seed=None, number=None):
        self.asked.append((i, seed, number))
        self.put(i, 2 + int(rng.integers(4)))

    def put(self, i, episode):
        if episode < 1:
            raise UserError("too short")
        self.episodes[i], self.counts[i] = episode, 0.0

    def take(self, action, shape):
        assert np.shape(action) == shape
        self.taken = np.reshape(action, -1)

    def step(self):
        self.counts += 1.0
        over = self.counts >= np.array(self.episodes, float)
        return self.taken.astype(float), over & (self.taken > 0), over & (self.taken <= 0)

    def observe(self):
        return {"count": self.counts[:, None].astype(np.float32)}

    def observe_again(self, observation, ids):
        observation["count"][ids] = self.counts[ids, None]
        return observation

    def metrics(self, i):
        return {"success": float(self.taken[i] > 0), "length": float(self.counts[i])}

    def painter(self, i):
        drawn = []
        return lambda: np.array([i, drawn.append(0) or len(drawn)])

    def close(self):
        self.closed += 1


class Single(TaskEnv):
    """One of them."""


class Many(TaskVectorEnv):
    """Many."""

    SINGLE = Single
