"""Proprioception: what the robot senses of itself."""

from __future__ import annotations

import math

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.geometry import norm
from rearrange.sim.base import NOTHING
from rearrange.tasks.sensors import from_rest

Position = tuple[float, float, float]


class Body:
    """The robot of an environment with N = 1: odometry, joints, kinematics, the cup's sense, depth.

    Odometry does not drift, as HAB's GPS and compass do not: poses are in the world frame because
    what the task tells is, too.
    """

    def __init__(self, world: RearrangeEnv) -> None:
        """Look at this world."""
        self._world = world

    @property
    def base_pose(self) -> Position:
        """Odometry: x, y [m], yaw [rad], world frame."""
        x, y, yaw = (float(value) for value in self._world.state.base_pose[0])
        return x, y, yaw

    @property
    def joints(self) -> np.ndarray:
        """Measured arm joints [J], rad; a copy."""
        return np.array(self._world.state.arm_joints[0], dtype=float)

    @property
    def hand(self) -> Position:
        """Suction tip [3], m, world frame: kinematics of the measured joints (HAB's ee_pos), odometry."""
        x, y, yaw = self.base_pose
        ahead, left, up = (float(value) for value in self._world.state.end_effector_in_base[0])
        cosine, sine = math.cos(yaw), math.sin(yaw)
        return x + cosine * ahead - sine * left, y + sine * ahead + cosine * left, up

    @property
    def to_rest(self) -> float:
        """Distance of the hand from its resting place [m], by kinematics."""
        return norm(from_rest(self._world.state.worlds[0]))

    @property
    def is_holding(self) -> bool:
        """True if the cup holds something, be it an object or a handle."""
        state = self._world.state
        return max(int(state.held_object[0]), int(state.held_handle[0])) > NOTHING

    @property
    def steps(self) -> int:
        """Steps since the episode began."""
        return self._world.elapsed_steps

    @property
    def episode(self) -> object:
        """The running episode, to tell it from another; nothing of it is to be read."""
        return self._world.episode

    def depth(self, size: int) -> np.ndarray:
        """Head camera's depth along its optical axis [size, size], m; a fresh array."""
        return self._world.simulator.render_depth(size)[0]
