"""Explore: visit as much of the floor as possible.

The task of BPS (Shacklett et al. 2021, appendix A.1), whose score is the number of cells of the
navigation mesh that were visited. The paper does not tell their size, so the rest is ours: cells are
squares of 0.5 m, one is visited when the agent's middle ends a step in it, an episode lasts 500 steps,
there is no STOP, and each new cell is rewarded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nav.episode import NavEpisode
from nav.scene import Point, Scene, kept_with_scene
from nav.task import NavTask, Outcome
from nav.worlds import AgentWorlds
from rearrange.settings import check_ranges, setting

EVERYONE = slice(None)


@dataclass
class ExploreConfig:
    """Numbers of Explore."""

    max_steps: int = setting(500, hab=None, low=1, about="then the episode is truncated")
    cell_size: float = setting(
        0.5, hab=None, low=0.1, high=10.0, about="side of the squares that are counted [m]"
    )
    cell_reward: float = setting(0.1, hab=None, about="for each new one")

    def check(self) -> None:
        """Raise a UserError that names the first number that makes no sense."""
        check_ranges(self, "task")


class Explore(NavTask):
    """See the module."""

    name = "explore"
    config_type = ExploreConfig
    REWARDS = ("cells",)

    def __init__(self, config: Any, worlds: AgentWorlds) -> None:
        """See NavTask."""
        super().__init__(config, worlds)
        self._everyone = np.arange(len(worlds.poses))
        self._origins = np.zeros((len(worlds.poses), 2))
        self._columns = np.ones(len(worlds.poses), np.int64)
        self._visited = np.zeros((len(worlds.poses), 1), bool)
        self.cells = np.zeros(len(worlds.poses))  # visited so far

    def sample(self, scene: Scene, rng: np.random.Generator) -> NavEpisode:
        """See NavTask."""
        x, y = scene.sample_points(rng, 16)[0].tolist()
        return NavEpisode("sampled", scene.name, (x, y, float(rng.uniform(-math.pi, math.pi))))

    def origin(self, episode: NavEpisode) -> Point | None:
        """See NavTask: no distances are needed."""

    def start(self, i: int, episode: NavEpisode) -> None:
        """See NavTask."""
        super().start(i, episode)
        x_min, y_min, x_max, y_max = self.worlds.scene(i).building.bounds
        rows = math.ceil((x_max - x_min) / self.config.cell_size)
        columns = math.ceil((y_max - y_min) / self.config.cell_size)
        if rows * columns > self._visited.shape[1]:
            grown = np.zeros((len(self._visited), rows * columns), bool)
            grown[:, : self._visited.shape[1]] = self._visited
            self._visited = grown
        self._origins[i], self._columns[i] = (x_min, y_min), columns
        self._visited[i] = False
        self._visited[i, self._squares(slice(i, i + 1))[0]] = True
        self.cells[i] = 1.0

    def _squares(self, some: slice = EVERYONE) -> np.ndarray:
        """Index of the square that each of some agents is in [K]."""
        places = self.worlds.poses[some, :2] - self._origins[some]
        squares = (places / self.config.cell_size).astype(int)
        return squares[:, 0] * self._columns[some] + squares[:, 1]

    def _judge(self, actions: np.ndarray) -> Outcome:
        """See NavTask."""
        squares = self._squares()
        new = ~self._visited[self._everyone, squares]
        self._visited[self._everyone, squares] = True
        self.cells += new
        return Outcome({"cells": self.config.cell_reward * new}, np.zeros(len(actions), bool))

    def metrics(self, i: int, ended: bool) -> dict[str, float]:
        """See NavTask.

        Returns:
            Among others `score`: the number of squares visited, the first one counts; and
            `score_share`: the same by the number of those in which the agent can be.
        """
        score = float(self.cells[i])
        share = score / square_count(self.worlds.scene(i), self.config.cell_size)
        return super().metrics(i, ended) | {"score": score, "score_share": share}


@kept_with_scene
def square_count(scene: Scene, cell_size: float) -> int:
    """Count the squares of the bounds that hold the centre of a cell where the agent can be."""
    x_min, y_min, *_ = scene.building.bounds
    squares = ((scene.cells - (x_min, y_min)) / cell_size).astype(int)
    return len(np.unique(squares, axis=0))
