"""Modes: the kind of agent that plays all skills of a plan, and exceptions for single skills."""

from __future__ import annotations

import re

from rearrange.errors import UserError
from skills.registry import skill_names

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
        UserError: An unknown mode or skill, or one that is there twice.
    """
    if MONOLITHIC in re.split("[,=]", words):
        return MONOLITHIC, _monolithic_file(words)
    mode, *exceptions = words.split(",")
    chosen: dict[str, str] = {}
    for exception in exceptions:
        skill, _, what = exception.partition("=")
        if skill not in skill_names():
            raise UserError(
                f"unknown skill '{skill}' in '{words}': choose one of {', '.join(skill_names())}"
            )
        if skill in chosen:
            raise UserError(f"'{words}' says twice who plays {skill}: leave one of them out")
        chosen[skill] = what
    for name in (mode, *(what for what in chosen.values() if not what.endswith(POLICY_SUFFIX))):
        if name not in MODES:
            raise UserError(
                f"unknown skills '{name}': choose one of {', '.join(MODES)}, and exceptions as in "
                f"learned,pick=oracle,place=FILE{POLICY_SUFFIX}"
            )
    return mode, chosen


def who_plays(task: str, words: str) -> str:
    """Return who plays a task that is no chore, of modes and exceptions as `parse_modes` reads them.

    Raises:
        UserError: They are wrong, or whoever it is plays chores alone.
    """
    mode, chosen = parse_modes(words)
    who = chosen.get(task, mode)
    if who in (MONOLITHIC, "spa"):
        raise UserError(f"--skills {who} plays whole chores: give {task} another, or film a chore")
    return who


def _monolithic_file(words: str) -> dict[str, str]:
    """The file in "monolithic=FILE" by name, nothing where it lies in data/checkpoints."""
    if words == MONOLITHIC:
        return {}
    name, _, path = words.partition("=")
    if name != MONOLITHIC or "," in words or not path.endswith(POLICY_SUFFIX):
        raise UserError(
            f"'{words}': {MONOLITHIC} plays without any skills: give {MONOLITHIC} or "
            f"{MONOLITHIC}=FILE{POLICY_SUFFIX} alone"
        )
    return {MONOLITHIC: path}
