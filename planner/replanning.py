"""Replanning: after a hand-off that is not as the plan assumes, a new plan from where things are.

TP-SRL has none: off by default. What the robot may know for it is said in `skills.knowledge`, what it makes
of that in `beliefs.py`. Looked at are hand-offs only, after the arm was folded, and after a Place the robot
first turns its camera to the goal and watches for a second. There:

- nothing in the hand after Pick, dropped on the way, a door that did not open, a goal that is missed, a
  time-out without its effect: the same again, beginning with a new drive there. The executive backs off
  first: from where the last drive ended a new one is over at once;
- another object in the hand: it is put back where it was taken, or, if the task asks for it too, goes to
  its own goal;
- a handle in the hand is let go;
- an object that is lost, or has caused more than `per_object` new plans, is given up, the others are not
  (a wrong object's way back counts against the one that was to be picked);
- an object that another one stands before is taken after that, which pulling it out would sweep down;
- a time-out whose effect is there is none: a Navigate that never stopped may have arrived all the same, by
  odometry.

There are at most `limit` new plans in an episode; beyond that the executive is TP-SRL's again, time-outs
included. Step and force limits end the episode as ever: replanning does not undo what was broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from unified_planning.model import Problem

from planner.beliefs import Beliefs
from planner.interactions import SkillCall, bind
from planner.problem import TaskProblem, object_name
from planner.search import Plan, PlanningError
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, spec_of
from rearrange.sim.base import NOTHING
from rearrange.tasks.navigate import NavigateConfig
from skills.knowledge import HANDLE, Knowledge

NEW_PLANS = 12  # in an episode, where `--replan` names no number
ARRIVED = NavigateConfig().goal_distance  # [m], base to what it was told: Navigate's own success


@dataclass(frozen=True)
class ReplanSettings:
    """Limits on replanning.

    Attributes:
        limit: New plans in an episode at most; 0: no replanning.
        per_object: New plans because of one object, before it is given up.
    """

    limit: int = 0
    per_object: int = 6


@dataclass(frozen=True)
class Verdict:
    """Decision after a hand-off.

    Attributes:
        text: Why, in words.
        calls: The plan from here on; None: the old one goes on.
        lets_go: The hand has to let go of a handle first.
    """

    text: str
    calls: tuple[SkillCall, ...] | None = None
    lets_go: bool = False


@dataclass(frozen=True)
class _Trouble:
    """A deviation from the plan and the target to blame; None: no object's."""

    cause: str
    target: int | None


class Replanner:
    """Decides after every skill of one episode how to go on."""

    def __init__(
        self,
        episode: Episode,
        settings: ReplanSettings,
        solve: Callable[[Problem], Plan],
        knowledge: Knowledge,
        close: bool = False,
        named: Collection[str] = (),
    ) -> None:
        """Begin with an episode.

        Args:
            episode: What is asked.
            settings: How often.
            solve: Makes a plan; raises PlanningError.
            knowledge: What the robot may know; follows the same episode.
            close: As in `problem.build_problem`.
            named: As there.
        """
        self._episode, self._settings, self._solve = episode, settings, solve
        self._scene = spec_of(episode)
        self.knowledge = knowledge
        self.beliefs = Beliefs(episode, knowledge, close, named)
        self._plans = 0
        self._because_of: Counter[int] = Counter()
        self._given_up: set[int] = set()
        self._put_first: set[int] = set()

    @property
    def may_replan(self) -> bool:
        """True if another plan is allowed."""
        return self._plans < self._settings.limit

    def decide(
        self,
        world: RearrangeEnv,
        call: SkillCall,
        steps: int,
        timed_out: bool,
        distance: float,
        last: bool,
    ) -> Verdict | None:
        """Looks, and decides how to go on; None: as planned, and there is nothing to tell.

        Args:
            world: The environment, after the skill and the folding of the arm.
            call: What was done.
            steps: How long it took.
            timed_out: The skill did not end by itself, and that is no way for it to end.
            distance: From the base to what the skill was told, in the plane, by odometry [m].
            last: The plan ends here.
        """
        carried = self.beliefs.held
        moved = self.beliefs.look(world, call)
        stranded = call.effect == "arrives" and timed_out and distance > ARRIVED
        trouble = self._trouble(call, carried, stranded, moved)
        if trouble is None and last:
            trouble = self._omission()
        at = f"{call.skill} {call.label} ({self._scene.slot_kinds[call.argument.slot]})"
        if trouble is None:
            if not timed_out:
                return self._reordered(call, at)
            return Verdict(f"{at}: time-out after {steps} steps, but its effect is there; goes on")
        found = f"{at}: {trouble.cause} after {steps} steps"
        if not self.may_replan:
            return Verdict(f"{found}; no new plan is left, goes on")
        self._plans += 1
        given_up = self._blame(trouble)
        calls, note = self._new_plan()
        plan = ", ".join(f"{c.skill} {c.label}" for c in calls) or "nothing is left to do"
        text = f"{found}; {given_up}{note}new plan of {len(calls)} steps: {plan}"
        return Verdict(text, calls, lets_go=self.beliefs.held == HANDLE)

    def _reordered(self, call: SkillCall, at: str) -> Verdict | None:
        """A plan that takes first what stands before what the robot has driven to; None: the old one is kept.

        It is none of the `limit` new plans. A target is put first once. Another engine may order as it likes.
        """
        if call.effect != "arrives" or call.argument.kind != "object" or call.argument.joint:
            return None
        first = self.beliefs.before(call.argument.target_index, self._given_up | self._put_first)
        if first is None:
            return None
        self._put_first.add(first)
        try:
            calls = self._solved(self.beliefs.remaining(self._given_up, first=first))
        except PlanningError:
            return None
        taken = [each.argument.target_index for each in calls if each.effect == "holds"]
        if taken[:1] != [first]:
            return None
        return Verdict(f"{at}: {object_name(first)} stands before it, and is taken first", calls)

    def _trouble(
        self, call: SkillCall, carried: int, stranded: bool, moved: list[int]
    ) -> _Trouble | None:
        """Find the deviation from the plan; the hand first, then the step's effect."""
        held, target = self.beliefs.held, call.argument.target_index
        if held == HANDLE:
            return _Trouble("holds a handle", target)
        if call.effect == "holds" and held != call.argument.slot:
            if held == NOTHING:
                return _Trouble("nothing held", target)
            return _Trouble(f"wrong object in the hand ({self._scene.slot_kinds[held]})", target)
        if call.effect == "places":
            if held != NOTHING:
                return _Trouble("still in the hand", target)
            if carried == self._episode.targets[target].slot and self._is_amiss(call):
                return _Trouble("missed the goal", target)
        elif call.effect != "holds" and carried not in (held, NOTHING, HANDLE):
            return _Trouble("dropped", self._target_of(carried, target))
        if moved:
            return _Trouble(f"{object_name(moved[0])} is no longer at its goal", moved[0])
        if call.interacts and call.receptacle is not None and not self.beliefs.is_as_meant(call):
            return _Trouble("no effect", target)
        if stranded:
            return _Trouble("time-out", target)
        return None

    def _is_amiss(self, call: SkillCall) -> bool:
        """Return whether a target that was put down, not put back, is away from its goal."""
        target = call.argument.target_index
        goal = self._episode.targets[target].goal
        return call.argument.position == goal and not self.beliefs.objects[target].at_goal

    def _omission(self) -> _Trouble | None:
        """Find work left undone by a plan that only freed the hand, or was the last allowed."""
        left = self.beliefs.left(self._given_up)
        return _Trouble(f"{object_name(left[0])} is still to be done", None) if left else None

    def _target_of(self, slot: int, otherwise: int) -> int:
        index = self.beliefs.target_of(slot)
        return otherwise if index is None else index

    def _blame(self, trouble: _Trouble) -> str:
        """Counts; gives an object up that has caused too much; returns what to say of that."""
        lost = {i for i, where in self.beliefs.objects.items() if where.position is None}
        lost -= {self._target_of(self.beliefs.held, -1)}
        hopeless = set(lost)
        if trouble.target is not None:
            self._because_of[trouble.target] += 1
            if self._because_of[trouble.target] > self._settings.per_object:
                hopeless.add(trouble.target)
        fresh = sorted(hopeless - self._given_up)
        self._given_up |= hopeless
        reasons = {i: "lost" if i in lost else "tried often enough" for i in fresh}
        return "".join(f"gives up {object_name(i)} ({reasons[i]}); " for i in fresh)

    def _new_plan(self) -> tuple[tuple[SkillCall, ...], str]:
        """The calls of a new plan, and what to say of it."""
        try:
            return self._solved(self.beliefs.remaining(self._given_up)), ""
        except PlanningError:
            # What is in the hand belongs into something closed: the hand has to be emptied first.
            if self.beliefs.held in (NOTHING, HANDLE):
                return (), "no plan is found; "
        return self._solved(self.beliefs.remaining((), put_back=True)), "hand first; "

    def _solved(self, task: TaskProblem) -> tuple[SkillCall, ...]:
        plan = self._solve(task.problem)
        return tuple(bind(step, task.arguments, self._scene) for step in plan.steps)
