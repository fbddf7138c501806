"""Skills by name, as the planner asks for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.robot.actions import HOLD, LET_GO
from skills.base import Skill, SkillArgument
from skills.knowledge import Body
from skills.learned import LearnedScenario, LearnedSkill, robot_of_policy
from skills.modes import MONOLITHIC, POLICY_SUFFIX, parse_modes
from skills.oracle.skill import OracleSkill
from skills.random_skill import RandomSkill
from skills.registry import all_specs, find, shipped_policy
from skills.settings import CHECKPOINTS
from skills.spa import Robot, SpaSkill
from ver import read_metadata

RESET_TIMEOUT = 50  # steps (habitat-lab)
RESET_STEP = 0.0375  # [rad] per step and joint, of slides in their units
RESET_ERROR = 0.05  # [rad] (habitat-lab), likewise


class ResetArm:
    """Brings the arm to its resting joints without changing what is held; scripted, as in HAB."""

    name = "reset_arm"
    source = "scripted"
    timeout = RESET_TIMEOUT

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Nothing to prepare."""

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """A step of every joint towards rest, in proportion, so that all arrive together [J + 3]."""
        body = Body(world)
        error = np.asarray(world.robot.resting_arm) - body.joints
        step = error * min(1.0, RESET_STEP / max(world.robot.swing(error), 1e-9))
        return world.robot.actions.physical(step, HOLD if body.is_holding else LET_GO)

    def done(self, world: RearrangeEnv) -> bool:
        """All joints are near their resting angles."""
        error = np.asarray(world.robot.resting_arm) - Body(world).joints
        return world.robot.swing(error) < RESET_ERROR


def monolithic_policy(scenario: str, given: str | None = None) -> Path:
    """The file of the policy that plays a scenario alone: the given one, or the one in data/checkpoints.

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
    """Map each skill to its source: "oracle", "spa", "random" or the file of a policy.

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
    for name, spec in all_specs().items():
        if spec.is_optional and name not in chosen:
            continue
        what = chosen.get(name, mode)
        if what.endswith(POLICY_SUFFIX):
            sources[name] = Path(what)
        elif what in ("oracle", "spa", "random"):
            sources[name] = what
        else:
            path = shipped_policy(name, CHECKPOINTS)
            sources[name] = path if path.is_file() else "oracle"
            if what == "learned" and not path.is_file():
                missing.append(name)
    if missing:
        raise UserError(
            f"no checkpoint for {', '.join(missing)} in {CHECKPOINTS}: "
            "train it with scripts/train_skill.sh, or use --skills mixed"
        )
    return sources


def robot_of(words: str, scenario: str = "", asked: str = "") -> str:
    """Name of the robot that skills act with: the policies' own, or the one that is asked for.

    Args:
        words: As in `load_skills`.
        scenario: As there.
        asked: A name; "": none is.

    Raises:
        UserError: A policy has learned to act with another one, or there is none of that name.
    """
    robot = asked
    for path in skill_sources(words, scenario).values():
        if isinstance(path, Path):
            robot = robot_of_policy(path, read_metadata(path), robot)
    find_robot(robot or DEFAULT_ROBOT)
    return robot or DEFAULT_ROBOT  # of a file its path, which other processes find it by


def load_skills(words: str, scenario: str = "") -> dict[str, Skill]:
    """All skills that a plan needs, and `reset_arm`; or what needs no plan, alone.

    Optional skills (`SkillSpec.is_optional`) are among them where they are named.

    Args:
        words: "oracle": all from privileged state; "learned": all from checkpoints; "mixed": learned
            where there is a checkpoint; "spa": all by sensing, planning and acting; "random": all
            by random actions. Then, perhaps, exceptions, as in
            "learned,open_cab=oracle,pick=runs/pick/policy.safetensors". "monolithic":
            one policy for the whole scenario, under that name.
        scenario: What is to be done, one of `household_names()`; for "monolithic" only.

    Raises:
        UserError: Unknown mode or skill, or a checkpoint is missing and not left to an oracle.
    """
    sources = skill_sources(words, scenario)
    if MONOLITHIC in sources:
        return {MONOLITHIC: LearnedScenario(scenario, sources[MONOLITHIC], deterministic=True)}
    skills: dict[str, Skill] = {"reset_arm": ResetArm()}
    robot = Robot()  # skills that sense and plan share what they remember
    for name, source in sources.items():
        if isinstance(source, Path):
            skills[name] = LearnedSkill(name, source, deterministic=True)
        elif source == "random":
            skills[name] = RandomSkill(name)
        elif source == "spa":
            skills[name] = spa_skill(name, robot)
        else:
            skills[name] = OracleSkill(name)
    return skills


def spa_skill(name: str, robot: Robot) -> SpaSkill:
    """A skill's sense-plan-act counterpart; a UserError where it has none."""
    plan = find(name).spa
    if plan is None:
        raise UserError(
            f"{name} has no sense-plan-act counterpart: give another, as in spa,{name}=oracle"
        )
    return SpaSkill(name, robot, plan)
