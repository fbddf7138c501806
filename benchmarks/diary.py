"""A diary of episodes, kept by a wrapper around an environment, whichever library learns from it.

So that libraries can be compared by the same clock and the same returns, it needs nothing but Gymnasium.
"""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

WINDOW = 100  # episodes that a mean is of


class Diary(gymnasium.Wrapper):
    """Writes a line when the first episode begins, and one for each that ends: time, steps and return.

    The time is Unix's [s], the return a plain sum of the rewards that the environment gave.

    Args:
        env: Any.
        folder: Gets a file of this environment's.
    """

    def __init__(self, env: gymnasium.Env, folder: str) -> None:
        """Nothing is written yet."""
        super().__init__(env)
        self._path = _new_file(folder)
        self._begun, self._steps, self._return = False, 0, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begins an episode; one that has not ended is left out."""
        if not self._begun:
            _write(self._path, 0, 0.0)
        self._begun, self._steps, self._return = True, 0, 0.0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        """Steps, and writes down the episode that ends."""
        told = super().step(action)
        self._steps += 1
        self._return += float(told[1])
        if told[2] or told[3]:
            _write(self._path, self._steps, self._return)
        return told


class DiaryOfWorlds(VectorWrapper):
    """As `Diary`, of worlds that are stepped together and restart in the step in which they end.

    Args:
        worlds: Any.
        folder: Gets a file of theirs.
    """

    def __init__(self, worlds: VectorEnv, folder: str) -> None:
        """Nothing is written yet."""
        super().__init__(worlds)
        self._path, self._begun = _new_file(folder), False
        self._steps, self._returns = np.zeros(self.num_envs, int), np.zeros(self.num_envs)

    def reset(self, **words: Any) -> Any:
        """Begins an episode in every world; those that have not ended are left out."""
        if not self._begun:
            _write(self._path, 0, 0.0)
        self._begun, self._steps[:], self._returns[:] = True, 0, 0.0
        return super().reset(**words)

    def step(self, actions: Any) -> Any:
        """Steps, and writes down the episodes that end."""
        told = super().step(actions)
        self._steps += 1
        self._returns += np.asarray(told[1])
        ended = np.flatnonzero(np.asarray(told[2]) | np.asarray(told[3]))
        for index in ended.tolist():
            _write(self._path, int(self._steps[index]), float(self._returns[index]))
        self._steps[ended], self._returns[ended] = 0, 0.0
        return told


@dataclass(frozen=True)
class WithDiary:
    """Makes an environment that keeps a diary; picklable.

    Attributes:
        name: As for `ver.adapters.names`.
        folder: Of the diary.
    """

    name: str
    folder: str

    def __call__(self) -> gymnasium.Env:
        """Makes one."""
        from ver.adapters.names import make_named  # not where only Gymnasium is

        return Diary(make_named(self.name), self.folder)


@dataclass(frozen=True)
class WorldsWithDiary:
    """Makes worlds that keep a diary.

    Attributes:
        name: LIBRARY:NAME, as for `ver.adapters.libraries`.
        folder: Of the diary.
    """

    name: str
    folder: str

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        """Makes them."""
        from ver.adapters.libraries import named_environment

        return DiaryOfWorlds(named_environment(self.name).make_vector(count, seed), self.folder)


def read_diary(folder: Path) -> np.ndarray:
    """Reads what all environments have written so far.

    Returns:
        [episodes + environments, 3] time [s], steps and return, in the order of time. Where an environment
        began, steps are 0. A line that is being written is left out.
    """
    rows = []
    for path in folder.glob("*.txt"):
        whole, _, _ = path.read_text().rpartition("\n")
        rows += [line.split() for line in whole.split("\n") if line]
    table = np.array(rows, np.float64).reshape(-1, 3)
    return table[np.argsort(table[:, 0], kind="stable")]


def curve(diary: np.ndarray, window: int = WINDOW) -> np.ndarray:
    """Computes the mean return of the last episodes, from the first moment on at which there are so many.

    Args:
        diary: [rows, 3], as `read_diary` returns it.
        window: How many episodes.

    Returns:
        [n, 3] time [s], steps of all episodes that have ended, and mean return.
    """
    ended = diary[diary[:, 1] > 0]
    if len(ended) < window:
        return np.empty((0, 3))
    total = np.concatenate(([0.0], np.cumsum(ended[:, 2])))
    means = (total[window:] - total[:-window]) / window
    steps = np.cumsum(ended[:, 1])
    return np.stack((ended[window - 1 :, 0], steps[window - 1 :], means), axis=1)


def _new_file(folder: str) -> Path:
    return Path(folder) / f"{uuid.uuid4().hex}.txt"


def _write(path: Path, steps: int, total: float) -> None:
    """Appends a line at once, so that a process that is killed leaves whole ones."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(handle, f"{time.time():.3f} {steps} {total!r}\n".encode())
    finally:
        os.close(handle)
