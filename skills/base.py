"""What a skill is to whoever chains skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rearrange.env import RearrangeEnv


@dataclass(frozen=True)
class SkillArgument:
    """What a skill is applied to.

    Attributes:
        kind: "object": the object at its start; "goal": the place where it belongs.
        slot: Object slot.
        target_index: Place in the episode's targets.
        position: Start of the object or its goal, world frame [m].
    """

    kind: Literal["object", "goal"]
    slot: int
    target_index: int
    position: tuple[float, float, float]


class Skill(Protocol):
    """One skill, learned or not, that acts in the world of an environment.

    Attributes:
        name: Its name in the plan.
        source: "oracle", "scripted" or the path of the checkpoint.
        timeout: Steps after which whoever runs it gives up.
    """

    name: str
    source: str
    timeout: int

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin, forgetting everything of the last use."""
        ...

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """The next action in the simulator's units [10]."""
        ...

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the skill's own end condition holds, as far as it can observe."""
        ...
