"""Interactions of a plan and their success: HAB's stage goals, as in the VER paper's Figure 6.

Interaction i counts only while everything placed or closed before it is still as it was left, and
only if all interactions before it succeeded too. With replanning the interactions stay those of the first
plan, so that tables stay comparable, but each may be done at any time. The full task knows no order: it is
judged by the state alone, with and without replanning.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.search import Plan, PlanStep
from rearrange.errors import UserError
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.base import NOTHING, SimState
from skills import SkillArgument
from skills.registry import all_specs, effect_of
from skills.spec import Effect, PlanAction, SkillSpec

OBJECT_AT_DISTANCE = 0.30  # [m] habitat-lab v0.3.4; the Place skill's own success is 0.15
CLOSED_BELOW = 0.15  # [rad] or [m]


@dataclass(frozen=True)
class SkillCall:
    """One skill to be run, with what it is told and what it is meant to bring about.

    Attributes:
        step: Of the plan.
        skill: Name of the skill.
        label: Name of what it is told about.
        argument: What it is told.
        receptacle: What it opens, closes or drives to, or None.
        interacts: Counts as an interaction of its own; driving does not.
    """

    step: PlanStep
    skill: str
    label: str
    argument: SkillArgument
    receptacle: str | None
    interacts: bool

    @property
    def effect(self) -> Effect:
        """Intended effect, see SkillSpec."""
        return effect_of(self.skill)

    @property
    def closes(self) -> bool:
        """True if it is meant to close its receptacle."""
        return self.effect == "closes"


def carrier_of(action: str) -> tuple[SkillSpec, PlanAction]:
    """The skill that carries out an action of the domain, and what the action says to it.

    Raises:
        UserError: No skill does.
    """
    for spec in all_specs().values():
        for each in spec.actions:
            if each.name == action:
                return spec, each
    raise UserError(f"no skill carries out the action '{action}': name it in a SkillSpec's actions")


def bind(step: PlanStep, arguments: dict[str, SkillArgument], scene: SceneSpec) -> SkillCall:
    """The skill call of a plan step in a kind of home."""
    spec, action = carrier_of(step.action)
    label = step.arguments[action.told]
    argument, receptacle = arguments[label], None
    if action.receptacle is not None:
        receptacle = step.arguments[action.receptacle]
        part = scene.part_of(receptacle)
        assert part is not None, f"{step} is about a receptacle that nothing shuts"
        argument = replace(argument, joint=part.name)
    interacts = spec.effect not in ("", "arrives")
    return SkillCall(step, spec.name, label, argument, receptacle, interacts)


def without_navigation(plan: Plan) -> Plan:
    """The VER paper's TP-SRL(NoNav): skills that move the base have to find the way themselves."""
    steps = tuple(s for s in plan.steps if carrier_of(s.action)[0].effect != "arrives")
    return replace(plan, steps=steps)


def achieved(call: SkillCall, state: SimState) -> bool:
    """Return whether the interaction's effect holds in world 0 now, judged from the true state."""
    if call.effect == "holds":
        return held_slot(state) == call.argument.slot
    if call.effect == "places":
        return hand_empty(state) and is_at_goal(call, state)
    if call.receptacle is None or not call.interacts:
        raise ValueError(f"{call.step} has no effect that the world shows")
    part = state.scene.part_of(call.receptacle)
    assert part is not None
    value = float(state.articulated_joints[0, state.scene.index(part.name)])
    return abs(value) < CLOSED_BELOW if call.closes else value > part.opened_beyond


def is_at_goal(call: SkillCall, state: SimState) -> bool:
    """Return whether the object of a place call is within OBJECT_AT_DISTANCE of its goal."""
    position = state.object_position[0, call.argument.slot]
    return math.dist(position.tolist(), call.argument.position) < OBJECT_AT_DISTANCE


def held_slot(state: SimState) -> int:
    """Slot in the gripper of world 0, or NOTHING."""
    return int(state.held_object[0])


def hand_empty(state: SimState) -> bool:
    """Return whether the gripper of world 0 holds neither an object nor a handle."""
    return held_slot(state) == NOTHING and int(state.held_handle[0]) == NOTHING


@dataclass(frozen=True)
class InteractionResult:
    """Outcome of one interaction; the chain of those before it is already taken into account."""

    name: str
    once: bool
    at_end: bool


class InteractionTracker:
    """Follows the stage goals of one episode, step by step.

    What was placed shall stay there, and what was closed shall stay closed unless the plan opens it
    again. A pick or an opening is over once it was done.
    """

    def __init__(self, calls: Sequence[SkillCall], any_order: bool = False) -> None:
        """Begin with nothing done.

        Args:
            calls: The plan.
            any_order: For replanning, and for who follows no plan: an interaction is done whenever its
                effect was there. False: only when its turn has come.
        """
        self._calls = [call for call in calls if call.interacts]
        self._any_order = any_order
        self._seen = [False] * len(self._calls)  # whose effect was there; in any order only
        self._names = interaction_names(self._calls)
        self._lasting = [
            call.effect == "places"
            or (call.closes and all(c.receptacle != call.receptacle for c in self._calls[i + 1 :]))
            for i, call in enumerate(self._calls)
        ]
        # What is shut before it was opened has not been closed yet
        self._opened_by = [
            [
                j
                for j, other in enumerate(self._calls[:i])
                if call.closes and other.effect == "opens" and other.receptacle == call.receptacle
            ]
            for i, call in enumerate(self._calls)
        ]
        self._reached = 0
        self.success_once = False

    @property
    def reached(self) -> int:
        """Number of interactions, from the first on, that have counted so far."""
        return self._reached

    def update(self, state: SimState) -> None:
        """Looks at the world after a step."""
        if self._any_order:
            self._seen = [
                seen or (all(self._seen[j] for j in openings) and achieved(call, state))
                for seen, openings, call in zip(
                    self._seen, self._opened_by, self._calls, strict=True
                )
            ]
        while self._reached < len(self._calls):
            if not self._is_done(self._reached, state):
                break
            self._reached += 1
        if self.success_at_end(state):
            self.success_once = True

    def disturbed(self, state: SimState) -> list[SkillCall]:
        """Interactions whose lasting effect was there and is gone."""
        return [
            call
            for index, call in enumerate(self._calls)
            if (index < self._reached or self._seen[index]) and not self._is_kept(index, state)
        ]

    def results(self, state: SimState) -> list[InteractionResult]:
        """Every interaction, judged in the final state.

        A pick cannot last to the end of the episode; it counts there if its object was picked and
        all that was placed or closed before it stayed as it was.
        """
        results: list[InteractionResult] = []
        chain = True
        for index, name in enumerate(self._names):
            once = index < self._reached
            chain = chain and once and self._is_kept(index, state)
            results.append(InteractionResult(name, once, chain))
        return results

    def success_at_end(self, state: SimState) -> bool:
        """HAB's success: every object at its goal now, and the hand empty.

        Where closing is asked, what the plan closes for good is closed, too. In which order it came about,
        and whether every pick and opening counted, is no matter.
        """
        return hand_empty(state) and self._are_kept(len(self._calls), state)

    def unfinished(self, state: SimState) -> set[int]:
        """Targets of interactions that shall last and whose effect is not there."""
        lasting = [index for index, lasts in enumerate(self._lasting) if lasts]
        return {
            self._calls[index].argument.target_index
            for index in lasting
            if not self._is_kept(index, state)
        }

    def _is_done(self, index: int, state: SimState) -> bool:
        """Return whether the next interaction of the chain counts now."""
        seen = self._seen[index] and self._is_kept(index, state)
        done = seen if self._any_order else achieved(self._calls[index], state)
        return done and self._are_kept(index, state)

    def _are_kept(self, count: int, state: SimState) -> bool:
        return all(self._is_kept(index, state) for index in range(count))

    def _is_kept(self, index: int, state: SimState) -> bool:
        """Return whether an interaction's effect holds, if it is one that has to last."""
        if not self._lasting[index]:
            return True
        call = self._calls[index]
        return is_at_goal(call, state) if call.effect == "places" else achieved(call, state)


def interaction_names(calls: Sequence[SkillCall]) -> list[str]:
    """pick_0, place_0, pick_1, ...: the n-th use of each skill, in plan order."""
    seen: Counter[str] = Counter()
    names = []
    for call in calls:
        if call.interacts:
            names.append(f"{call.skill}_{seen[call.skill]}")
            seen[call.skill] += 1
    return names
