"""SkillSpec: everything that is to be said about one skill, in one place.

A skill is three files: a task (`rearrange.tasks.base.Task`), a YAML file with what its training changes, and a
spec. Ours stand in `skills/specs/`, one file each, and are found there; another package registers
its own by an entry point of the group `rearrange.skills`:

    [project.entry-points."rearrange.skills"]
    retrieve = "my_package.retrieve:SPEC"

`python -m skills.specs --check` tells what a skill still lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rearrange.episodes import Episode
from rearrange.tasks import Task
from skills.base import SkillArgument

if TYPE_CHECKING:
    from skills.endings import Ending
    from skills.oracle.beginnings import BeginOracle
    from skills.spa.robot import Plan

Grip = Literal["free", "hold", "release", "keep", "open"]
Effect = Literal["", "arrives", "holds", "places", "opens", "closes"]


@dataclass(frozen=True)
class PlanAction:
    """An action of the planning domain that a skill carries out.

    Attributes:
        name: In domain.pddl or in `SkillSpec.pddl`.
        told: Position of the parameter, an object or a goal, that the skill is told about.
        receptacle: Position of the receptacle that it opens, closes or drives to, or None.
    """

    name: str
    told: int
    receptacle: int | None = None


@dataclass(frozen=True)
class SkillSpec:
    """Declaration of a skill. Whatever is left out, `skills.completeness` names as missing.

    Attributes:
        task: What is learned; its name is the skill's.
        title: For people, as in "open cabinet".
        verb: What the robot is doing, before a name, as in "opening".
        colour: In charts, as in "#2563eb".
        effect: What it is to bring about: the base "arrives", the hand "holds" the object, "places" it at its
            goal, "opens" or "closes" the receptacle. It decides how plans are judged and mended.
        actions: Those of the planning domain that it carries out.
        argument: What its own task's episode asks of it.
        ending: When a policy is done, from what the robot can tell.
        oracle: Begins it with privileged state.
        spa: Its sense-plan-act counterpart.
        timeout: Steps that plans leave a policy.
        grip: What the executive makes of its grip. "free": the skill's own; "hold": cannot let go once it
            holds; "release": cannot grasp again once empty; "keep": stays as it was on entry to the step;
            "open": lets go. A handle in the gripper counts as held, as in HAB.
        timeout_ends: Whether a time-out ends the episode; else the plan goes on.
        heading: Of its table in docs/hab.md; skills of one heading stand beside each other.
        habitat_name: What habitat-lab calls it where that is another name.
        pddl: Its actions in PDDL where domain.pddl lacks them. Such a skill takes part in plans only where it
            is named, as in `--skills mixed,retrieve=oracle`: others' plans stay what they are.
        config: YAML file of its training; None: configs/<name>.yaml.
        checkpoint: Shipped policy; None: data/checkpoints/<name>.safetensors.
    """

    task: type[Task]
    title: str = ""
    verb: str = ""
    colour: str = ""
    effect: Effect = ""
    actions: tuple[PlanAction, ...] = ()
    argument: Callable[[Episode], SkillArgument] | None = None
    ending: type[Ending] | None = None
    oracle: BeginOracle | None = None
    spa: Plan | None = None
    timeout: int = 200  # habitat-lab
    grip: Grip = "free"
    timeout_ends: bool = True
    heading: str = ""
    habitat_name: str = ""
    pddl: str = ""
    config: Path | None = None
    checkpoint: Path | None = None

    @property
    def name(self) -> str:
        """Its name in plans, on the command line and in files."""
        return self.task.name

    @property
    def is_optional(self) -> bool:
        """True if it takes part in plans only where it is named."""
        return bool(self.pddl)


def object_of(episode: Episode) -> SkillArgument:
    """The episode's object at its start, and the joint that is to be moved, if any."""
    target = episode.targets[0]
    return SkillArgument("object", target.slot, 0, target.start, episode.target_joint)


def goal_of(episode: Episode) -> SkillArgument:
    """The goal of the episode's object."""
    target = episode.targets[0]
    return SkillArgument("goal", target.slot, 0, target.goal)


def next_of(episode: Episode) -> SkillArgument:
    """The goal where something is held, else the object."""
    return object_of(episode) if episode.held_slot is None else goal_of(episode)
