"""ObjectNav: find an object of a category, and stop where it is seen.

Rules and numbers are habitat-lab's for the MP3D challenge: 500 steps, turns and tilts of 30 degrees, no
sliding along obstacles, a field of view of 79 degrees, depth up to 5 m; success is STOP within 0.1 m of a
view point of any object of the category by geodesic distance, the reward is the decrease of that distance
to the nearest view point, -0.001 per step and 2.5 for success. SPL as for PointNav. Ours: images are
64x64 (there 640x480), depth below 0.5 m is kept, and the camera tilts by at most 30 degrees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from nav.agent import AgentConfig
from nav.categories import CATEGORIES
from nav.episode import NavEpisode
from nav.pointnav import GOALS, PointNav, check_distances
from nav.scene import Places, Scene
from nav.task import NavTask, StartSensors, box
from nav.viewpoints import STRAY, ViewRule, goal_places, places_on_floor
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.settings import check_ranges, setting

GOAL_KEY = "objectgoal"
CANDIDATES = 8  # starts that are drawn for a category


@dataclass
class ObjectNavConfig:
    """Numbers of ObjectNav."""

    max_steps: int = setting(500, hab=None, low=1, about="then the episode is truncated")
    success_distance: float = setting(
        0.1, hab=None, about="geodesic distance from a view point within which STOP succeeds [m]"
    )
    view_distance: float = setting(
        1.0, hab=None, about="of view points from their object over the floor, at most [m]"
    )
    progress_scale: float = setting(
        1.0, hab=None, about="reward per metre that the nearest view point comes nearer"
    )
    slack: float = setting(0.001, hab=None, about="cost of a step")
    success_reward: float = setting(2.5, hab=None, about="when it ends in success")
    nearest_start: float = setting(
        1.0, hab=None, about="shortest geodesic distance of a start from a view point [m]"
    )
    farthest_start: float = setting(30.0, hab=None, about="longest [m]")

    def check(self) -> None:
        """Raise a UserError that names the first number that makes no sense."""
        check_ranges(self, "task")
        if self.view_distance <= 0.0:
            raise UserError(f"task.view_distance must be positive, found {self.view_distance:g}")
        check_distances(self)


class ObjectNav(PointNav):
    """See the module."""

    name = "objectnav"
    config_type = ObjectNavConfig
    CAN_LOOK = True
    HAS_CATEGORY = True
    GOAL = "a view point"
    PARTS = NavTask.PARTS

    def __init__(self, config: Any, worlds: AgentWorlds) -> None:
        """See NavTask."""
        super().__init__(config, worlds)
        self.view_rule = ViewRule.of(worlds.config, self.config.view_distance)
        self.categories = np.zeros((len(worlds.poses), len(CATEGORIES)), np.float32)

    @classmethod
    def agent_config(cls) -> AgentConfig:
        """See NavTask."""
        return AgentConfig(turn=30.0, field_of_view=79.0, depth_range=5.0, rgb=True, slide=False)

    @classmethod
    def prepare(cls, scene: Scene, config: Any, agent: AgentConfig) -> None:
        """See NavTask."""
        NavTask.prepare(scene, config, agent)
        rule = ViewRule.of(agent, config.view_distance)
        for category in sorted({thing.category for thing in scene.objects}):
            places = goal_places(scene, category, rule)
            if places is not None:
                scene.distances_to(places)

    def sample(self, scene: Scene, rng: np.random.Generator) -> NavEpisode:
        """A category, each that the building has as likely as the others, and a start.

        Starts are uniform over the floor between the config's distances. (Nearly straight ways are
        not thinned out as for PointNav: the agent does not know where the goal is.)
        """
        config = self.config
        there = sorted({thing.category for thing in scene.objects})
        for _ in range(GOALS if there else 0):
            category = there[int(rng.integers(len(there)))]
            points, yaw = scene.sample_points(rng, CANDIDATES), rng.uniform(-math.pi, math.pi)
            places = goal_places(scene, category, self.view_rule)
            if places is None:
                continue
            distances = scene.distances(points, places)
            kept = (distances >= config.nearest_start) & (distances <= config.farthest_start)
            if kept.any():
                first = int(kept.argmax())
                x, y = points[first].tolist()
                return NavEpisode(
                    "sampled",
                    scene.name,
                    (x, y, float(yaw)),
                    geodesic_distance=float(distances[first]),
                    category=category,
                )
        raise UserError(
            f"{scene.name} has no object with a start between task.nearest_start="
            f"{config.nearest_start:g} and task.farthest_start={config.farthest_start:g} m from it"
        )

    def origin(self, episode: NavEpisode) -> Places:
        """See NavTask: the view points of all objects of the category, or the given ones on the floor."""
        if episode.mesh is not None:
            if episode.view_points is None or episode.category not in CATEGORIES:
                raise UserError(
                    f"episode '{episode.episode_id}': view_points: expected those of its file, found none"
                )
            return episode.view_points
        scene: Scene = self.worlds.load(episode.building)
        category = episode.category if episode.category in CATEGORIES else None
        if category is not None and episode.view_points is not None:
            given = places_on_floor(scene, episode.view_points)
            if given is None:
                raise UserError(
                    f"episode '{episode.episode_id}': view_points: expected one in {scene.name} where a "
                    f"disc of {scene.radius:g} m fits, found none within {scene.grid.cell + STRAY:g} m "
                    "of such a place"
                )
            return given
        places = None if category is None else goal_places(scene, category, self.view_rule)
        if places is None:
            seen = ", ".join(sorted({thing.category for thing in scene.objects})) or "none"
            raise UserError(
                f"episode '{episode.episode_id}': object_category: expected one of the things seen in "
                f"{scene.name} ({seen}), found {episode.category}"
            )
        return places

    def _remember_goal(self, i: int, episode: NavEpisode) -> None:
        """See PointNav."""
        assert episode.category is not None
        self.categories[i] = 0.0
        index = CATEGORIES.index(episode.category)
        self.categories[i, index] = 1.0
        self.worlds.wanted[i] = 1 + index

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """See NavTask."""
        return {GOAL_KEY: box(0.0, 1.0, len(CATEGORIES)), **StartSensors.spaces()}

    def observe(self) -> dict[str, np.ndarray]:
        """See NavTask.

        Returns:
            `objectgoal`: 1 at the index of the category in CATEGORIES, else 0 [N, 21]; `gps` and
            `compass` as of `StartSensors`.
        """
        return {GOAL_KEY: self.categories.copy(), **NavTask.observe(self)}
