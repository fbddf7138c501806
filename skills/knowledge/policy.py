"""Observations of a policy: its own task's, as in training.

Which numbers these are stands in the task's file in `rearrange.tasks`, and in docs/tasks.md: HAB's
sensors. The masks of the actions read no more than that.
"""

from __future__ import annotations

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.tasks.base import Task
from rearrange.worlds import DEPTH_KEY, seen_depth


class PolicySenses:
    """The observations and masks of a task in the world of another one."""

    def __init__(self, task: Task, camera_size: int) -> None:
        """Of a task with N = 1, and square images of so many pixels."""
        self._task, self._camera_size = task, camera_size

    def begin(self, world: RearrangeEnv, episode: Episode) -> None:
        """Begin an episode of the task in the world as it is now."""
        self._task.start([0], [episode], world.state)

    def observe(self, world: RearrangeEnv, remember: bool = True) -> dict[str, np.ndarray]:
        """The task's vector observations [1, ...], the depth image [1, H, W, 1], and what is made of it."""
        depths = seen_depth(world.simulator, self._camera_size)
        images = {
            DEPTH_KEY: depths,
            **self._task.gather(world.simulator, depths, np.array([remember]), np.arange(1)),
        }
        return images | self._task.observe(world.state)

    def mask(self, world: RearrangeEnv, physical: np.ndarray) -> np.ndarray:
        """Apply the task's mask to an action in the simulator's units [1, J + 3]; changes it [J + 3]."""
        return self._task.mask(world.state, physical)[0]
