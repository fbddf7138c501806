"""Prepare Groceries: two objects from the open fridge to the counters, one from a counter to the fridge.

Reference: habitat-lab v0.3.4's prepare_groceries; observation, action, reward and success: household.py.
Start: targets 0 and 1 on the fridge's middle shelf, target 2 on a counter, all other objects on the open
receptacles. The fridge's door is open, the robot anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rearrange.episodes import Target
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.settings import setting
from rearrange.tasks.household import Household, HouseholdConfig, with_goals
from rearrange.tasks.sampling import GOAL_GAP, Scene, empty_scene

COUNTERS = ("counter_left", "counter_right")
FRIDGE = FRIDGE_DOOR.receptacle


@dataclass
class PrepareGroceriesConfig(HouseholdConfig):
    """Numbers of Prepare Groceries. `hab`: habitat-lab v0.3.4's."""

    fridge_angle: float = setting(
        FRIDGE_DOOR.laid_open,
        hab=1.5,
        high=FRIDGE_DOOR.range[1],
        about="of the open door at the start [rad]",
    )


class PrepareGroceries(Household):
    """The Prepare Groceries task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "prepare_groceries"
    title: ClassVar[str] = "Prepare Groceries"
    target_count: ClassVar[int] = 3
    config_type = PrepareGroceriesConfig

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """Three targets of HAB's nine kinds with free goals, and everything else as clutter."""
        assert isinstance(self.config, PrepareGroceriesConfig)
        scene = empty_scene(split, rng)
        scene.joints = {FRIDGE_DOOR.name: self.config.fridge_angle}
        kinds = [slot for slot, kind in enumerate(scene.spec.slot_kinds) if kind != "013_apple"]
        *from_fridge, to_fridge = rng.permutation(kinds)[: self.target_count].tolist()
        wanted = [(slot, FRIDGE, str(rng.choice(COUNTERS))) for slot in from_fridge]
        wanted.append((to_fridge, str(rng.choice(COUNTERS)), FRIDGE))
        if not all(scene.add_object(slot, start, rng, GOAL_GAP) for slot, start, _ in wanted):
            return None
        return with_goals(scene, wanted, rng)
