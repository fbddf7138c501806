"""Follows a plan with skills: TP-SRL's executive.

It knows skills by name only. Whether a skill is over is the skill's own judgement (from what the
robot observes) or a time-out; whether it did what was meant is judged here from the true state, for
the record only, so that a wrong pick goes as unnoticed as it would on a robot. With a `Replanner` the
robot looks at every hand-off itself (`senses.py` says what it can see) and may walk on over a new plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from planner.interactions import (
    InteractionTracker,
    SkillCall,
    achieved,
    bind,
    hand_empty,
    held_slot,
)
from planner.problem import ARTICULATED_RECEPTACLES
from planner.record import Decision, Ending, Execution, HandOff, Moment, Observer, missed_steps
from planner.replanning import ARRIVED, Replanner
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
MOVED, REOPENED = "moved a placed object", "reopened"
EXHAUSTED = "plan exhausted"


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
            stopped = run.stand(index - 1, WAIT, self._settings.wait_steps)
        return run.execution(stopped)


def force_exceeded(info: Mapping[str, Any]) -> bool:
    """Whether a step, by what it told, went beyond a force limit."""
    return info.get("metrics", {}).get("failure/force_limit", 0.0) > 0.0


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
        self._disturbed: list[SkillCall] = []  # of which the record tells already

    def step(self, index: int) -> bool:
        """Runs a step of the plan and folds the arm; True where the episode ends with it."""
        call, replanner = self.calls[index], self._replanner
        stopped = self._run_skill(index, call.skill, self._settings.rule(call.skill))
        if stopped or (self._is_last(index) and (replanner is None or self._is_late())):
            return stopped
        ended = self._hand_offs[-1]
        if self._run_skill(index, REARM, self._settings.rule(REARM)):
            return True
        return replanner is not None and self._replan(index, replanner, ended)

    def _replan(self, index: int, replanner: Replanner, ended: HandOff) -> bool:
        """Looks at what was done, and changes the plan if need be; True where the episode ends."""
        call, last = self.calls[index], self._is_last(index)
        if call.skill == "place" and self.stand(index, LOOK, LOOK_STEPS):
            return True
        if last and self._is_late():
            return False  # the plan was done before, and there is no time for another
        timed_out = ended.ending == "time-out" and self._settings.rule(call.skill).timeout_ends
        verdict = replanner.decide(self._world, call, ended.steps, timed_out, ended.distance, last)
        if verdict is None:
            return self._is_late()
        plan = None if verdict.calls is None else tuple(str(c.step) for c in verdict.calls)
        self._decisions.append(Decision(self._steps, index, verdict.text, plan))
        if verdict.lets_go and self._run_skill(index, REARM, SkillRule("open", timeout_ends=False)):
            return True
        if verdict.calls is not None:
            self.calls = (*self.calls[: index + 1], *verdict.calls)
        return self._is_late() and not self._is_last(index)

    def _is_last(self, index: int) -> bool:
        return index == len(self.calls) - 1

    def _is_late(self) -> bool:
        return self._steps >= self._settings.max_steps

    def _run_skill(self, index: int, name: str, rule: SkillRule) -> bool:
        """Runs one skill to its end and logs the hand-off; True where the episode ends with it."""
        call = self.calls[index]
        skill = self._skills[name]
        may_replan = self._replanner is not None and self._replanner.may_replan
        held_before = held_slot(self._world.state)
        argument = self._told(call.argument)
        skill.reset(self._world, argument)
        ending, steps = self._act(index, name, skill, argument, rule)
        # The last step's folding comes after the plan is done: it need not come to its end.
        surplus = name == REARM and self._is_last(index)
        stops = (
            ending == "force limit"
            or (ending == "step limit" and not surplus)
            or (ending == "time-out" and rule.timeout_ends and not may_replan)
        )
        # An ending that changes nothing stands in the record, but is nothing that went wrong.
        harmless = not stops and (not rule.timeout_ends or self._has_effect(call))
        judged: Ending = "done" if harmless else ending
        self._log(index, name, ending, steps, *self._deviation(name, call, judged, held_before))
        return stops

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
            if self._is_late():
                return "step limit", step
        return "time-out", timeout

    def stand(self, index: int, name: str, steps: int) -> bool:
        """Stands still, so that what was let go has come to rest; LOOK turns the camera to the goal.

        Returns:
            Whether a force limit has ended the episode.
        """
        missed = missed_steps(self._hand_offs)
        for step in range(1, steps + 1):
            if self._is_late():
                return False
            action = self._masked(name, np.zeros(ACTION_SIZE), RULES[REARM])
            if name == LOOK:
                heading = self._bearing(self.calls[index].argument)[1]
                action[TURN] = np.clip(
                    heading - math.copysign(LOOK_HEADING, heading), -LOOK_TURN, LOOK_TURN
                )
            if self._step(action, Moment(self.calls, index, name, None, step, missed)):
                target = self.calls[index].argument.target_index
                self._log(index, name, "force limit", step, "force limit", (target,))
                return True
        return False

    def execution(self, stopped: bool) -> Execution:
        """Closes the record."""
        state = self._world.state
        success = not stopped and self._tracker.success_at_end(state)
        return Execution(
            success_at_end=success,
            success_once=self._tracker.success_once,
            interactions=tuple(self._tracker.results(state)),
            failure=None if success else self._failure(stopped),
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
        return force_exceeded(info)

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

    def _log(
        self,
        index: int,
        name: str,
        ending: Ending,
        steps: int,
        deviation: str | None,
        targets: tuple[int, ...],
    ) -> None:
        """Keeps the hand-off."""
        call, state = self.calls[index], self._world.state
        distance, heading = self._bearing(self._told(call.argument))
        x, y, yaw = (float(v) for v in state.base_pose[0])
        held = held_slot(state)
        hand_off = HandOff(
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
            targets=targets,
        )
        self._hand_offs.append(hand_off)

    def _has_effect(self, call: SkillCall) -> bool:
        """Whether what a call is for was brought about; a drive ends near enough to what it was told."""
        if call.skill == "navigate":
            return self._bearing(self._told(call.argument))[0] <= ARRIVED
        return achieved(call, self._world.state)

    def _deviation(
        self, name: str, call: SkillCall, ending: Ending, held_before: int
    ) -> tuple[str | None, tuple[int, ...]]:
        """What is not as the plan assumes, and the targets that it concerns."""
        disturbed = self._disturbances()
        others = [other.argument.target_index for other in disturbed]
        cause = self._cause(name, call, ending, held_before, disturbed)
        own = [] if cause in (None, MOVED, REOPENED) else [call.argument.target_index]
        return cause, tuple(dict.fromkeys((*own, *others)))

    def _cause(
        self,
        name: str,
        call: SkillCall,
        ending: Ending,
        held_before: int,
        disturbed: Sequence[SkillCall],
    ) -> str | None:
        """What is not as the plan assumes, the most telling first."""
        state = self._world.state
        held = held_slot(state)
        if ending in ("force limit", "step limit"):
            return ending
        if name == "pick" and held not in (call.argument.slot, NOTHING):
            return WRONG_OBJECT
        if name not in ("pick", "place") and held_before not in (held, NOTHING):
            return "dropped"
        if disturbed:
            return REOPENED if disturbed[0].closes else MOVED
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

    def _disturbances(self) -> list[SkillCall]:
        """What has not stayed as it was left; each is told once, and again if it was mended meanwhile."""
        state = self._world.state
        now = self._tracker.disturbed(state)
        told = [call for call in self._disturbed if not achieved(call, state)]
        self._disturbed = [*told, *(call for call in now if call not in told)]
        return [call for call in now if call not in told]

    def _failure(self, stopped: bool) -> str:
        faults = [h for h in self._hand_offs if h.deviation is not None]
        if self._replanner is not None:  # what came first may have been mended
            left = self._tracker.unfinished(self._world.state)
            last = self._hand_offs[-1] if stopped else None
            telling = [f for f in faults if f is last or left.intersection(f.targets)]
            faults = (telling or faults)[::-1]
        return f"{faults[0].skill}: {faults[0].deviation}" if faults else EXHAUSTED
