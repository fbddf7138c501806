import time

import gymnasium
import numpy as np
import pytest

from benchmarks import waiting
from benchmarks.waiting import MOST_WAIT_S, WaitingEnvironments


class Busy(gymnasium.Env):
    """Computes for as many seconds as its action says."""

    observation_space = action_space = gymnasium.spaces.Box(0, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        begin = time.thread_time()
        while time.thread_time() - begin < action:
            pass
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_what_is_slow_to_compute_is_slow_to_wait_for(monkeypatch):
    waited = []
    monkeypatch.setattr(waiting.time, "sleep", waited.append)
    env = WaitingEnvironments(lambda index, seed: Busy(), 5.0)(0, 1)
    env.reset()
    for seconds in (0.01, 0.04, 0.2):
        env.step(seconds)
    assert waited[:2] == pytest.approx([0.05, 0.2], rel=0.2)
    assert waited[2] == MOST_WAIT_S
