"""An oracle that follows the shortest path by the agent's own actions: the ceiling of PointNav."""

from __future__ import annotations

import math

import numpy as np

from nav.agent import FORWARD, LEFT, RIGHT, AgentConfig, wrap
from nav.mesh_worlds import MeshWorlds
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
        self.turns = _turns(config)

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
        return _towards(self.turns, self.scene.distances(np.array(ends), self.goal))


class MeshFollower:
    """Drives the first agent of worlds to its episode's goal in a scene of Habitat's, likewise."""

    def __init__(self, worlds: MeshWorlds) -> None:
        self.worlds, self.turns = worlds, _turns(worlds.config)

    def act(self, pose: np.ndarray) -> int:
        """The next action: FORWARD, LEFT or RIGHT; the agent's own pose is what counts."""
        del pose
        return _towards(self.turns, self.worlds.outlook(0, self.turns))


def _turns(config: AgentConfig) -> np.ndarray:
    """Turns that some actions add up to [rad], least first: of equal gains the first is taken."""
    turn = math.radians(config.turn)
    count = math.floor(math.pi / turn)
    return np.array(sorted(np.arange(-count, count + 1) * turn, key=abs))


def _towards(turns: np.ndarray, distances: np.ndarray) -> int:
    """The action that leads to the least of the distances that the turns promise."""
    best = turns[int(distances.argmin())]
    if abs(wrap(best)) < 1e-9:
        return FORWARD
    return LEFT if best > 0.0 else RIGHT
