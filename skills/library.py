"""Skills by name, as the planner asks for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import load_layout
from rearrange.errors import UserError
from rearrange.robot import kinematics
from rearrange.sim.base import NOTHING
from skills.base import (
    MONOLITHIC,
    POLICY_SUFFIX,
    SKILL_NAMES,
    Skill,
    SkillArgument,
    parse_modes,
)
from skills.learned import LEARNED, LearnedScenario
from skills.oracle import (
    CloseOracle,
    NavigateOracle,
    NavigateToHandle,
    OpenOracle,
    Oracle,
    PickOracle,
    PlaceOracle,
)
from skills.random_skill import RandomSkill
from skills.settings import CHECKPOINTS
from skills.spa import spa_skills

ORACLE_TIMEOUT = 600  # steps; oracles move carefully
RESET_TIMEOUT = 50  # steps (habitat-lab)
RESET_STEP = 0.0375  # [rad] per step and joint
RESET_ERROR = 0.05  # [rad] (habitat-lab)

_HANDLE_ORACLES: dict[str, type[NavigateToHandle] | type[OpenOracle] | type[CloseOracle]] = {
    "navigate": NavigateToHandle,
    "open_cab": OpenOracle,
    "close_cab": CloseOracle,
    "open_fridge": OpenOracle,
    "close_fridge": CloseOracle,
}


def begin_oracle(name: str, world: RearrangeEnv, argument: SkillArgument) -> Oracle:
    """An oracle that has begun in the world's apartment.

    Args:
        name: One of SKILL_NAMES.
        world: The environment.
        argument: What the skill is applied to; Navigate goes to a handle where it names a joint.

    Raises:
        UserError: A skill that opens or closes is told no joint.
    """
    grid, state = load_layout(world.episode.layout, world.episode.variation)[1], world.state
    if name in _HANDLE_ORACLES and (name != "navigate" or argument.joint is not None):
        if argument.joint is None:
            raise UserError(f"{name} has to be told a joint: set SkillArgument.joint")
        oracle = _HANDLE_ORACLES[name](grid)
        oracle.reset(state, 0, argument.joint)
    elif name == "navigate":
        oracle = NavigateOracle(grid)
        goal = argument.position if argument.kind == "goal" else None
        oracle.reset(state, 0, argument.slot, goal)
    elif name == "place":
        oracle = PlaceOracle(grid)
        oracle.reset(state, 0, argument.slot, argument.position)
    else:
        oracle = PickOracle(grid)
        oracle.reset(state, 0, argument.slot)
    return oracle


class OracleSkill:
    """An oracle behind the interface of a skill."""

    source = "oracle"
    timeout = ORACLE_TIMEOUT

    def __init__(self, name: str) -> None:
        """Name one of SKILL_NAMES."""
        self.name = name
        self._oracle: Oracle | None = None

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin in the world's apartment."""
        self._oracle = begin_oracle(self.name, world, argument)

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action [10]."""
        assert self._oracle is not None, "reset() comes first"
        return self._oracle.act(world.state, 0)

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the oracle has finished or given up."""
        return self._oracle is not None and self._oracle.done(world.state, 0)


class ResetArm:
    """Brings the arm to its resting joints without changing what is held; scripted, as in HAB."""

    name = "reset_arm"
    source = "scripted"
    timeout = RESET_TIMEOUT

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Nothing to prepare."""

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """A step of every joint towards rest, in proportion, so that all arrive together [10]."""
        error = np.asarray(kinematics.RESTING_ARM) - world.state.arm_joints[0]
        action = np.zeros(10)
        action[:7] = error * min(1.0, RESET_STEP / max(float(np.abs(error).max()), 1e-9))
        action[7] = 1.0 if world.state.held_object[0] != NOTHING else -1.0
        return action

    def done(self, world: RearrangeEnv) -> bool:
        """All joints are near their resting angles."""
        error = np.asarray(kinematics.RESTING_ARM) - world.state.arm_joints[0]
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
