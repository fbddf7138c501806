"""The Skill protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode


@dataclass(frozen=True)
class SkillArgument:
    """Argument of a skill.

    Attributes:
        kind: "object": the object at its start; "goal": the place where it belongs.
        slot: Object slot.
        target_index: Place in the episode's targets.
        position: Start of the object or its goal, world frame [m].
        joint: The articulated joint (one of SceneSpec.joints) that the skill opens or closes, or,
            for Navigate, whose handle will be used next; None where no joint is concerned.
    """

    kind: Literal["object", "goal"]
    slot: int
    target_index: int
    position: tuple[float, float, float]
    joint: str | None = None


class Skill(Protocol):
    """One skill, learned or not, that acts in the world of an environment.

    Attributes:
        name: Its name in the plan.
        source: "oracle", "sense-plan-act", "scripted" or the path of the checkpoint.
        timeout: Steps after which whoever runs it gives up.
    """

    name: str
    source: str
    timeout: int

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin, forgetting everything of the last use."""
        ...

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """The next action in the simulator's units [J + 3]."""
        ...

    def done(self, world: RearrangeEnv) -> bool:
        """Return whether the skill's own end condition holds, as far as it can observe."""
        ...


@runtime_checkable
class ForeseeingSkill(Skill, Protocol):
    """A skill that can tell before it begins whether it will succeed (skills.initiation)."""

    def chance(self, world: RearrangeEnv, argument: SkillArgument) -> float | None:
        """Return how likely it succeeds from here; None where it cannot tell."""
        ...


def as_episode(asked: Episode, argument: SkillArgument, holding: bool) -> Episode:
    """An episode as a skill's own task would have it: one target, beginning now.

    Args:
        asked: The world's episode.
        argument: What the skill is told.
        holding: Whether something is held: what that is the robot does not know, but what it should be.
    """
    target = asked.targets[argument.target_index]
    place = {"start" if argument.kind == "object" else "goal": argument.position}
    # Navigate goes to the start with an empty hand, to the goal with something in it: to what it is told
    place["goal" if holding else "start"] = argument.position
    return replace(
        asked,
        targets=(replace(target, slot=argument.slot, **place),),
        held_slot=argument.slot if holding else None,
        target_joint=argument.joint,
    )
