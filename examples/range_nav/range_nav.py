"""RangeNav: PointNav with a beacon, which tells how far the goal is and not where."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from gymnasium import spaces

from nav.pointnav import PointNav
from nav.task import NavTask, StartSensors, box
from rearrange.gym_ids import LARGEST


class RangeNav(PointNav):
    """The task; see the module. Rules, starts and metrics are PointNav's."""

    name = "range_nav"
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {"range": ("distance",), **NavTask.PARTS}
    CONFIG = Path(__file__).with_suffix(".yaml")

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """See NavTask."""
        return {"range": box(0.0, LARGEST, 1), **StartSensors.spaces()}

    def observe(self) -> dict[str, np.ndarray]:
        """The distance in a straight line [N, 1], m, and odometry since the start."""
        away = np.linalg.norm(self.goals - self.worlds.poses[:, :2], axis=1, keepdims=True)
        odometry = StartSensors.observe(self.memory.starts, self.worlds.poses)
        return {"range": away.astype(np.float32), **odometry}
