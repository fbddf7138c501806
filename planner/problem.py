"""The planning problem of an episode: real PDDL text, read back by unified-planning's PDDLReader.

The text is made of a list of facts, so that a problem can equally be written from what is observed
in the middle of an episode: `problem_text` does not care where its facts came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from unified_planning.io import PDDLReader
from unified_planning.model import Problem

from planner.search import Atom
from rearrange.episodes import Episode, spec_of
from rearrange.errors import UserError
from rearrange.scenes.spec import SceneSpec
from skills import SkillArgument
from skills.registry import find

DOMAIN_PATH = Path(__file__).with_name("domain.pddl")
ROBOT = "fetch"
START = "start_pose"


@dataclass(frozen=True)
class TaskProblem:
    """One episode as a planning problem.

    Attributes:
        text: The PDDL problem.
        problem: The same, read by unified-planning together with domain.pddl.
        arguments: Name of an object or goal in the PDDL -> what a skill is told about it.
    """

    text: str
    problem: Problem
    arguments: dict[str, SkillArgument]


def build_problem(
    episode: Episode, close: bool = False, named: Collection[str] = ()
) -> TaskProblem:
    """Writes the problem "bring every target to its goal, hand empty" and reads it back.

    Args:
        episode: What is asked.
        close: Every fridge and drawer that the targets need shall be closed in the end: our
            extension, HAB never asks for it.
        named: Skills that were named; those that bring actions of their own take part.

    Raises:
        UserError: The episode names receptacles that do not exist, or no targets.
    """
    if not episode.targets:
        raise UserError(f"episode '{episode.episode_id}' has no targets: nothing to plan")
    text = problem_text(
        f"episode-{episode.episode_id}",
        objects_of(episode),
        initial_facts(episode),
        goals(episode, close),
    )
    return TaskProblem(text, read_problem(text, named), skill_arguments(episode))


def read_problem(text: str, named: Collection[str] = ()) -> Problem:
    """A problem in our domain, read by unified-planning; `named` as in build_problem."""
    return _reader().parse_problem_string(domain_text(named), text)


def domain_text(named: Collection[str] = ()) -> str:
    """The domain in PDDL, with the actions that skills bring themselves, of those that are named."""
    text = DOMAIN_PATH.read_text(encoding="utf-8")
    added = [find(name).pddl for name in named if find(name).pddl]
    return "\n".join([text.rstrip().removesuffix(")"), *added, ")\n"]) if added else text


def object_name(target_index: int) -> str:
    """Name of a target object in the PDDL."""
    return f"object_{target_index}"


def goal_name(target_index: int) -> str:
    """Name of a target's goal in the PDDL."""
    return f"goal_{target_index}"


def skill_arguments(episode: Episode) -> dict[str, SkillArgument]:
    """Return the skill argument of each object (its start, not where it is now) and each goal."""
    arguments: dict[str, SkillArgument] = {}
    for index, target in enumerate(episode.targets):
        arguments[object_name(index)] = SkillArgument("object", target.slot, index, target.start)
        arguments[goal_name(index)] = SkillArgument("goal", target.slot, index, target.goal)
    return arguments


def drawers_of(episode: Episode) -> dict[int, str]:
    """Targets whose objects start in a drawer, which carries them -> its joint."""
    found: dict[int, str] = {}
    for index, target in enumerate(episode.targets):
        part = spec_of(episode).part_of(target.start_receptacle)
        if part is not None and not part.turns:
            found[index] = part.name
    return found


def is_opened(scene: SceneSpec, receptacle: str, joints: Mapping[str, float]) -> bool:
    """Return whether objects in a receptacle can be reached; half-open counts as closed."""
    part = scene.part_of(receptacle)
    return part is None or joints.get(part.name, 0.0) > part.opened_beyond


def kind_of(scene: SceneSpec, receptacle: str) -> str:
    """Type of a receptacle in the domain."""
    part = scene.part_of(receptacle)
    return "static-receptacle" if part is None else part.kind


def initial_facts(episode: Episode) -> list[Atom]:
    """Everything that holds before the first action."""
    facts: list[Atom] = [("robot-at", ROBOT, START)]
    scene = spec_of(episode)
    held = {i for i, t in enumerate(episode.targets) if t.slot == episode.held_slot}
    facts += [("holding", ROBOT, object_name(i)) for i in held] or [("hand-empty", ROBOT)]
    for index, target in enumerate(episode.targets):
        facts.append(("misplaced", object_name(index)))
        if index not in held:
            facts.append(("in", object_name(index), target.start_receptacle))
            if scene.part_of(target.start_receptacle):
                facts.append(("marks", object_name(index), target.start_receptacle))
        facts.append(("in", goal_name(index), target.goal_receptacle))
        if scene.part_of(target.goal_receptacle):
            facts.append(("marks", goal_name(index), target.goal_receptacle))
    for receptacle in receptacles_of(episode):
        opened = is_opened(scene, receptacle, episode.articulated)
        facts.append(("opened" if opened else "closed", receptacle))
    return facts


def goals(episode: Episode, close: bool = False) -> list[Atom]:
    """HAB's success: every object at its own goal, and nothing held; `close` as in build_problem."""
    at_goals = [("object-at", object_name(i), goal_name(i)) for i in range(len(episode.targets))]
    closable = [r for r in receptacles_of(episode) if spec_of(episode).part_of(r)]
    shut = [("closed", receptacle) for receptacle in closable if close]
    return [*at_goals, ("hand-empty", ROBOT), *shut]


def problem_text(
    name: str, objects: Mapping[str, Iterable[str]], facts: Iterable[Atom], goals: Iterable[Atom]
) -> str:
    """PDDL of a problem in this domain.

    Args:
        name: Any text; characters that PDDL does not allow are replaced.
        objects: Type -> names.
        facts: What holds at the start.
        goals: What shall hold in the end.
    """
    safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    lines = [f"(define (problem {safe})", "  (:domain home-assistant)", "  (:objects"]
    lines += [f"    {' '.join(names)} - {kind}" for kind, names in objects.items() if names]
    lines += ["  )", "  (:init", *(f"    ({' '.join(fact)})" for fact in facts), "  )"]
    lines += ["  (:goal (and", *(f"    ({' '.join(goal)})" for goal in goals), "  ))", ")"]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=1)
def _reader() -> PDDLReader:
    """Making one builds PDDL's grammar, a quarter of a second the first time."""
    return PDDLReader()


def receptacles_of(episode: Episode) -> list[str]:
    """Receptacles that the targets need, in the order of the targets; others cannot matter."""
    needed = [r for t in episode.targets for r in (t.start_receptacle, t.goal_receptacle)]
    known = spec_of(episode).receptacles
    if unknown := set(needed).difference(known):
        raise UserError(
            f"episode '{episode.episode_id}' names unknown receptacles "
            f"{', '.join(sorted(unknown))}; known: {', '.join(known)}"
        )
    return list(dict.fromkeys(needed))


def objects_of(episode: Episode) -> dict[str, list[str]]:
    """Everything that a problem of the episode may name: type -> names."""
    count = len(episode.targets)
    objects: dict[str, list[str]] = {
        "robot": [ROBOT],
        "pose": [START],
        "movable": [object_name(i) for i in range(count)],
        "goal": [goal_name(i) for i in range(count)],
    }
    for receptacle in receptacles_of(episode):
        objects.setdefault(kind_of(spec_of(episode), receptacle), []).append(receptacle)
    return objects
