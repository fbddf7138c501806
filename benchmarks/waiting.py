"""Environments that add up the seconds that they take, or wait after each step; must not import torch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

MOST_WAIT_S = 0.5  # of `Waiting`: a first step compiles


class Timed(gymnasium.Wrapper):
    """Adds up the seconds that an environment spends in its steps and resets.

    Args:
        env: The environment.
        path: A file of float64, one number for each environment, shared by all processes.
        index: Which of them is this one's.
    """

    def __init__(self, env: gymnasium.Env, path: str, index: int):
        """Map the file."""
        super().__init__(env)
        # An array: memmap's own indexing is slow.
        self.seconds = np.asarray(np.memmap(path, np.float64, "r+"))
        self.index = index

    def reset(self, **arguments):
        """Reset, timed."""
        return self._timed(lambda: self.env.reset(**arguments))

    def step(self, action):
        """Step, timed."""
        return self._timed(lambda: self.env.step(action))

    def _timed(self, function: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = function()
        self.seconds[self.index] += time.perf_counter() - begin
        return result


@dataclass(frozen=True)
class TimedEnvironments:
    """Makes `Timed` environments; picklable.

    Attributes:
        make_env: Makes the environments.
        path: Of the shared file.
    """

    make_env: Callable[[int, int], gymnasium.Env]
    path: str

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        """One environment."""
        return Timed(self.make_env(index, seed), self.path, index)


class Waiting(gymnasium.Wrapper):
    """Waits after each step, in proportion to the processor time that the step took.

    So it stands for a simulator that waits for a GPU, as Habitat's does: what is slow to compute, such as
    contact, is slow to wait for. It is synthetic all the same.

    Args:
        env: The environment.
        factor: Seconds to wait for each second of computing.
    """

    def __init__(self, env: gymnasium.Env, factor: float):
        """Keep the factor."""
        super().__init__(env)
        self.factor = factor

    def step(self, action):
        """Step and wait."""
        begin = time.thread_time()
        result = self.env.step(action)
        time.sleep(min(MOST_WAIT_S, self.factor * (time.thread_time() - begin)))
        return result


@dataclass(frozen=True)
class WaitingEnvironments:
    """Makes `Waiting` environments; picklable.

    Attributes:
        make_env: Makes the environments.
        factor: Seconds to wait for each second of computing.
    """

    make_env: Callable[[int, int], gymnasium.Env]
    factor: float

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        """One environment."""
        return Waiting(self.make_env(index, seed), self.factor)
