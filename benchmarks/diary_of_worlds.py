"""A diary of episodes in worlds that are stepped together; apart, as older Gymnasium has no such wrapper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from benchmarks.diary import new_file, write_line


class DiaryOfWorlds(VectorWrapper):
    """As `Diary`, of worlds that are stepped together and restart in the step in which they end.

    Args:
        worlds: Any.
        folder: Gets a file of theirs.
    """

    def __init__(self, worlds: VectorEnv, folder: str) -> None:
        """Nothing is written yet."""
        super().__init__(worlds)
        self._path, self._begun = new_file(folder), False
        self._steps, self._returns = np.zeros(self.num_envs, int), np.zeros(self.num_envs)

    def reset(self, **words: Any) -> Any:
        """Begins an episode in every world; those that have not ended are left out."""
        if not self._begun:
            write_line(self._path, 0, 0.0)
        self._begun, self._steps[:], self._returns[:] = True, 0, 0.0
        return super().reset(**words)

    def step(self, actions: Any) -> Any:
        """Steps, and writes down the episodes that end."""
        told = super().step(actions)
        self._steps += 1
        self._returns += np.asarray(told[1])
        ended = np.flatnonzero(np.asarray(told[2]) | np.asarray(told[3]))
        for index in ended.tolist():
            write_line(self._path, int(self._steps[index]), float(self._returns[index]))
        self._steps[ended], self._returns[ended] = 0, 0.0
        return told


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
