"""Sense-plan-act skills behind the interface of a skill."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rearrange.env import RearrangeEnv
from skills.base import SkillArgument
from skills.spa.navigate import navigate
from skills.spa.open_close import close_part, open_part
from skills.spa.pick import pick
from skills.spa.place import place
from skills.spa.robot import Actions, Robot

TIMEOUT = 600  # steps, as for oracles
PLANS: dict[str, Callable[[Robot, np.ndarray], Actions]] = {
    "navigate": navigate,
    "pick": pick,
    "place": place,
    "open_cab": lambda robot, told: open_part(robot, told, is_door=False),
    "close_cab": lambda robot, told: close_part(robot, told, is_door=False),
    "open_fridge": lambda robot, told: open_part(robot, told, is_door=True),
    "close_fridge": lambda robot, told: close_part(robot, told, is_door=True),
}


class SpaSkill:
    """A classical skill: senses by depth and proprioception, plans over its own map, acts."""

    source = "sense-plan-act"
    timeout = TIMEOUT

    def __init__(self, name: str, robot: Robot) -> None:
        """Name one of PLANS; skills that share a robot share its memory."""
        self.name, self.robot = name, robot
        self._actions: Actions | None = None
        self._finished = True

    @property
    def failure(self) -> str:
        """Why the last use gave up, empty if it did not."""
        return self.robot.failure

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin; of the argument only the position is used."""
        told = self.robot.attend(world, argument.position)
        self._actions = PLANS[self.name](self.robot, told)
        self._finished = False

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action [10]."""
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


def spa_skills() -> dict[str, SpaSkill]:
    """All seven skills over one robot."""
    robot = Robot()
    return {name: SpaSkill(name, robot) for name in PLANS}
