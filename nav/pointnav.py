"""PointNav: drive to a point that is given relative to the agent, and stop there.

Rules and numbers are habitat-lab's (and BPS's, appendix B): 500 steps, success is STOP within 0.2 m of
the goal by geodesic distance, the reward is the decrease of that distance, -0.01 per step and 2.5 for
success. SPL is of Anderson et al. 2018, "On evaluation of embodied navigation agents", section 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from nav.agent import STOP, AgentConfig, polar_in_agent_frame
from nav.episode import NavEpisode, Pose
from nav.scene import Places, Point, Scene
from nav.starts import draw_start
from nav.task import NavTask, Outcome, box
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.gym_ids import LARGEST
from rearrange.settings import check_ranges, setting

GOAL_KEY = "pointgoal_with_gps_compass"
DIRECTION_KEY = "pointgoal_direction"
CANDIDATES = 24  # starts that are drawn for a goal
GOALS = 50  # goals that are tried before a building is given up


def check_distances(config: Any) -> None:
    """Raise a UserError where distances of success and of starts make no sense together."""
    if config.success_distance <= 0.0:
        raise UserError(
            f"task.success_distance must be positive, found {config.success_distance:g}"
        )
    if not config.success_distance < config.nearest_start < config.farthest_start:
        raise UserError(
            "task.nearest_start must lie between task.success_distance and "
            f"task.farthest_start, found {config.nearest_start:g}"
        )


@dataclass
class PointNavConfig:
    """Numbers of PointNav."""

    max_steps: int = setting(500, hab=None, low=1, about="then the episode is truncated")
    success_distance: float = setting(
        0.2, hab=None, about="geodesic distance within which STOP succeeds [m]"
    )
    progress_scale: float = setting(
        1.0, hab=None, about="reward per metre that the goal comes nearer"
    )
    slack: float = setting(0.01, hab=None, about="cost of a step")
    success_reward: float = setting(2.5, hab=None, about="when it ends in success")
    goals_per_building: int = setting(
        8, hab=None, low=1, high=64, about="fixed places that goals are drawn from, at most 64"
    )
    nearest_start: float = setting(
        1.0, hab=None, about="shortest geodesic distance of a start from its goal [m]"
    )
    farthest_start: float = setting(30.0, hab=None, about="longest [m]")

    def check(self) -> None:
        """Raise a UserError that names the first number that makes no sense."""
        check_ranges(self, "task")
        check_distances(self)


def spl(success: bool, shortest: float, path: float) -> float:
    """Success weighted by path length: success * shortest / max(shortest, path).

    Args:
        success: Whether the agent succeeded.
        shortest: Geodesic distance from start to goal [m].
        path: Length of the agent's own way [m].
    """
    return float(success) * shortest / max(shortest, path)


def soft_spl(distance: float, shortest: float, path: float) -> float:
    """SPL with the share of the way that was covered in the place of success.

    Args:
        distance: Geodesic distance to the goal at the end [m].
        shortest: That at the start [m].
        path: Length of the agent's own way [m].
    """
    return max(0.0, 1.0 - distance / shortest) * shortest / max(shortest, path)


class PointNav(NavTask):
    """See the module.

    Attributes:
        GOAL: What is to be reached, in words.
    """

    name = "pointnav"
    config_type = PointNavConfig
    REWARDS = ("progress", "slack", "success")
    CAN_STOP = True
    GOAL = "the goal"
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        GOAL_KEY: ("distance", "bearing"),
        DIRECTION_KEY: ("cosine", "sine"),
    }

    def __init__(self, config: Any, worlds: AgentWorlds) -> None:
        """See NavTask."""
        super().__init__(config, worlds)
        count = len(worlds.poses)
        self.goals = np.zeros((count, 2))
        self.shortest = np.zeros(count)  # geodesic distance at the start [m]
        self.straight = np.zeros(count)  # Euclidean distance at the start [m]

    @classmethod
    def prepare(cls, scene: Scene, config: Any, agent: AgentConfig) -> None:
        """See NavTask."""
        super().prepare(scene, config, agent)
        for goal in scene.landmarks[: config.goals_per_building]:
            scene.distances_to(goal)

    def sample(self, scene: Scene, rng: np.random.Generator) -> NavEpisode:
        """A goal and a start, chosen as Habitat's generator does.

        Starts from which the way is nearly straight are easy, so that they are kept with a
        probability of 20 (ratio - 0.98)^2 only, the ratio being geodesic by Euclidean distance.
        """
        goals = scene.landmarks[: self.config.goals_per_building]
        for _ in range(GOALS):
            goal = goals[int(rng.integers(len(goals)))]
            found = self._sample_start(scene, goal, rng)
            if found is not None:
                start, distance = found
                radius = self.config.success_distance
                return NavEpisode("sampled", scene.name, start, goal, radius, distance)
        raise UserError(
            f"{scene.name} has no start between task.nearest_start={self.config.nearest_start:g} and "
            f"task.farthest_start={self.config.farthest_start:g} m from any of {len(goals)} goals"
        )

    def _sample_start(
        self, scene: Scene, goal: Point, rng: np.random.Generator
    ) -> tuple[Pose, float] | None:
        """A start and its geodesic distance [m]; None if none of some candidates will do."""
        limits = self.config.nearest_start, self.config.farthest_start
        field = scene.distances_to(goal)
        x, y, yaw, distance = draw_start(rng, *scene.floor, CANDIDATES, field, *goal, *limits)
        return None if math.isnan(distance) else ((x, y, yaw), distance)

    def origin(self, episode: NavEpisode) -> Point | Places:
        """See NavTask: the goal."""
        if episode.goal is None:
            raise UserError(
                f"episode '{episode.episode_id}': goals: PointNav needs one, found none"
            )
        if episode.mesh is not None:
            return Places(np.array([(*episode.goal, episode.mesh.goal_height)]), lone=True)
        return episode.goal

    def start(self, i: int, episode: NavEpisode) -> None:
        """See NavTask; an episode that is refused leaves world i as it was."""
        shortest, straight = self.worlds.lengths(i, episode, self.origin(episode))
        if not self.config.success_distance <= shortest < math.inf or straight == 0.0:
            raise UserError(
                f"episode '{episode.episode_id}': start_position: expected a place from where "
                f"{self.GOAL} is reached in {self.config.success_distance:g} m or more, found one at "
                f"{shortest:.2f} m"
            )
        super().start(i, episode)
        self.shortest[i], self.straight[i] = shortest, straight
        self._remember_goal(i, episode)

    def _remember_goal(self, i: int, episode: NavEpisode) -> None:
        """Remember what world i is told of its goal."""
        assert episode.goal is not None
        self.goals[i] = episode.goal

    def _judge(self, actions: np.ndarray) -> Outcome:
        """See NavTask."""
        config, distances = self.config, self.worlds.distances
        stopped = actions == STOP
        success = stopped & (distances < config.success_distance)
        rewards = {
            "progress": config.progress_scale * (self.memory.distances - distances),
            "slack": np.full(len(actions), -config.slack),
            "success": config.success_reward * success,
        }
        return Outcome(rewards, stopped)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """See NavTask."""
        return {GOAL_KEY: box(-LARGEST, LARGEST, 2), DIRECTION_KEY: box(-1.0, 1.0, 2)}

    def observe(self) -> dict[str, np.ndarray]:
        """See NavTask.

        Returns:
            Habitat's distance [m] and angle to the goal [N, 2], and cosine and sine of that angle
            [N, 2], because it jumps behind the agent (Habitat's networks take them inside).
        """
        polar = polar_in_agent_frame(self.worlds.poses, self.goals)
        direction = np.stack([np.cos(polar[:, 1]), np.sin(polar[:, 1])], axis=1)
        return {GOAL_KEY: polar.astype(np.float32), DIRECTION_KEY: direction.astype(np.float32)}

    def metrics(self, i: int, ended: bool) -> dict[str, float]:
        """See NavTask."""
        told = super().metrics(i, ended)
        distance, shortest = float(self.worlds.distances[i]), float(self.shortest[i])
        success = ended and distance < self.config.success_distance
        path = told["path_length"]
        return told | {
            "success": float(success),
            "spl": spl(success, shortest, path),
            "soft_spl": soft_spl(distance, shortest, path),
            "distance_to_goal": distance,
            "geodesic_distance": shortest,
            "difficulty_ratio": shortest / float(self.straight[i]),
            "failure/stopped_elsewhere": float(ended and not success),
            "failure/timeout": float(not ended),
        }
