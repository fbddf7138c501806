"""How each oracle begins on what a skill is told."""

from __future__ import annotations

from collections.abc import Callable

from rearrange.navigation import OccupancyGrid
from rearrange.sim.base import SimState
from skills.base import SkillArgument
from skills.oracle.navigate import NavigateOracle
from skills.oracle.navigate_handle import NavigateToHandle
from skills.oracle.open_close import CloseOracle, OpenOracle
from skills.oracle.oracle import Oracle
from skills.oracle.pick import PickOracle
from skills.oracle.place import PlaceOracle

# (floor of the apartment, state of one world, what the skill is told) -> an oracle that has begun
BeginOracle = Callable[[OccupancyGrid, SimState, SkillArgument], Oracle]


def begin_navigate(grid: OccupancyGrid, state: SimState, argument: SkillArgument) -> Oracle:
    """Navigate, to a handle where a joint is named."""
    if argument.joint is not None:
        oracle = NavigateToHandle(grid)
        oracle.reset(state, argument.joint)
        return oracle
    oracle = NavigateOracle(grid)
    goal = argument.position if argument.kind == "goal" else None
    oracle.reset(state, argument.slot, goal)
    return oracle


def begin_pick(grid: OccupancyGrid, state: SimState, argument: SkillArgument) -> Oracle:
    """Pick, driving to the object if need be."""
    oracle = PickOracle(grid)
    oracle.reset(state, argument.slot)
    return oracle


def begin_place(grid: OccupancyGrid, state: SimState, argument: SkillArgument) -> Oracle:
    """Place at the position that is told."""
    oracle = PlaceOracle(grid)
    oracle.reset(state, argument.slot, argument.position)
    return oracle


def begin_open(grid: OccupancyGrid, state: SimState, argument: SkillArgument) -> Oracle:
    """Open the part of the joint that is named."""
    assert argument.joint is not None
    oracle = OpenOracle(grid)
    oracle.reset(state, argument.joint)
    return oracle


def begin_close(grid: OccupancyGrid, state: SimState, argument: SkillArgument) -> Oracle:
    """Close the part of the joint that is named."""
    assert argument.joint is not None
    oracle = CloseOracle(grid)
    oracle.reset(state, argument.joint)
    return oracle
