"""Execution records, and what per-step observers receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from planner.beliefs import Beliefs
from planner.interactions import InteractionResult, SkillCall
from rearrange.env import RearrangeEnv
from skills import SkillArgument

Ending = Literal["done", "time-out", "force limit", "step limit"]
EVERYTHING = "everything"


@dataclass(frozen=True)
class HandOff:
    """The world at the moment a skill ended.

    Attributes:
        plan_index: Step of the plan; the re-arming after it carries the same number. With
            replanning, the steps of a new plan are counted on from where the old one was left.
        skill: The skill that ended.
        label: What it was told about: the object's or goal's name in the plan; EVERYTHING: a monolithic
            policy, which has no target.
        ending: Why it ended.
        steps: How long it ran.
        base_pose: x, y, yaw [m, m, rad].
        distance: From the base to the skill's target in the plane [m]; 0 without one.
        heading: Direction of the target from the robot's own heading, left positive [rad]; 0 without one.
        held: Slot in the gripper, or None.
        deviation: What went wrong although the skill may not have noticed, or None.
        targets: Whom the deviation concerns: the call's own target, or that whose object or door was
            disturbed, or both.
    """

    plan_index: int
    skill: str
    label: str
    ending: Ending
    steps: int
    base_pose: tuple[float, float, float]
    distance: float
    heading: float
    held: int | None
    deviation: str | None
    targets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Decision:
    """Decision at a hand-off to go on otherwise than planned.

    Attributes:
        step: Environment steps so far.
        plan_index: Step of the plan that was just done.
        text: Why and how to go on, in words.
        plan: The new plan; None: the old one went on.
        drives_anew: As a drive ran out of time, or the next skill would hardly have succeeded.
    """

    step: int
    plan_index: int
    text: str
    plan: tuple[str, ...] | None
    drives_anew: bool = False


@dataclass(frozen=True)
class Moment:
    """State shown to an observer (the video, a progress display) after each step.

    Attributes:
        calls: The plan.
        plan_index: Its step that is being done.
        skill: What acts now.
        argument: What it is told, None where that is nothing.
        skill_step: Steps since it began.
        missed: Steps of the plan that ended otherwise than the plan assumes, for the record only.
        beliefs: Of the robot, as of the last hand-off; None: it believes in the plan.
    """

    calls: tuple[SkillCall, ...]
    plan_index: int
    skill: str
    argument: SkillArgument | None
    skill_step: int
    missed: frozenset[int] = frozenset()
    beliefs: Beliefs | None = None


Observer = Callable[[RearrangeEnv, Moment], None]


@dataclass(frozen=True)
class Execution:
    """Record of a plan that was carried out.

    Attributes:
        success_at_end: HAB's success: every object at its goal, hand empty, plan run to its end; where
            closing is asked, closed what has to be.
        success_once: The same state was reached at some step.
        interactions: In the order of the first plan.
        failure: "skill: cause" of what went wrong first; None on success. With replanning, of what went
            wrong last with an object that is not at its goal, or ended the episode.
        steps: Environment steps taken.
        hand_offs: One per skill that ran, and one where a force limit ended the standing still.
        decisions: To go on otherwise than planned.
    """

    success_at_end: bool
    success_once: bool
    interactions: tuple[InteractionResult, ...]
    failure: str | None
    steps: int
    hand_offs: tuple[HandOff, ...]
    decisions: tuple[Decision, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain data for the report."""
        return asdict(self)


def missed_steps(hand_offs: Sequence[HandOff]) -> frozenset[int]:
    """Steps of the plan after which something was not as the plan assumes."""
    return frozenset(each.plan_index for each in hand_offs if each.deviation is not None)
