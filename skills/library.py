"""Skills by name, as the planner asks for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot import kinematics
from skills.base import (
    MONOLITHIC,
    POLICY_SUFFIX,
    SKILL_NAMES,
    Skill,
    SkillArgument,
    parse_modes,
)
from skills.knowledge import Body
from skills.learned import LEARNED, LearnedScenario
from skills.oracle.skill import OracleSkill
from skills.random_skill import RandomSkill
from skills.settings import CHECKPOINTS
from skills.spa import spa_skills

RESET_TIMEOUT = 50  # steps (habitat-lab)
RESET_STEP = 0.0375  # [rad] per step and joint
RESET_ERROR = 0.05  # [rad] (habitat-lab)


class ResetArm:
    """Brings the arm to its resting joints without changing what is held; scripted, as in HAB."""

    name = "reset_arm"
    source = "scripted"
    timeout = RESET_TIMEOUT

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Nothing to prepare."""

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """A step of every joint towards rest, in proportion, so that all arrive together [10]."""
        body = Body(world)
        error = np.asarray(kinematics.RESTING_ARM) - body.joints
        action = np.zeros(10)
        action[:7] = error * min(1.0, RESET_STEP / max(float(np.abs(error).max()), 1e-9))
        action[7] = 1.0 if body.is_holding else -1.0
        return action

    def done(self, world: RearrangeEnv) -> bool:
        """All joints are near their resting angles."""
        error = np.asarray(kinematics.RESTING_ARM) - Body(world).joints
        return bool(np.abs(error).max() < RESET_ERROR)


def monolithic_policy(scenario: str, given: str | None = None) -> Path:
    """The file of the policy that plays a scenario alone: the given one, or the shipped one.

    Raises:
        UserError: There is none.
    """
    path = Path(given) if given else CHECKPOINTS / f"{scenario}{POLICY_SUFFIX}"
    if not path.is_file():
        raise UserError(
            f"no policy for {scenario} at {path}: train it with scripts/train_skill.sh {scenario} and "
            f"give --skills {MONOLITHIC}=runs/{scenario}/policy{POLICY_SUFFIX}"
        )
    return path


def skill_sources(words: str, scenario: str = "") -> dict[str, str | Path]:
    """Who plays each skill: "oracle", "spa", "random" or the file of a policy.

    Args:
        words: As in `load_skills`.
        scenario: As there.

    Raises:
        UserError: As there.
    """
    mode, chosen = parse_modes(words)
    if mode == MONOLITHIC:
        return {MONOLITHIC: monolithic_policy(scenario, chosen.get(MONOLITHIC))}
    sources: dict[str, str | Path] = {}
    missing = []
    for name in SKILL_NAMES:
        what = chosen.get(name, mode)
        if what.endswith(POLICY_SUFFIX):
            sources[name] = Path(what)
        elif what in ("oracle", "spa", "random"):
            sources[name] = what
        else:
            path = CHECKPOINTS / f"{name}{POLICY_SUFFIX}"
            sources[name] = path if path.is_file() else "oracle"
            if what == "learned" and not path.is_file():
                missing.append(name)
    if missing:
        raise UserError(
            f"no checkpoint for {', '.join(missing)} in {CHECKPOINTS}: "
            "train it with scripts/train_skill.sh, or use --skills mixed"
        )
    return sources


def load_skills(words: str, scenario: str = "") -> dict[str, Skill]:
    """All skills that a plan needs, and `reset_arm`; or what needs no plan, alone.

    Args:
        words: "oracle": all from privileged state; "learned": all from checkpoints; "mixed": learned
            where there is a checkpoint; "spa": all by sensing, planning and acting; "random": all
            by random actions. Then, perhaps, exceptions, as in
            "learned,open_cab=oracle,pick=runs/pick/policy.safetensors". "monolithic":
            one policy for the whole scenario, under that name.
        scenario: What is to be done, one of HOUSEHOLD_NAMES; for "monolithic" only.

    Raises:
        UserError: Unknown mode or skill, or a checkpoint is missing and not left to an oracle.
    """
    sources = skill_sources(words, scenario)
    if MONOLITHIC in sources:
        return {MONOLITHIC: LearnedScenario(sources[MONOLITHIC], scenario, deterministic=True)}
    skills: dict[str, Skill] = {"reset_arm": ResetArm()}
    by_sensing = spa_skills() if "spa" in sources.values() else {}
    for name, source in sources.items():
        if isinstance(source, Path):
            skills[name] = LEARNED[name](source, deterministic=True)
        elif source == "random":
            skills[name] = RandomSkill(name)
        else:
            skills[name] = by_sensing[name] if source == "spa" else OracleSkill(name)
    return skills
