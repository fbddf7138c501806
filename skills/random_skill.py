"""Random actions as a skill: the floor that every chain of skills has to beat."""

from __future__ import annotations

import zlib

import numpy as np

from rearrange.action_pipeline import to_physical
from rearrange.env import RearrangeEnv
from skills.base import SkillArgument
from skills.registry import find


class RandomSkill:
    """Actions that are uniform in [-1, 1] of the task's action space, until the learned skill's time-out."""

    source = "random"

    def __init__(self, name: str) -> None:
        """Take the name of a skill."""
        self.name = name
        self.timeout = find(name).timeout
        self._rng = np.random.default_rng(0)

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin; the actions depend on the episode and on what is asked, not on earlier ones."""
        asked = repr((self.name, argument, world.episode.base_pose))
        self._rng = np.random.default_rng(zlib.crc32(asked.encode()))

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action in the simulator's units [J + 3]."""
        layout = world.robot.actions
        wanted = self._rng.uniform(-1.0, 1.0, (1, layout.full_size))
        return to_physical(world.task.action.scale(layout), wanted)[0]

    def done(self, world: RearrangeEnv) -> bool:
        """Never: it knows nothing."""
        del world
        return False
