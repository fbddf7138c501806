"""From a unified-planning problem to a plan: ground it, then search forward with the FF heuristic.

States are integers whose bits are ground facts, so that applying an operator is three bit
operations. The search is weighted A*; equal nodes leave the queue in the order in which the
problem lists its objects, so a plan is deterministic and follows the episode's order of targets.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unified_planning.engines import (
    PlanGenerationResultStatus,
    SequentialPlanValidator,
    ValidationResultStatus,
)
from unified_planning.environment import get_environment
from unified_planning.exceptions import UPException
from unified_planning.model import Action, FNode, InstantaneousAction, Problem
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import OneshotPlanner

from rearrange.errors import UserError

OWN_ENGINE = "forward"
INFINITY = 1 << 30
Atom = tuple[str, ...]  # predicate name, then object names (or parameter names while lifted)


class PlanningError(UserError):
    """The problem has no plan, or none was found within the limits: another engine may find one."""


@dataclass(frozen=True)
class PlanStep:
    """One grounded action: its name in the domain and the names of its objects."""

    action: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.action, *self.arguments))})"


@dataclass(frozen=True)
class Plan:
    """A found plan and how it was found.

    Attributes:
        steps: In order of execution.
        engine: OWN_ENGINE or the name of a unified-planning engine.
        seconds: Grounding and search, without reading the PDDL.
        expanded: States expanded; 0 for other engines.
    """

    steps: tuple[PlanStep, ...]
    engine: str
    seconds: float
    expanded: int = 0


@dataclass(frozen=True)
class Operator:
    """A ground action over fact bits."""

    step: PlanStep
    precondition: int
    add: int
    delete: int


@dataclass(frozen=True)
class GroundTask:
    """A ground STRIPS task: what the search works on."""

    facts: tuple[Atom, ...]
    operators: tuple[Operator, ...]
    initial: int
    goal: int


def find_plan(
    problem: Problem,
    engine: str = OWN_ENGINE,
    weight: float = 2.0,
    max_expanded: int = 100_000,
    validate: bool = False,
) -> Plan:
    """Solves a problem.

    Args:
        problem: STRIPS with types for the own engine; anything for others that they can read.
        engine: OWN_ENGINE, or any engine that unified-planning knows by name.
        weight: Weight of the heuristic, f = g + weight * h; 1 is A*, larger is greedier.
        max_expanded: The own search gives up after so many states.
        validate: Check the plan with unified-planning's own validator before returning it.

    Raises:
        PlanningError: No plan exists or none was found.
        UserError: The engine is unknown, or the problem is beyond STRIPS for the own engine.
    """
    started = time.perf_counter()
    if engine == OWN_ENGINE:
        steps, expanded = best_first(ground(problem), weight, max_expanded)
    else:
        steps, expanded = _solve_with(problem, engine), 0
    plan = Plan(tuple(steps), engine, time.perf_counter() - started, expanded)
    if validate:
        check_plan(problem, plan)
    return plan


def check_plan(problem: Problem, plan: Plan) -> None:
    """Raises PlanningError unless unified-planning's SequentialPlanValidator accepts the plan."""
    actions = [
        ActionInstance(problem.action(s.action), tuple(problem.object(a) for a in s.arguments))
        for s in plan.steps
    ]
    validator = SequentialPlanValidator(environment=problem.environment)
    result = validator.validate(problem, SequentialPlan(actions, problem.environment))
    if result.status != ValidationResultStatus.VALID:
        raise PlanningError(f"the plan of engine '{plan.engine}' is not valid: {result.reason}")


def engine_names() -> list[str]:
    """Engines that can be named: the own one, then those of unified-planning that can plan."""
    factory = get_environment().factory
    names = [n for n in factory.engines if factory.engine(n).is_oneshot_planner()]
    return [OWN_ENGINE, *sorted(names)]


def _solve_with(problem: Problem, engine: str) -> list[PlanStep]:
    if engine not in engine_names():
        raise UserError(f"unknown engine '{engine}'; installed: {', '.join(engine_names())}")
    get_environment().credits_stream = None
    try:
        with OneshotPlanner(name=engine) as planner:
            result = cast(Any, planner).solve(problem)
    except UPException as error:
        told = " ".join(str(error).split())
        raise PlanningError(f"engine '{engine}' cannot plan this: {told}") from None
    solved = (
        PlanGenerationResultStatus.SOLVED_OPTIMALLY,
        PlanGenerationResultStatus.SOLVED_SATISFICING,
    )
    if result.status not in solved or not isinstance(result.plan, SequentialPlan):
        raise PlanningError(f"engine '{engine}' found no plan: {result.status.name}")
    return [
        PlanStep(a.action.name, tuple(str(p) for p in a.actual_parameters))
        for a in result.plan.actions
    ]


# ---------------------------------------------------------------- search


def best_first(task: GroundTask, weight: float, max_expanded: int) -> tuple[list[PlanStep], int]:
    """Weighted A* over a ground task.

    Returns:
        The steps of the plan and the number of expanded states.

    Raises:
        PlanningError: The task has no plan, or none within `max_expanded` states.
    """
    heuristic = RelaxedPlan(task)
    order = itertools.count()
    estimate = heuristic(task.initial)
    queue = [(weight * estimate, estimate, next(order), task.initial)]
    parents: dict[int, tuple[int, Operator] | None] = {task.initial: None}
    costs = {task.initial: 0}
    estimates = {task.initial: estimate}
    closed: set[int] = set()
    while queue and estimate < INFINITY:
        *_, state = heapq.heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        if state & task.goal == task.goal:
            return _trace(parents, state), len(closed)
        if len(closed) >= max_expanded:
            raise PlanningError(f"no plan within {max_expanded} expanded states")
        cost = costs[state] + 1
        for operator in task.operators:
            if state & operator.precondition != operator.precondition:
                continue
            child = state & ~operator.delete | operator.add
            if cost >= costs.get(child, INFINITY):
                continue
            if child not in estimates:
                estimates[child] = heuristic(child)
            if estimates[child] >= INFINITY:
                continue
            costs[child] = cost
            parents[child] = (state, operator)
            closed.discard(child)
            priority = cost + weight * estimates[child]
            heapq.heappush(queue, (priority, estimates[child], next(order), child))
    raise PlanningError("the problem has no plan")


def _trace(parents: dict[int, tuple[int, Operator] | None], state: int) -> list[PlanStep]:
    steps: list[PlanStep] = []
    while (parent := parents[state]) is not None:
        state, operator = parent
        steps.append(operator.step)
    return steps[::-1]


class RelaxedPlan:
    """The FF heuristic: length of a plan for the task without delete effects.

    Facts are reached in breadth-first layers; each remembers the first operator that reached it,
    and the relaxed plan is collected backwards from the goal along these operators.
    """

    def __init__(self, task: GroundTask) -> None:
        self._goal = task.goal
        self._operators = [(o.precondition, o.add, i) for i, o in enumerate(task.operators)]

    def __call__(self, state: int) -> int:
        """Number of actions in the relaxed plan from `state`, INFINITY where there is none."""
        supporters = self._supporters(state)
        if supporters is None:
            return INFINITY
        plan: set[int] = set()
        seen, pending = state, self._goal & ~state
        while pending:
            fact = pending & -pending
            seen |= fact
            supporter = supporters[fact]
            plan.add(supporter)
            pending = (pending | self._operators[supporter][0]) & ~seen
        return len(plan)

    def _supporters(self, state: int) -> dict[int, int] | None:
        """Fact's bit -> the first operator that adds it; None if the goal is out of reach."""
        supporters: dict[int, int] = {}
        reached, waiting = state, self._operators
        while self._goal & ~reached:
            layer, later = reached, []
            for operator in waiting:
                precondition, add, index = operator
                if precondition & reached != precondition:
                    later.append(operator)
                elif fresh := add & ~layer:
                    layer |= fresh
                    while fresh:
                        fact = fresh & -fresh
                        supporters[fact] = index
                        fresh ^= fact
            if layer == reached:
                return None
            reached, waiting = layer, later
        return supporters


# ---------------------------------------------------------------- grounding


@dataclass(frozen=True)
class _Candidate:
    step: PlanStep
    preconditions: tuple[Atom, ...]
    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]


def ground(problem: Problem) -> GroundTask:
    """Instantiates the actions that are reachable when nothing is ever deleted.

    Raises:
        UserError: The problem uses more than typed STRIPS.
    """
    initial = {_atom(f) for f, value in problem.explicit_initial_values.items() if value.is_true()}
    goals = _conjunction(problem.goals)
    candidates = [c for action in problem.actions for c in _instances(problem, action)]
    reachable = set(initial)
    chosen: set[int] = set()
    while True:
        grown = {
            i
            for i, candidate in enumerate(candidates)
            if i not in chosen and reachable.issuperset(candidate.preconditions)
        }
        if not grown:
            break
        chosen |= grown
        reachable.update(atom for i in grown for atom in candidates[i].adds)
    facts = tuple(sorted(reachable.union(goals)))
    bit = {atom: 1 << index for index, atom in enumerate(facts)}
    operators = [_operator(candidates[i], bit) for i in sorted(chosen)]
    useful = tuple(o for o in operators if o.add & ~o.precondition)  # nav from a to a adds nothing
    return GroundTask(facts, useful, _mask(initial, bit), _mask(goals, bit))


def _instances(problem: Problem, action: Action) -> Iterator[_Candidate]:
    if not isinstance(action, InstantaneousAction):
        raise UserError("the own search reads instantaneous actions only; choose another engine")
    preconditions = _conjunction(action.preconditions)
    adds: list[Atom] = []
    deletes: list[Atom] = []
    for effect in action.effects:
        if effect.is_conditional() or effect.is_forall() or not effect.value.is_bool_constant():
            raise UserError(f"action '{action.name}' is beyond STRIPS; choose another engine")
        (adds if effect.value.is_true() else deletes).append(_atom(effect.fluent))
    names = [parameter.name for parameter in action.parameters]
    atoms = (*preconditions, *adds, *deletes)
    constants = sorted({x for atom in atoms for x in atom[1:]}.difference(names))
    place = {name: index for index, name in enumerate((*names, *constants))}
    lifted = [(atom[0], [place[x] for x in atom[1:]]) for atom in atoms]
    first, second = len(preconditions), len(preconditions) + len(adds)
    domains = [[o.name for o in problem.objects(p.type)] for p in action.parameters]
    for values in itertools.product(*domains):
        row = (*values, *constants)
        bound = tuple([(name, *[row[i] for i in places]) for name, places in lifted])
        yield _Candidate(
            PlanStep(action.name, values), bound[:first], bound[first:second], bound[second:]
        )


def _conjunction(conditions: Sequence[FNode]) -> tuple[Atom, ...]:
    atoms: list[Atom] = []
    for condition in conditions:
        if condition.is_and():
            atoms.extend(_conjunction(condition.args))
        elif condition.is_fluent_exp():
            atoms.append(_atom(condition))
        elif not condition.is_true():
            raise UserError(f"'{condition}' is beyond STRIPS; choose another engine")
    return tuple(atoms)


def _atom(node: FNode) -> Atom:
    return (node.fluent().name, *(str(argument) for argument in node.args))


def _operator(candidate: _Candidate, bit: dict[Atom, int]) -> Operator:
    precondition = _mask(candidate.preconditions, bit)
    add = _mask(candidate.adds, bit)
    # A fact that is never reached has no bit, and deleting it has no effect.
    delete = _mask((a for a in candidate.deletes if a in bit), bit)
    return Operator(candidate.step, precondition, add, delete)


def _mask(atoms: Iterable[Atom], bit: dict[Atom, int]) -> int:
    mask = 0
    for atom in atoms:
        mask |= bit[atom]
    return mask
