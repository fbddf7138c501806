"""Oracles as skills that a planner can run."""

from __future__ import annotations

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import load_layout
from rearrange.errors import UserError
from skills.base import SkillArgument
from skills.oracle.navigate import NavigateOracle
from skills.oracle.navigate_handle import NavigateToHandle
from skills.oracle.open_close import CloseOracle, OpenOracle
from skills.oracle.oracle import Oracle
from skills.oracle.pick import PickOracle
from skills.oracle.place import PlaceOracle

ORACLE_TIMEOUT = 600  # steps; oracles move carefully

_HANDLE_ORACLES: dict[str, type[NavigateToHandle] | type[OpenOracle] | type[CloseOracle]] = {
    "navigate": NavigateToHandle,
    "open_cab": OpenOracle,
    "close_cab": CloseOracle,
    "open_fridge": OpenOracle,
    "close_fridge": CloseOracle,
}


def begin_oracle(name: str, world: RearrangeEnv, argument: SkillArgument) -> Oracle:
    """An oracle that has begun in the world's apartment.

    Args:
        name: One of SKILL_NAMES.
        world: The environment.
        argument: What the skill is applied to; Navigate goes to a handle where it names a joint.

    Raises:
        UserError: A skill that opens or closes is told no joint.
    """
    grid, state = load_layout(world.episode.layout, world.episode.variation)[1], world.state
    if name in _HANDLE_ORACLES and (name != "navigate" or argument.joint is not None):
        if argument.joint is None:
            raise UserError(f"{name} has to be told a joint: set SkillArgument.joint")
        oracle = _HANDLE_ORACLES[name](grid)
        oracle.reset(state, 0, argument.joint)
    elif name == "navigate":
        oracle = NavigateOracle(grid)
        goal = argument.position if argument.kind == "goal" else None
        oracle.reset(state, 0, argument.slot, goal)
    elif name == "place":
        oracle = PlaceOracle(grid)
        oracle.reset(state, 0, argument.slot, argument.position)
    else:
        oracle = PickOracle(grid)
        oracle.reset(state, 0, argument.slot)
    return oracle


class OracleSkill:
    """An oracle behind the interface of a skill."""

    source = "oracle"
    timeout = ORACLE_TIMEOUT

    def __init__(self, name: str) -> None:
        """Name one of SKILL_NAMES."""
        self.name = name
        self._oracle: Oracle | None = None

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin in the world's apartment."""
        self._oracle = begin_oracle(self.name, world, argument)

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action [10]."""
        assert self._oracle is not None, "reset() comes first"
        return self._oracle.act(world.state, 0)

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the oracle has finished or given up."""
        return self._oracle is not None and self._oracle.done(world.state, 0)
