"""An oracle that follows the shortest path by the agent's own actions: the ceiling of PointNav."""

from __future__ import annotations

import math

import numpy as np

from nav.agent import FORWARD, LEFT, RIGHT, AgentConfig, wrap
from nav.scene import Places, Point, Scene
from rearrange.navigation import clamp_base_motion


class Follower:
    """Drives to a goal, seeing the whole floor: turns to where one step gains most, then takes it."""

    def __init__(self, scene: Scene, goal: Point | Places, config: AgentConfig) -> None:
        """Remember where to go.

        Args:
            scene: The building.
            goal: A free point in it [m], or several, of which the nearest counts.
            config: Of the agent that is driven.
        """
        self.scene, self.goal, self.config = scene, goal, config
        turn = math.radians(config.turn)
        count = math.floor(math.pi / turn)
        # The smallest turns first: of equal gains the first is taken.
        self.turns = sorted(np.arange(-count, count + 1) * turn, key=abs)

    def act(self, pose: np.ndarray) -> int:
        """The next action at a pose x, y, yaw [3]: FORWARD, LEFT or RIGHT."""
        x, y, yaw = pose.tolist()
        step, config = self.config.forward, self.config
        ends = [
            clamp_base_motion(
                self.scene.grid, x, y, step * math.cos(yaw + turn), step * math.sin(yaw + turn),
                config.radius, config.slide,
            )[:2]
            for turn in self.turns
        ]  # fmt: skip
        distances = self.scene.distances(np.array(ends), self.goal)
        best = self.turns[int(distances.argmin())]
        if abs(wrap(best)) < 1e-9:
            return FORWARD
        return LEFT if best > 0.0 else RIGHT
