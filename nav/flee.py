"""Flee: get as far as possible from where the episode began, by geodesic distance.

The task of BPS (Shacklett et al. 2021, appendix A.1): find the farthest valid place from a given point;
its score is a distance in metres. The paper tells no more, so the rest is ours: the point is the start,
an episode lasts 500 steps, there is no STOP, and the reward is the increase of the distance, so that
rewards add up to the score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nav.agent import AgentConfig
from nav.episode import NavEpisode
from nav.scene import Point, Scene
from nav.task import NavTask, Outcome
from rearrange.settings import check_ranges, setting


@dataclass
class FleeConfig:
    """Numbers of Flee."""

    max_steps: int = setting(500, hab=None, low=1, about="then the episode is truncated")
    progress_scale: float = setting(
        1.0, hab=None, about="reward per metre that the start gets farther away"
    )
    starts_per_building: int = setting(
        8, hab=None, low=1, high=64, about="fixed places that starts are drawn from, at most 64"
    )

    def check(self) -> None:
        """Raise a UserError that names the first number that makes no sense."""
        check_ranges(self, "task")


class Flee(NavTask):
    """See the module."""

    name = "flee"
    config_type = FleeConfig
    REWARDS = ("progress",)

    @classmethod
    def prepare(cls, scene: Scene, config: Any, agent: AgentConfig) -> None:
        """See NavTask."""
        super().prepare(scene, config, agent)
        for start in scene.landmarks[: config.starts_per_building]:
            scene.distances_to(start)

    def sample(self, scene: Scene, rng: np.random.Generator) -> NavEpisode:
        """See NavTask."""
        starts = scene.landmarks[: self.config.starts_per_building]
        start = starts[int(rng.integers(len(starts)))]
        return NavEpisode("sampled", scene.name, (*start, float(rng.uniform(-math.pi, math.pi))))

    def origin(self, episode: NavEpisode) -> Point | None:
        """See NavTask: the start."""
        return episode.start[0], episode.start[1]

    def _judge(self, actions: np.ndarray) -> Outcome:
        """See NavTask."""
        gain = self.worlds.distances - self.memory.distances
        rewards = {"progress": self.config.progress_scale * gain}
        return Outcome(rewards, np.zeros(len(actions), bool))

    def metrics(self, i: int, ended: bool) -> dict[str, float]:
        """See NavTask.

        Returns:
            Among others `score`: geodesic distance from the start at the end [m], and
            `score_share`: the same by the distance of the farthest place that can be reached.
        """
        scene, score = self.worlds.scene(i), float(self.worlds.distances[i])
        x, y, _ = self.memory.starts[i].tolist()
        share = score / farthest_place(scene, (x, y))[1]
        return super().metrics(i, ended) | {"score": score, "score_share": share}


def farthest_place(scene: Scene, start: Point) -> tuple[Point, float]:
    """The centre of the cell of the island that is farthest from a free point, and how far [m]."""
    distances = np.where(scene.island, scene.distances_to(start), -np.inf)
    distances[np.isinf(distances)] = -np.inf
    cell = np.unravel_index(int(distances.argmax()), distances.shape)
    x, y = scene.grid.center_of(np.array(cell)).tolist()
    return (x, y), float(distances[cell])
