"""Follows a plan with skills: TP-SRL's executive.

It knows skills by name only. Whether a skill is over is the skill's own judgement (from what the
robot observes) or a time-out; whether it did what was meant is judged here from the true state, for
the record only, so that a wrong pick goes as unnoticed as it would on a robot. With a `Replanner` the
robot looks at every hand-off itself (`senses.py` says what it can see) and may walk on over a new plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from planner.interactions import (
    InteractionResult,
    InteractionTracker,
    SkillCall,
    achieved,
    bind,
    hand_empty,
    held_slot,
)
from planner.problem import ARTICULATED_RECEPTACLES
from planner.replanning import Replanner
from planner.search import Plan
from rearrange.env import RearrangeEnv
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.sim.base import NOTHING
from skills import Skill, SkillArgument

ACTION_SIZE = 10
GRIP = 7  # index of the grip in Simulator.step's action
HOLD, LET_GO = 1.0, -1.0
TURN = 9  # index of the base's turn
REARM, LOOK, WAIT = "reset_arm", "look", "wait"
LOOK_STEPS = 30  # what was let go of comes to rest within them, as in HAB's wait before the stop
LOOK_HEADING = 0.5  # [rad], of the goal: straight ahead the robot's own hand is in the way
LOOK_TURN = 0.0833  # [rad] per step, as far as an action can turn
WRONG_OBJECT = "wrong object"

Ending = Literal["done", "time-out", "force limit", "step limit"]


@dataclass(frozen=True)
class SkillRule:
    """How the executive treats a skill (HAB's values).

    Attributes:
        grip: "free": the skill's own; "hold": cannot let go once it holds; "release": cannot
            grasp again once empty; "keep": stays as it was on entry to the step; "open": lets go. A
            handle in the gripper counts as held, as in HAB.
        timeout_ends: Whether a time-out ends the episode or the plan goes on.
    """

    grip: Literal["free", "hold", "release", "keep", "open"] = "free"
    timeout_ends: bool = True


RULES: dict[str, SkillRule] = {
    "navigate": SkillRule("keep"),
    "pick": SkillRule("hold"),
    "place": SkillRule("release"),
    # Opening has to grasp and let go, and when it is over is the skill's own affair.
    "open_cab": SkillRule("free"),
    "close_cab": SkillRule("free"),
    "open_fridge": SkillRule("free"),
    "close_fridge": SkillRule("free"),
    REARM: SkillRule("keep", timeout_ends=False),
}


@dataclass(frozen=True)
class ExecutiveSettings:
    """Deployment settings; the defaults are habitat-lab v0.3.4 with the VER paper's stop mask.

    Attributes:
        max_steps: Step limit of the episode.
        wait_steps: Steps of standing still between the last skill and the stop.
        navigate_timeout_ends: False: a navigation that timed out hands over where it is.
        stop_mask_distance: Navigate's stop counts only this near to its target [m].
        timeouts: Skill -> steps, where the skill's own time-out shall not apply.
    """

    max_steps: int = 3000
    wait_steps: int = 30
    navigate_timeout_ends: bool = True
    stop_mask_distance: float = 2.0
    timeouts: Mapping[str, int] = field(default_factory=dict)

    def rule(self, skill: str) -> SkillRule:
        """The rule for a skill under these settings."""
        rule = RULES[skill]
        if skill == "navigate":
            return SkillRule(rule.grip, self.navigate_timeout_ends)
        return rule


@dataclass(frozen=True)
class HandOff:
    """The world at the moment a skill ended.

    Attributes:
        plan_index: Step of the plan; the re-arming after it carries the same number. With
            replanning, the steps of a new plan are counted on from where the old one was left.
        skill: The skill that ended.
        label: What it was told about: the object's or goal's name in the plan.
        ending: Why it ended.
        steps: How long it ran.
        base_pose: x, y, yaw [m, m, rad].
        distance: From the base to the skill's target in the plane [m].
        heading: Direction of the target from the robot's own heading, left positive [rad].
        held: Slot in the gripper, or None.
        deviation: What went wrong although the skill may not have noticed, or None.
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


@dataclass(frozen=True)
class Decision:
    """What replanning made of a hand-off.

    Attributes:
        step: Environment steps so far.
        plan_index: Step of the plan that was just done.
        text: Why and how to go on, in words.
        plan: The new plan; None: the old one went on.
    """

    step: int
    plan_index: int
    text: str
    plan: tuple[str, ...] | None


@dataclass(frozen=True)
class Moment:
    """What an observer (the video, a progress display) sees after each step.

    Attributes:
        calls: The plan.
        plan_index: Its step that is being done.
        skill: What acts now.
        argument: What it is told, None where that is nothing.
        skill_step: Steps since it began.
        missed: Steps of the plan that ended otherwise than the plan assumes, for the record only.
    """

    calls: tuple[SkillCall, ...]
    plan_index: int
    skill: str
    argument: SkillArgument | None
    skill_step: int
    missed: frozenset[int] = frozenset()


Observer = Callable[[RearrangeEnv, Moment], None]


@dataclass(frozen=True)
class Execution:
    """What came of a plan.

    Attributes:
        success_at_end: HAB's success: every object at its goal, hand empty, plan run to its end.
        success_once: The same state was reached at some step.
        interactions: In the order of the first plan.
        failure: "skill: cause" of what went wrong first; None on success. With replanning, of what went
            wrong last with an object that is not at its goal.
        steps: Environment steps taken.
        hand_offs: One per skill that ran.
        decisions: Of replanning.
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


class Executive:
    """Runs plans in a world with N = 1."""

    def __init__(
        self, skills: Mapping[str, Skill], settings: ExecutiveSettings | None = None
    ) -> None:
        self._skills = skills
        self._settings = settings or ExecutiveSettings()

    def run(
        self,
        world: RearrangeEnv,
        plan: Plan,
        arguments: dict[str, SkillArgument],
        observers: Sequence[Observer] = (),
        replanner: Replanner | None = None,
    ) -> Execution:
        """Runs a plan in a world that was just reset to the plan's episode.

        Args:
            world: The environment.
            plan: What to do.
            arguments: Names in the plan -> what skills are told.
            observers: Called after every step.
            replanner: Makes new plans; None: the plan is followed whatever happens.
        """
        calls = tuple(bind(step, arguments) for step in plan.steps)
        run = _Run(world, self._skills, self._settings, calls, observers, replanner)
        index, stopped = 0, False
        while index < len(run.calls) and not stopped:
            stopped = run.step(index)
            index += 1
        if not stopped:
            run.stand(index - 1, WAIT, self._settings.wait_steps)
        return run.execution(stopped)


class _Run:
    """One episode: the cursor's world, its tracker and its log."""

    def __init__(
        self,
        world: RearrangeEnv,
        skills: Mapping[str, Skill],
        settings: ExecutiveSettings,
        calls: tuple[SkillCall, ...],
        observers: Sequence[Observer],
        replanner: Replanner | None,
    ) -> None:
        self.calls = calls
        self._world = world
        self._skills = skills
        self._settings = settings
        self._observers = observers
        self._replanner = replanner
        self._tracker = InteractionTracker(calls, any_order=replanner is not None)
        self._first_handles = np.array(world.state.handle_position[0], dtype=float)
        self._hand_offs: list[HandOff] = []
        self._decisions: list[Decision] = []
        self._steps = 0
        self._disturbed = False

    def step(self, index: int) -> bool:
        """Runs a step of the plan and folds the arm; True where the episode ends with it."""
        call, replanner = self.calls[index], self._replanner
        stopped = self._run_skill(index, call.skill, self._settings.rule(call.skill))
        if stopped or (replanner is None and index == len(self.calls) - 1):
            return stopped
        ended = self._hand_offs[-1]
        if self._run_skill(index, REARM, self._settings.rule(REARM)):
            return True
        return replanner is not None and self._replan(index, replanner, ended)

    def _replan(self, index: int, replanner: Replanner, ended: HandOff) -> bool:
        """Looks at what was done, and changes the plan if need be; True where the episode ends."""
        call, last = self.calls[index], index == len(self.calls) - 1
        if call.skill == "place":
            self.stand(index, LOOK, LOOK_STEPS)
        timed_out = ended.ending == "time-out"
        verdict = replanner.decide(self._world, call, ended.steps, timed_out, last)
        if verdict is None:
            return self._steps >= self._settings.max_steps
        plan = None if verdict.calls is None else tuple(str(c.step) for c in verdict.calls)
        self._decisions.append(Decision(self._steps, index, verdict.text, plan))
        if verdict.lets_go and self._run_skill(index, REARM, SkillRule("open", timeout_ends=False)):
            return True
        if verdict.calls is not None:
            self.calls = (*self.calls[: index + 1], *verdict.calls)
        return self._steps >= self._settings.max_steps

    def _run_skill(self, index: int, name: str, rule: SkillRule) -> bool:
        """Runs one skill to its end and logs the hand-off; True where the episode ends with it."""
        call = self.calls[index]
        skill = self._skills[name]
        ends = rule.timeout_ends and not (self._replanner and self._replanner.may_replan)
        held_before = held_slot(self._world.state)
        argument = self._told(call.argument)
        skill.reset(self._world, argument)
        ending, steps = self._act(index, name, skill, argument, rule)
        deviation = self._deviation(name, call, ending, held_before)
        if deviation == "time-out" and not rule.timeout_ends:
            deviation = None  # the plan goes on; the ending tells
        self._hand_offs.append(self._hand_off(index, name, ending, steps, deviation))
        return ending in ("force limit", "step limit") or (ending == "time-out" and ends)

    def _told(self, argument: SkillArgument) -> SkillArgument:
        """The argument with the start of an object in a drawer where the drawer has carried it.

        HAB goes on telling where the object was while the drawer was closed, up to 0.45 m behind
        where it is when it shall be picked.
        """
        target = self._world.episode.targets[argument.target_index]
        kind, joint = ARTICULATED_RECEPTACLES.get(target.start_receptacle, ("", ""))
        if argument.kind != "object" or kind != "drawer" or argument.position != target.start:
            return argument
        handle = ARTICULATED_JOINTS.index(joint)
        moved = self._world.state.handle_position[0, handle] - self._first_handles[handle]
        x, y, z = (float(v) for v in np.add(argument.position, moved))
        return replace(argument, position=(x, y, z))

    def _act(
        self, index: int, name: str, skill: Skill, argument: SkillArgument, rule: SkillRule
    ) -> tuple[Ending, int]:
        timeout = self._settings.timeouts.get(name, skill.timeout)
        missed = missed_steps(self._hand_offs)
        for step in range(1, timeout + 1):
            action = self._masked(name, skill.act(self._world), rule)
            exceeded = self._step(action, Moment(self.calls, index, name, argument, step, missed))
            if exceeded:
                return "force limit", step
            if skill.done(self._world) and not self._stop_masked(name, argument):
                return "done", step
            if self._steps >= self._settings.max_steps:
                return "step limit", step
        return "time-out", timeout

    def stand(self, index: int, name: str, steps: int) -> None:
        """Stands still, so that what was let go has come to rest; LOOK turns the camera to the goal."""
        missed = missed_steps(self._hand_offs)
        for step in range(1, steps + 1):
            if self._steps >= self._settings.max_steps:
                return
            action = self._masked(name, np.zeros(ACTION_SIZE), RULES[REARM])
            if name == LOOK:
                heading = self._bearing(self.calls[index].argument)[1]
                action[TURN] = np.clip(
                    heading - math.copysign(LOOK_HEADING, heading), -LOOK_TURN, LOOK_TURN
                )
            self._step(action, Moment(self.calls, index, name, None, step, missed))

    def execution(self, stopped: bool) -> Execution:
        """Closes the record."""
        state = self._world.state
        success = not stopped and self._tracker.success_at_end(state)
        return Execution(
            success_at_end=success,
            success_once=self._tracker.success_once,
            interactions=tuple(self._tracker.results(state)),
            failure=None if success else self._failure(),
            steps=self._steps,
            hand_offs=tuple(self._hand_offs),
            decisions=tuple(self._decisions),
        )

    def _step(self, action: np.ndarray, moment: Moment) -> bool:
        """Advances the world; returns whether a force limit was exceeded."""
        _, _, _, info = self._world.step_physical(action)
        self._steps += 1
        self._tracker.update(self._world.state)
        if self._replanner is not None:
            self._replanner.beliefs.watch(self._world)
        for observe in self._observers:
            observe(self._world, moment)
        return info.get("metrics", {}).get("failure/force_limit", 0.0) > 0.0

    def _masked(self, name: str, action: np.ndarray, rule: SkillRule) -> np.ndarray:
        if np.shape(action) != (ACTION_SIZE,):
            raise ValueError(
                f"skill '{name}': expected an action of shape ({ACTION_SIZE},), "
                f"found {np.shape(action)}"
            )
        masked = np.array(action, dtype=np.float64)
        holding = not hand_empty(self._world.state)
        if rule.grip == "keep":
            masked[GRIP] = HOLD if holding else LET_GO
        elif rule.grip == "open":
            masked[GRIP] = LET_GO
        elif rule.grip == "hold" and holding:
            masked[GRIP] = HOLD
        elif rule.grip == "release" and not holding:
            masked[GRIP] = LET_GO
        return masked

    def _stop_masked(self, name: str, argument: SkillArgument) -> bool:
        """The paper's mask: a Navigate that learned to avoid force stops at once in contact."""
        if name != "navigate":
            return False
        return self._bearing(argument)[0] > self._settings.stop_mask_distance

    def _bearing(self, argument: SkillArgument) -> tuple[float, float]:
        """Planar distance [m] and relative heading [rad] from the base to the target."""
        x, y, yaw = (float(v) for v in self._world.state.base_pose[0])
        dx, dy = argument.position[0] - x, argument.position[1] - y
        heading = math.atan2(dy, dx) - yaw
        return math.hypot(dx, dy), math.atan2(math.sin(heading), math.cos(heading))

    def _hand_off(
        self,
        index: int,
        name: str,
        ending: Ending,
        steps: int,
        deviation: str | None,
    ) -> HandOff:
        call, state = self.calls[index], self._world.state
        distance, heading = self._bearing(self._told(call.argument))
        x, y, yaw = (float(v) for v in state.base_pose[0])
        held = held_slot(state)
        return HandOff(
            plan_index=index,
            skill=name,
            label=call.label,
            ending=ending,
            steps=steps,
            base_pose=(x, y, yaw),
            distance=distance,
            heading=heading,
            held=None if held == NOTHING else held,
            deviation=deviation,
        )

    def _deviation(
        self, name: str, call: SkillCall, ending: Ending, held_before: int
    ) -> str | None:
        """What is not as the plan assumes, the most telling cause first."""
        state = self._world.state
        held = held_slot(state)
        if ending in ("force limit", "step limit"):
            return ending
        if name == "pick" and held not in (call.argument.slot, NOTHING):
            return WRONG_OBJECT
        if name not in ("pick", "place") and held_before not in (held, NOTHING):
            return "dropped"
        if (disturbed := self._disturbance()) is not None:
            return disturbed
        if name == "place" and held == NOTHING and not achieved(call, state):
            return "missed the goal"
        if ending == "time-out":
            return ending
        if state.held_handle[0] != NOTHING:
            return "holds a handle"
        if name == "pick" and held == NOTHING:
            return "nothing held"
        if name == call.skill and call.interacts and not achieved(call, state):
            return "no effect"
        return None

    def _disturbance(self) -> str | None:
        """The first time that something does not stay as it was left: what that is."""
        disturbed = self._tracker.disturbed(self._world.state)
        if disturbed is None or self._disturbed:
            return None
        self._disturbed = True
        return "reopened" if disturbed.closes else "moved a placed object"

    def _failure(self) -> str:
        faults = [h for h in self._hand_offs if h.deviation is not None]
        if self._replanner is not None:  # what came first may have been mended
            left = self._tracker.unfinished(self._world.state)
            of_left = [f for f in faults if self.calls[f.plan_index].argument.target_index in left]
            faults = (of_left or faults)[::-1]
        return f"{faults[0].skill}: {faults[0].deviation}" if faults else "plan exhausted"
