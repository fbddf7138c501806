"""Tidy House: bring five of thirty objects from open receptacles to other open receptacles.

Reference: habitat-lab v0.3.4's tidy_house; observation, action, reward and success: household.py.
Start: thirty objects on the eight open receptacles, fridge and drawers closed, the robot anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rearrange.episodes import Target
from rearrange.tasks.household import Household, HouseholdConfig
from rearrange.tasks.sampling import GOAL_GAP, Scene, cluttered_scene


@dataclass
class TidyHouseConfig(HouseholdConfig):
    """Numbers of Tidy House: those of every household scenario."""


class TidyHouse(Household):
    """The Tidy House task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "tidy_house"
    title: ClassVar[str] = "Tidy House"
    target_count: ClassVar[int] = 5
    config_type = TidyHouseConfig

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """Five random objects and a free goal for each on another receptacle."""
        scene = cluttered_scene(split, rng)
        targets: list[Target] = []
        for slot in rng.permutation(list(scene.objects)).tolist():
            start = scene.receptacle_of[slot]
            others = [name for name in scene.spec.open_receptacles if name != start]
            for name in rng.permutation(others).tolist():
                goal = scene.find_place(slot, name, GOAL_GAP, rng)
                if goal is not None:
                    targets.append(Target(slot, scene.position(slot), goal, start, name))
                    break
            if len(targets) == self.target_count:
                return scene, tuple(targets)
        return None
