"""Oracles as skills that a planner can run."""

from __future__ import annotations

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from skills.base import SkillArgument
from skills.oracle.oracle import Oracle
from skills.registry import find

ORACLE_TIMEOUT = 600  # steps; oracles move carefully


def begin_oracle(name: str, world: RearrangeEnv, argument: SkillArgument) -> Oracle:
    """An oracle that has begun in the world's apartment.

    Args:
        name: Of a skill.
        world: The environment.
        argument: What the skill is applied to; Navigate goes to a handle where it names a joint.

    Raises:
        UserError: There is no such skill, it has no oracle, or what opens or closes is told no joint.
    """
    spec = find(name)
    if spec.oracle is None:
        raise UserError(f"there is no oracle for {name}: train it, or set SkillSpec.oracle")
    if spec.effect in ("opens", "closes") and argument.joint is None:
        raise UserError(f"{name} has to be told a joint: set SkillArgument.joint")
    grid = load_layout(world.episode.layout, world.episode.variation)[1]
    oracle = spec.oracle(grid, world.state, argument)
    oracle.step = min(oracle.step, world.task.action.arm_step)  # HAB's arm is slower
    return oracle


class OracleSkill:
    """An oracle behind the interface of a skill."""

    source = "oracle"
    timeout = ORACLE_TIMEOUT

    def __init__(self, name: str) -> None:
        """Take the name of a skill."""
        self.name = name
        self._oracle: Oracle | None = None

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin in the world's apartment."""
        self._oracle = begin_oracle(self.name, world, argument)

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action [J + 3]."""
        assert self._oracle is not None, "reset() comes first"
        return self._oracle.act(world.state)

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the oracle has finished or given up."""
        return self._oracle is not None and self._oracle.done
