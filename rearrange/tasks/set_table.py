"""Set Table: the bowl from its closed drawer and the apple from the closed fridge to the table.

Reference: habitat-lab v0.3.4's set_table; observation, action, reward and success: household.py.
Start: the bowl (target 0) in the upper right drawer, the apple (target 1) on the fridge's middle shelf, both
closed. All other objects are on the open receptacles, the robot anywhere.
Reward: as in every scenario; besides, what shuts the targets in pays once for being opened. The reference pays
nothing for it, although a hand that follows a door moves away from what is behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rearrange.caching import cached_njit
from rearrange.episodes import Episode, Target
from rearrange.scenes.cabinet import DRAWERS
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.settings import setting
from rearrange.tasks import household
from rearrange.tasks.base import each_world
from rearrange.tasks.household import Household, HouseholdConfig, memory_of, with_goals
from rearrange.tasks.sampling import Scene, empty_scene

BOWL, APPLE = "024_bowl", "013_apple"  # kinds of objects; of several the last is taken
TABLE = "table_01"
DRAWER = DRAWERS[0]
SHUT_IN = ((BOWL, DRAWER.receptacle), (APPLE, FRIDGE_DOOR.receptacle))


@dataclass
class SetTableConfig(HouseholdConfig):
    """Numbers of Set Table. `hab`: habitat-lab v0.3.4's."""

    open_scale: float = setting(
        1.0, hab=0.0, about="per radian (fridge) or metre (drawer) of opening, until open"
    )
    open_bonus: float = setting(
        1.0, hab=0.0, about="once for the fridge and once for the drawer, like pick and place"
    )
    fridge_opened: float = setting(
        FRIDGE_DOOR.opened_beyond, hab=1.07, about="angle of the predicate opened_fridge [rad]"
    )
    drawer_opened: float = setting(
        DRAWER.opened_beyond, hab=0.35, about="travel of the predicate opened_cab [m]"
    )


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    household._begin(world, memory, config)
    for k, beyond in enumerate((config.fridge_opened, config.drawer_opened)):
        memory.previous_opening[k] = world.articulated_joints[memory.joints[k]]
        memory.opened[k] = memory.previous_opening[k] > beyond


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    household._evaluate(world, memory, config, action, outcome)
    rewards = outcome.rewards
    progress, first_count = 0.0, 0
    for k, beyond in enumerate((config.fridge_opened, config.drawer_opened)):
        opening = world.articulated_joints[memory.joints[k]]
        if not memory.opened[k]:
            progress += opening - memory.previous_opening[k]
            if opening > beyond:
                memory.opened[k] = True
                first_count += 1
        memory.previous_opening[k] = opening
    rewards.opening = config.open_scale * progress
    rewards.open = config.open_bonus * first_count


class SetTable(Household):
    """The Set Table task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "set_table"
    title: ClassVar[str] = "Set Table"
    target_count: ClassVar[int] = 2
    config_type = SetTableConfig
    REWARDS = (*Household.REWARDS, "opening", "open")
    MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        *memory_of(2),
        ("joints", "i8", (2,)),  # of fridge and drawer
        ("opened", "u1", (2,)),  # likewise, at any time of the episode
        ("previous_opening", "f8", (2,)),
    ]
    compiled = each_world(_begin, household._mask, _evaluate, household._observe)

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """Bowl and apple shut in, with free goals on the table, and everything else as clutter."""
        scene = empty_scene(split, rng)
        shut_in = [(scene.spec.slots_of(kind)[-1], name) for kind, name in SHUT_IN]
        for slot, name in shut_in:
            if not scene.add_object(slot, name, rng):
                return None
        return with_goals(scene, [(slot, name, TABLE) for slot, name in shut_in], rng)

    def aim(self, memory: Any, episode: Episode) -> None:
        """See Household; and what shuts the targets in."""
        super().aim(memory, episode)
        memory["joints"] = [self.scene.index(part.name) for part in (FRIDGE_DOOR, DRAWER)]
