"""Sense-plan-act skills behind the interface of a skill."""

from __future__ import annotations

import numpy as np

from rearrange.env import RearrangeEnv
from skills.base import SkillArgument
from skills.oracle.skill import ORACLE_TIMEOUT
from skills.spa.robot import Actions, Plan, Robot


class SpaSkill:
    """A classical skill: senses by depth and proprioception, plans over its own map, acts."""

    source = "sense-plan-act"
    timeout = ORACLE_TIMEOUT

    def __init__(self, name: str, robot: Robot, plan: Plan) -> None:
        """Take a skill's name, its robot and its plan; skills that share a robot share its memory."""
        self.name, self.robot, self.plan = name, robot, plan
        self._actions: Actions | None = None
        self._finished = True

    @property
    def failure(self) -> str:
        """Why the last use gave up, empty if it did not."""
        return self.robot.failure

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin; of the argument only the position is used."""
        told = self.robot.attend(world, argument.position)
        self._actions = self.plan(self.robot, told)
        self._finished = False

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action [J + 3]."""
        assert self._actions is not None, "reset() comes first"
        self.robot.sense()
        if not self._finished:
            try:
                return next(self._actions)
            except StopIteration:
                self._finished = True
        return self.robot.command()

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the skill has finished or given up."""
        return self._finished
