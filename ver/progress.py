"""Progress of a training run: counts, faults and the metrics of its last episodes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np


class Progress:
    """Counts of a run, which its checkpoints keep.

    Args:
        window: How many of the last episodes are in the means.

    Attributes:
        steps: Environment steps learned from so far, on all ranks.
        episodes: Episodes that ended, on all ranks.
        seconds: Time spent on training.
        resumes: How often the run was resumed.
        faults: {kind: how many} on this rank.
    """

    def __init__(self, window: int):
        self.steps = 0
        self.episodes = 0
        self.seconds = 0.0
        self.resumes = 0
        self.faults: dict[str, int] = {}
        self._faults_elsewhere: dict[str, int] = {}  # on the other ranks
        self._window: deque[dict[str, float]] = deque(maxlen=window)

    def add(self, reports: Sequence[tuple[list[dict[str, float]], dict[str, int]]]) -> None:
        """Takes into account each rank's ended episodes since the last call, and all its faults."""
        episodes = [episode for ended, _ in reports for episode in ended]
        faults = {name: sum(counts[name] for _, counts in reports) for name in self.faults}
        self._faults_elsewhere = {name: faults[name] - own for name, own in self.faults.items()}
        self.episodes += len(episodes)
        self._window.extend(episodes)

    def count_faults_in(self, counts: dict[str, int]) -> None:
        """Takes over where faults are counted from now on, and adds those so far there."""
        for name in counts:
            counts[name] += self.faults.get(name, 0)
        self.faults = counts

    def row(self) -> dict[str, float]:
        """Returns the counts and means to log."""
        row = {"steps": float(self.steps), "episodes": float(self.episodes)}
        sums: dict[str, list[float]] = {}
        for episode in self._window:
            for name, value in episode.items():
                sums.setdefault(name, []).append(value)
        row |= {f"episode/{name}": float(np.mean(values)) for name, values in sums.items()}
        return row | {f"faults/{name}": float(count) for name, count in self._all_faults().items()}

    def episode_mean(self, metric: str) -> float:
        """Returns the mean of a metric over the last episodes, NaN if none has it."""
        values = [episode[metric] for episode in self._window if metric in episode]
        return float(np.mean(values)) if values else math.nan

    def values(self) -> dict[str, Any]:
        """Returns what a checkpoint keeps, as JSON-able values."""
        return {
            "steps": self.steps,
            "episodes": self.episodes,
            "seconds": self.seconds,
            "resumes": self.resumes,
            "faults": self._all_faults(),
            "window": list(self._window),
        }

    def restore(self, values: dict[str, Any], main: bool) -> None:
        """Puts `values`' answer back and counts one more resume.

        Args:
            values: Others among them are ignored.
            main: On rank 0, which goes on with everybody's faults.
        """
        self.steps, self.episodes = values["steps"], values["episodes"]
        self.seconds, self.resumes = values["seconds"], values["resumes"] + 1
        self._window.clear()
        self._window.extend(values["window"])
        if main:
            self.faults = values.get("faults", {})

    def _all_faults(self) -> dict[str, int]:
        elsewhere = self._faults_elsewhere
        return {name: own + elsewhere.get(name, 0) for name, own in self.faults.items()}
