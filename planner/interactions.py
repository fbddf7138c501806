"""Which interactions of a plan have succeeded: HAB's stage goals, as in the VER paper's Figure 6.

Interaction i counts only while everything placed before it is still in place, and only if all
interactions before it succeeded too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planner.problem import ARTICULATED_RECEPTACLES, OPENED_BEYOND
from planner.search import PlanStep
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.sim.base import NOTHING, SimState
from skills import SkillArgument

OBJECT_AT_DISTANCE = 0.30  # [m] habitat-lab v0.3.4; the Place skill's own success is 0.15
CLOSED_BELOW = 0.15  # [rad] or [m]


@dataclass(frozen=True)
class SkillBinding:
    """How an action of the domain becomes a skill.

    Attributes:
        skill: Name in `skills.load_skills`.
        told: Position of the object or goal that the skill is told about.
        receptacle: Position of the receptacle that it opens or closes, or None.
        interacts: Counts as an interaction of its own; driving does not.
    """

    skill: str
    told: int
    receptacle: int | None = None
    interacts: bool = True


BINDINGS: dict[str, SkillBinding] = {
    "nav": SkillBinding("navigate", 2, interacts=False),
    "nav-to-receptacle": SkillBinding("navigate", 3, interacts=False),
    "pick": SkillBinding("pick", 1),
    "place": SkillBinding("place", 2),
    "open-fridge": SkillBinding("open_fridge", 2, 1),
    "open-cab": SkillBinding("open_cab", 2, 1),
    "close-fridge": SkillBinding("close_fridge", 2, 1),
    "close-cab": SkillBinding("close_cab", 2, 1),
}


@dataclass(frozen=True)
class SkillCall:
    """One skill to be run, with what it is told and what it is meant to bring about."""

    step: PlanStep
    skill: str
    label: str
    argument: SkillArgument
    receptacle: str | None
    interacts: bool


def bind(step: PlanStep, arguments: dict[str, SkillArgument]) -> SkillCall:
    """The skill call of a plan step."""
    binding = BINDINGS[step.action]
    label = step.arguments[binding.told]
    receptacle = None if binding.receptacle is None else step.arguments[binding.receptacle]
    return SkillCall(
        step, binding.skill, label, arguments[label], receptacle, interacts=binding.interacts
    )


def achieved(call: SkillCall, state: SimState) -> bool:
    """Whether the interaction's effect holds in world 0 now, judged from the true state."""
    if call.skill == "pick":
        return held_slot(state) == call.argument.slot
    if call.skill == "place":
        return held_slot(state) == NOTHING and is_at_goal(call, state)
    if call.receptacle is None:
        raise ValueError(f"{call.step} has no effect that the world shows")
    kind, joint = ARTICULATED_RECEPTACLES[call.receptacle]
    value = float(state.articulated_joints[0, ARTICULATED_JOINTS.index(joint)])
    if call.skill.startswith("open"):
        return value > OPENED_BEYOND[kind]
    return abs(value) < CLOSED_BELOW


def is_at_goal(call: SkillCall, state: SimState) -> bool:
    """Whether the object of a place call is within OBJECT_AT_DISTANCE of its goal."""
    position = state.object_position[0, call.argument.slot]
    return math.dist(position.tolist(), call.argument.position) < OBJECT_AT_DISTANCE


def held_slot(state: SimState) -> int:
    """Slot in the gripper of world 0, or NOTHING."""
    return int(state.held_object[0])


@dataclass(frozen=True)
class InteractionResult:
    """Outcome of one interaction; the chain of those before it is already taken into account."""

    name: str
    once: bool
    at_end: bool


class InteractionTracker:
    """Follows the stage goals of one episode, step by step."""

    def __init__(self, calls: Sequence[SkillCall]) -> None:
        self._calls = [call for call in calls if call.interacts]
        self._names = interaction_names(self._calls)
        self._reached = 0
        self.success_once = False

    def update(self, state: SimState) -> None:
        """Looks at the world after a step."""
        while self._reached < len(self._calls):
            call = self._calls[self._reached]
            if not achieved(call, state) or self.disturbed(state):
                break
            self._reached += 1
        if self._reached == len(self._calls) and self._goal_holds(state):
            self.success_once = True

    def disturbed(self, state: SimState) -> bool:
        """Whether an object that had been placed is no longer at its goal."""
        placed = (call for call in self._calls[: self._reached] if call.skill == "place")
        return not all(is_at_goal(call, state) for call in placed)

    def results(self, state: SimState) -> list[InteractionResult]:
        """Every interaction, judged in the final state.

        A pick cannot last to the end of the episode; it counts there if its object was picked and
        all that was placed before it stayed in place.
        """
        results: list[InteractionResult] = []
        chain = True
        for index, (name, call) in enumerate(zip(self._names, self._calls, strict=True)):
            once = index < self._reached
            lasts = is_at_goal(call, state) if call.skill == "place" else True
            chain = chain and once and lasts
            results.append(InteractionResult(name, once, chain))
        return results

    def success_at_end(self, state: SimState) -> bool:
        """HAB's success: all interactions done, all objects at their goals now, hand empty."""
        return self._reached == len(self._calls) and self._goal_holds(state)

    def _goal_holds(self, state: SimState) -> bool:
        places = (call for call in self._calls if call.skill == "place")
        return held_slot(state) == NOTHING and all(is_at_goal(call, state) for call in places)


def interaction_names(calls: Sequence[SkillCall]) -> list[str]:
    """pick_0, place_0, pick_1, ...: the n-th use of each skill, in plan order."""
    seen: Counter[str] = Counter()
    names = []
    for call in calls:
        if call.interacts:
            names.append(f"{call.skill}_{seen[call.skill]}")
            seen[call.skill] += 1
    return names
