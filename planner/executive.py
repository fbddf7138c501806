"""Follows a plan with skills: TP-SRL's executive.

It knows skills by name only. Whether a skill is over is the skill's own judgement (from what the
robot observes) or a time-out; whether it did what was meant is judged in `judge.py` from the true state,
for the record only, so that a wrong pick goes as unnoticed as it would on a robot. With a `Replanner` the
robot looks at every hand-off itself and may walk on over a new plan. With `redrives` it drives anew where a
drive ran out of time, and where the next skill, which it asks, would hardly succeed. What it may know is said
and given by `skills.knowledge`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.interactions import SkillCall, bind
from planner.judge import Judge, force_exceeded
from planner.labels import BACK_OFF, LOOK, REARM, WAIT
from planner.problem import drawers_of
from planner.record import Decision, Ending, Execution, Moment, Observer
from planner.replanning import ARRIVED, Replanner
from planner.rules import REARM_RULE, ExecutiveSettings, SkillRule
from planner.search import Plan
from rearrange.env import RearrangeEnv
from rearrange.episodes import spec_of
from rearrange.robot.actions import HOLD, LET_GO
from skills import Skill, SkillArgument
from skills.base import ForeseeingSkill
from skills.knowledge import DEFAULT_LEVEL, Knowledge
from skills.registry import effect_of

LOOK_STEPS = 30  # what was let go of comes to rest within them, as in HAB's wait before the stop
LOOK_HEADING = 0.5  # [rad], of the goal: straight ahead the robot's own hand is in the way
LOOK_TURN = 0.0833  # [rad] per step, as far as an action can turn
BACK_OFF_WAY, BACK_OFF_STEP = 0.6, 0.05  # [m], in all and per step
HELD_UP = 0.25  # what goes by less than this share of a step is held up by something


class Executive:
    """Runs plans in a world with N = 1."""

    def __init__(
        self,
        skills: Mapping[str, Skill],
        settings: ExecutiveSettings | None = None,
        level: str = DEFAULT_LEVEL,
    ) -> None:
        """Take skills and settings.

        Args:
            skills: By name, with `reset_arm`.
            settings: None: the defaults.
            level: What the robot may know where no replanner says it, see `skills.knowledge`.
        """
        self._skills, self._level = skills, level
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
        scene = spec_of(world.episode)
        calls = tuple(bind(step, arguments, scene) for step in plan.steps)
        if replanner is None:
            knowledge = Knowledge(world, self._level, drawers_of(world.episode))
        else:
            knowledge = replanner.knowledge
        run = _Run(world, self._skills, self._settings, calls, observers, replanner, knowledge)
        index, stopped = 0, False
        while index < len(run.calls) and not stopped:
            stopped = run.step(index)
            index += 1
        if not stopped:
            stopped = run.stand(index - 1, WAIT, self._settings.wait_steps)
        return run.execution(stopped)


@dataclass(frozen=True)
class _End:
    """End of a skill, as far as the robot knows.

    Attributes:
        ending: Why.
        steps: After so many.
        distance: From the base to what it was told, in the plane, by odometry [m].
    """

    ending: Ending
    steps: int
    distance: float


class _Run:
    """One episode: the cursor's world, what the robot knows in it, and the judge of the record."""

    def __init__(
        self,
        world: RearrangeEnv,
        skills: Mapping[str, Skill],
        settings: ExecutiveSettings,
        calls: tuple[SkillCall, ...],
        observers: Sequence[Observer],
        replanner: Replanner | None,
        knowledge: Knowledge,
    ) -> None:
        self.calls = calls
        self._world = world
        self._skills = skills
        self._settings = settings
        self._observers = observers
        self._replanner = replanner
        self._beliefs = None if replanner is None else replanner.beliefs
        self._knowledge = knowledge
        self._judge = Judge(world, calls, any_order=replanner is not None, arrived=ARRIVED)
        self._decisions: list[Decision] = []
        self._steps = 0
        self._last = _End("done", 0, 0.0)  # of the skill that ended last

    def step(self, index: int) -> bool:
        """Runs a step of the plan and folds the arm; True where the episode ends with it."""
        call, replanner = self.calls[index], self._replanner
        if self._corrects_drive(index):
            return True
        stopped = self._drive(index) if call.effect == "arrives" else self._run_call(index)
        if stopped or (self._is_last(index) and (replanner is None or self._is_late())):
            return stopped
        ended = self._last
        if self._run_skill(index, REARM, self._settings.rule(REARM)):
            return True
        return replanner is not None and self._replan(index, replanner, ended)

    def _run_call(self, index: int) -> bool:
        skill = self.calls[index].skill
        return self._run_skill(index, skill, self._settings.rule(skill))

    def _drive(self, index: int) -> bool:
        """Drives, and anew where that ran out of time; True where the episode ends.

        Where a new plan is left that mends it.
        """
        call, replanner = self.calls[index], self._replanner
        rule = self._settings.rule(call.skill)
        if rule.timeout_ends and (replanner is None or not replanner.may_replan):
            for _ in range(self._settings.redrives):
                if self._run_skill(index, call.skill, replace(rule, timeout_ends=False)):
                    return True
                if self._last.ending != "time-out":
                    return False
                found = f"{call.skill} {call.label}: time-out after {self._last.steps} steps"
                self._note_drive(index, found)
                if self._run_skill(index, REARM, REARM_RULE) or self._back_off(index):
                    return True
        return self._run_call(index)

    def _corrects_drive(self, index: int) -> bool:
        """Drives anew where the skill would hardly succeed from where it is; True where the episode ends.

        The robot backs off first, as for a new plan.
        """
        call = self.calls[index]
        skill, drive = self._skills[call.skill], self.calls[index - 1] if index else None
        if drive is None or drive.effect != "arrives" or not isinstance(skill, ForeseeingSkill):
            return False
        rule = replace(self._settings.rule(drive.skill), timeout_ends=False)
        for _ in range(self._settings.redrives):
            chance = skill.chance(self._world, self._told(call.argument))
            if chance is None or chance >= self._settings.least_chance:
                break
            self._note_drive(index, f"{call.skill} {call.label}: chance {chance:.2f} from here")
            if (
                self._back_off(index - 1)
                or self._run_skill(index - 1, drive.skill, rule)
                or self._run_skill(index - 1, REARM, REARM_RULE)
            ):
                return True
        return False

    def _note_drive(self, index: int, why: str) -> None:
        text = f"{why}; drives anew"
        self._decisions.append(Decision(self._steps, index, text, None, drives_anew=True))

    def _replan(self, index: int, replanner: Replanner, ended: _End) -> bool:
        """Looks at what was done, and changes the plan if need be; True where the episode ends."""
        call, last = self.calls[index], self._is_last(index)
        if call.effect == "places" and self.stand(index, LOOK, LOOK_STEPS):
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
            drives = bool(verdict.calls) and verdict.calls[0].effect == "arrives"
            if drives and self._back_off(index):
                return True
            self.calls = (*self.calls[: index + 1], *verdict.calls)
        return self._is_late() and not self._is_last(index)

    def _is_last(self, index: int) -> bool:
        return index == len(self.calls) - 1

    def _is_late(self) -> bool:
        return self._steps >= self._settings.max_steps

    def _run_skill(self, index: int, name: str, rule: SkillRule) -> bool:
        """Runs one skill to its end; True where the episode ends with it."""
        call = self.calls[index]
        skill = self._skills[name]
        may_replan = self._replanner is not None and self._replanner.may_replan
        self._judge.begin_skill()
        argument = self._told(call.argument)
        skill.reset(self._world, argument)
        ending, steps = self._act(index, name, skill, argument, rule)
        if ending == "done" and name == call.skill and call.closes:
            self._knowledge.believe_shut(argument.joint)
        # The last step's folding comes after the plan is done: it need not come to its end.
        surplus = name == REARM and self._is_last(index)
        stops = (
            ending == "force limit"
            or (ending == "step limit" and not surplus)
            or (ending == "time-out" and rule.timeout_ends and not may_replan)
        )
        bearing = self._bearing(self._told(call.argument))
        self._last = _End(ending, steps, bearing[0])
        self._judge.end_skill(
            *(index, name, call, ending, steps, bearing),
            excused=not rule.timeout_ends,
            goes_on=not stops,
        )
        return stops

    def _told(self, argument: SkillArgument) -> SkillArgument:
        """The argument with an object that stands where it began, to the robot's knowledge, told as such.

        A drawer that was opened has carried it along, see `Knowledge`.
        """
        start = self._world.episode.targets[argument.target_index].start
        if argument.kind != "object" or argument.position != start:
            return argument
        return replace(argument, position=self._knowledge.told(argument.target_index, start))

    def _act(
        self, index: int, name: str, skill: Skill, argument: SkillArgument, rule: SkillRule
    ) -> tuple[Ending, int]:
        timeout = self._settings.timeouts.get(name, skill.timeout)
        missed = self._judge.missed
        for step in range(1, timeout + 1):
            action = self._masked(name, skill.act(self._world), rule)
            moment = Moment(self.calls, index, name, argument, step, missed, self._beliefs)
            exceeded = self._step(action, moment)
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
        for step in range(1, steps + 1):
            if self._is_late():
                return False
            turn = 0.0
            if name == LOOK:
                heading = self._bearing(self.calls[index].argument)[1]
                ahead = heading - math.copysign(LOOK_HEADING, heading)
                turn = min(max(ahead, -LOOK_TURN), LOOK_TURN)
            if self._move_base(index, name, step, turn=turn):
                return True
        return False

    def _move_base(
        self, index: int, name: str, step: int, *, forward: float = 0.0, turn: float = 0.0
    ) -> bool:
        """Moves the base alone for one step; True, and kept in the record, where a force limit is exceeded."""
        layout = self._world.robot.actions
        action = self._masked(name, np.zeros(layout.physical_size), REARM_RULE)
        action[layout.forward], action[layout.turn] = forward, turn
        moment = Moment(self.calls, index, name, None, step, self._judge.missed, self._beliefs)
        if not self._step(action, moment):
            return False
        call = self.calls[index]
        bearing = self._bearing(self._told(call.argument))
        self._judge.keep(
            *(index, name, call.label, "force limit", step, bearing),
            deviation="force limit",
            targets=(call.argument.target_index,),
        )
        return True

    def _back_off(self, index: int) -> bool:
        """Drives straight back until something is in the way; True where a force limit ends the episode.

        A drive that begins where the last one ended is over at once, or presses on against what held that up.
        """
        for step in range(1, round(BACK_OFF_WAY / BACK_OFF_STEP) + 1):
            if self._is_late():
                return False
            x, y, _ = self._knowledge.body.base_pose
            if self._move_base(index, BACK_OFF, step, forward=-BACK_OFF_STEP):
                return True
            now = self._knowledge.body.base_pose
            if math.hypot(now[0] - x, now[1] - y) < HELD_UP * BACK_OFF_STEP:
                return False
        return False

    def execution(self, stopped: bool) -> Execution:
        """Closes the record."""
        return self._judge.execution(self._steps, stopped, self._decisions)

    def _step(self, action: np.ndarray, moment: Moment) -> bool:
        """Advances the world; returns whether a force limit was exceeded."""
        _, _, _, info = self._world.step_physical(action)
        self._steps += 1
        self._judge.watch()
        opens = effect_of(moment.skill) == "opens"
        self._knowledge.watch(opens, self.calls[moment.plan_index].argument.joint)
        if self._replanner is not None:
            self._replanner.beliefs.watch(self._world)
        for observe in self._observers:
            observe(self._world, moment)
        return force_exceeded(info)

    def _masked(self, name: str, action: np.ndarray, rule: SkillRule) -> np.ndarray:
        layout = self._world.robot.actions
        if np.shape(action) != (layout.physical_size,):
            raise ValueError(
                f"skill '{name}': expected an action of shape ({layout.physical_size},), "
                f"found {np.shape(action)}"
            )
        masked = np.array(action, dtype=np.float64)
        holding = self._knowledge.body.is_holding
        if rule.grip == "keep":
            masked[layout.grip] = HOLD if holding else LET_GO
        elif rule.grip == "open":
            masked[layout.grip] = LET_GO
        elif rule.grip == "hold" and holding:
            masked[layout.grip] = HOLD
        elif rule.grip == "release" and not holding:
            masked[layout.grip] = LET_GO
        return masked

    def _stop_masked(self, name: str, argument: SkillArgument) -> bool:
        """The paper's mask: a Navigate that learned to avoid force stops at once in contact."""
        if effect_of(name) != "arrives":
            return False
        return self._bearing(argument)[0] > self._settings.stop_mask_distance

    def _bearing(self, argument: SkillArgument) -> tuple[float, float]:
        """Planar distance [m] and relative heading [rad] from the base to the target."""
        x, y, yaw = self._knowledge.body.base_pose
        dx, dy = argument.position[0] - x, argument.position[1] - y
        heading = math.atan2(dy, dx) - yaw
        return math.hypot(dx, dy), math.atan2(math.sin(heading), math.cos(heading))
