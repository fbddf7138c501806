"""What the sense-plan-act skills know of the robot, in the frame of where it began."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rearrange.env import RearrangeEnv
from skills.knowledge import Body

CAMERA_SIZE = 128  # height and width of the depth image [pixels]


class Observed:
    """A world reduced to head depth, proprioception and start-relative odometry.

    The start frame is the base frame of the moment in which this object was made: x forward, y
    left, z up from the floor [m].
    """

    def __init__(self, world: RearrangeEnv) -> None:
        """Take the present base pose as the origin."""
        self._world, self._body = world, Body(world)
        self._start, self._episode = self._body.base_pose, self._body.episode

    def is_of(self, world: RearrangeEnv) -> bool:
        """Whether this looks at that world, in the episode in which it was made."""
        return self._world is world and self._body.episode is self._episode

    @property
    def steps(self) -> int:
        """Steps since the episode began."""
        return self._body.steps

    @property
    def depth(self) -> np.ndarray:
        """Head camera's depth along its optical axis [CAMERA_SIZE, CAMERA_SIZE], m; a copy."""
        return self._body.depth(CAMERA_SIZE)

    @property
    def base_pose(self) -> np.ndarray:
        """Odometry: x, y, yaw in the start frame [3], m and rad."""
        x, y, yaw = self._body.base_pose
        x, y, _ = self.to_start_frame((x, y, 0.0))
        return np.array([x, y, math.remainder(yaw - self._start[2], 2 * math.pi)])

    @property
    def joints(self) -> np.ndarray:
        """Measured arm joints [J], rad; a copy."""
        return self._body.joints

    @property
    def is_holding(self) -> bool:
        """Whether the gripper holds something, be it an object or a handle."""
        return self._body.is_holding

    def to_start_frame(self, position: Sequence[float]) -> np.ndarray:
        """A coordinate that the task gave in the world frame [3], m, in the start frame.

        The observations of the tasks give the same coordinates relative to the robot.
        """
        x0, y0, yaw = self._start
        cosine, sine = math.cos(yaw), math.sin(yaw)
        dx, dy = position[0] - x0, position[1] - y0
        return np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, float(position[2])])
