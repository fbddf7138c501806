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
        self._path = new_file(folder)
        self._begun, self._steps, self._return = False, 0, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begins an episode; one that has not ended is left out."""
        if not self._begun:
            write_line(self._path, 0, 0.0)
        self._begun, self._steps, self._return = True, 0, 0.0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        """Steps, and writes down the episode that ends."""
        told = super().step(action)
        self._steps += 1
        self._return += float(told[1])
        if told[2] or told[3]:
            write_line(self._path, self._steps, self._return)
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


def new_file(folder: str) -> Path:
    """Names a file of its own for a diary."""
    return Path(folder) / f"{uuid.uuid4().hex}.txt"


def write_line(path: Path, steps: int, total: float) -> None:
    """Appends a line at once, so that a process that is killed leaves whole ones."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(handle, f"{time.time():.3f} {steps} {total!r}\n".encode())
    finally:
        os.close(handle)
