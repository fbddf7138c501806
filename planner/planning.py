"""Plans for the episodes of a file that nobody follows: whether they are found, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from planner.evaluation import EvaluationSettings, plan_of
from planner.problem import build_problem
from rearrange.episodes import EpisodeSet


@dataclass(frozen=True)
class PlanRecord:
    """One planned episode.

    Attributes:
        index: Position in the evaluation.
        plan: The steps as text.
        problem_seconds: Writing the PDDL and reading it with unified-planning.
        plan_seconds: Grounding and search.
        expanded: States that the search expanded.
    """

    index: int
    plan: tuple[str, ...]
    problem_seconds: float
    plan_seconds: float
    expanded: int


def plan_episodes(settings: EvaluationSettings, episodes: EpisodeSet) -> Iterator[PlanRecord]:
    """Plans one episode after the other in this process; raises PlanningError where there is no plan."""
    for index in range(settings.episodes):
        episode = episodes.episode(index, settings.seed)
        started = time.perf_counter()
        problem = build_problem(episode, settings.close, settings.named_skills).problem
        problem_seconds = time.perf_counter() - started
        plan = plan_of(settings, problem, index)
        steps = tuple(str(step) for step in plan.steps)
        yield PlanRecord(index, steps, problem_seconds, plan.seconds, plan.expanded)
