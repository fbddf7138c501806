"""What a skill is to whoever chains skills."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.errors import UserError

SKILL_NAMES = (
    "navigate",
    "pick",
    "place",
    "open_cab",
    "close_cab",
    "open_fridge",
    "close_fridge",
)
MONOLITHIC = "monolithic"  # one policy that has learned a whole household scenario
# Which skills carry out a plan -> what the HAB and VER papers call a task planner with them.
MODES: dict[str, str] = {
    "oracle": "oracle",  # all from privileged state
    "learned": "TP-SRL",  # all from checkpoints
    "mixed": "TP-SRL (mixed)",  # learned where there is a checkpoint, oracles elsewhere
    "spa": "TP-SPA",  # all by sensing, planning and acting: no learning, no privileged state
    "random": "random",  # all by random actions, until their time-outs
    MONOLITHIC: "MonolithicRL",  # none: one policy, which follows no plan
}
POLICY_SUFFIX = ".safetensors"
SKILLS_HELP = (
    f"{', '.join(MODES)}; default: mixed. "
    f"With exceptions: learned,pick=oracle,place=FILE{POLICY_SUFFIX}. {MONOLITHIC} or "
    f"{MONOLITHIC}=FILE{POLICY_SUFFIX}: one policy of the whole scenario, without skills and plan"
)


def parse_modes(words: str) -> tuple[str, dict[str, str]]:
    """Read what plays the skills: a mode, and exceptions as in "learned,open_cab=oracle,pick=FILE".

    Args:
        words: One of MODES, then SKILL=WHAT as often as wanted, with commas; WHAT is a mode or the file of
            a policy. Or "monolithic", perhaps with a file, as in "monolithic=FILE".

    Returns:
        The mode, and what is said of single skills; of MONOLITHIC, where its file is given.

    Raises:
        UserError: An unknown mode or skill.
    """
    if MONOLITHIC in re.split("[,=]", words):
        return MONOLITHIC, _monolithic_file(words)
    mode, *exceptions = words.split(",")
    chosen: dict[str, str] = {}
    for exception in exceptions:
        skill, _, what = exception.partition("=")
        if skill not in SKILL_NAMES:
            raise UserError(
                f"unknown skill '{skill}' in '{words}': choose of {', '.join(SKILL_NAMES)}"
            )
        chosen[skill] = what
    for name in (mode, *(what for what in chosen.values() if not what.endswith(POLICY_SUFFIX))):
        if name not in MODES:
            raise UserError(
                f"unknown skills '{name}': choose one of {', '.join(MODES)}, and exceptions as in "
                f"learned,pick=oracle,place=FILE{POLICY_SUFFIX}"
            )
    return mode, chosen


def _monolithic_file(words: str) -> dict[str, str]:
    """The file in "monolithic=FILE" by name, nothing where it is the shipped one's."""
    if words == MONOLITHIC:
        return {}
    name, _, path = words.partition("=")
    if name != MONOLITHIC or "," in words or not path.endswith(POLICY_SUFFIX):
        raise UserError(
            f"'{words}': {MONOLITHIC} plays without any skills: give {MONOLITHIC} or "
            f"{MONOLITHIC}=FILE{POLICY_SUFFIX} alone"
        )
    return {MONOLITHIC: path}


@dataclass(frozen=True)
class SkillArgument:
    """What a skill is applied to.

    Attributes:
        kind: "object": the object at its start; "goal": the place where it belongs.
        slot: Object slot.
        target_index: Place in the episode's targets.
        position: Start of the object or its goal, world frame [m].
        joint: The articulated joint (one of ARTICULATED_JOINTS) that the skill opens or closes, or,
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
        """The next action in the simulator's units [10]."""
        ...

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the skill's own end condition holds, as far as it can observe."""
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
