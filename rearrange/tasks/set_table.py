"""Set Table: the bowl from its closed drawer and the apple from the closed fridge to the table.

Reference: habitat-lab v0.3.4's set_table; observation, action, reward and success: household.py.
Start: the bowl (target 0) in the upper right drawer, the apple (target 1) on the fridge's middle shelf, both
closed, all other objects on the open receptacles; the robot anywhere.
Reward: beyond that of every scenario, what shuts the targets in pays for being opened, once. The reference pays
nothing for it, although a hand that follows a door moves away from what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_compat.numpy as numpy_api
import numpy as np

from rearrange.episodes import Episode, Scene, Target, empty_scene
from rearrange.episodes.generation import GOAL_GAP
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.scenes.objects import SLOT_KINDS
from rearrange.sim.base import Array, SimState
from rearrange.tasks.base import Outcome
from rearrange.tasks.household import Household, HouseholdConfig

BOWL, APPLE = 28, 27  # object slots
DRAWER, FRIDGE, TABLE = "drawer_right_top", "fridge_middle", "table_01"
# What shuts in the bowl and the apple: neighbours in the simulator's order, so that a slice finds them.
_JOINTS = slice(ARTICULATED_JOINTS.index("fridge_door"), ARTICULATED_JOINTS.index(DRAWER) + 1)


@dataclass
class SetTableConfig(HouseholdConfig):
    """Numbers of Set Table. In brackets: habitat-lab v0.3.4."""

    open_scale: float = 1.0  # [0] per radian (fridge) or metre (drawer) of opening, until open
    open_bonus: float = 1.0  # [0] once for the fridge and once for the drawer, like pick and place
    fridge_opened: float = 1.07  # [1.07] angle of the predicate opened_fridge [rad]
    drawer_opened: float = 0.35  # [0.35] travel of the predicate opened_cab [m]


class SetTable(Household):
    """The Set Table task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "set_table"
    target_count: ClassVar[int] = 2
    config_type = SetTableConfig

    def __init__(
        self, config: SetTableConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        super().__init__(config, world_count, xp)
        assert isinstance(self.config, SetTableConfig)
        self.open_scale, self.open_bonus = self.config.open_scale, self.config.open_bonus
        self.opened_beyond = xp.asarray([self.config.fridge_opened, self.config.drawer_opened])
        self.opened = xp.zeros((world_count, 2), dtype=xp.bool)  # at any time of the episode
        self.previous_opening = xp.zeros((world_count, 2))

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """Bowl and apple shut in, with free goals on the table, and everything else as clutter."""
        scene = empty_scene(split, rng)
        for slot, name in ((BOWL, DRAWER), (APPLE, FRIDGE)):
            if not scene.add_object(slot, name, rng):
                return None
        targets: list[Target] = []
        for slot, name in ((BOWL, DRAWER), (APPLE, FRIDGE)):
            goal = scene.find_place(slot, TABLE, GOAL_GAP, rng, attempts=50)
            if goal is None:
                return None
            targets.append(Target(slot, scene.position(slot), goal, name, TABLE))
        # The goals are taken before the clutter, which finds its place around them.
        clutter = [slot for slot in range(len(SLOT_KINDS)) if slot not in (BOWL, APPLE)]
        scene.add_clutter(clutter, rng, GOAL_GAP)
        return scene, tuple(targets)

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        super().start(world_ids, episodes, state)
        opening = state.articulated_joints[:, _JOINTS]
        opened = opening > self.opened_beyond
        for i in world_ids:
            self.previous_opening[i] = opening[i]
            self.opened[i] = opened[i]

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """As every household scenario, and opening; see SetTableConfig for the terms."""
        xp = self.xp
        outcome = super().evaluate(state, action)
        opening = state.articulated_joints[:, _JOINTS]
        first = (opening > self.opened_beyond) & ~self.opened
        progress = (opening - self.previous_opening) * ~self.opened
        self.previous_opening[:] = opening
        self.opened = self.opened | first
        outcome.rewards["opening"] = self.open_scale * xp.sum(progress, axis=-1)
        outcome.rewards["open"] = self.open_bonus * xp.sum(first, axis=-1)
        return outcome
