"""Plans household tasks, follows the plans with skills, and reports how well that went."""

import interrupts  # noqa: F401 - Ctrl-C from here on is one line
from planner.executive import Executive
from planner.problem import TaskProblem, build_problem
from planner.record import Execution, HandOff, Moment
from planner.rules import ExecutiveSettings, SkillRule
from planner.search import Plan, PlanningError, PlanStep, check_plan, find_plan

__all__ = [
    "Execution",
    "Executive",
    "ExecutiveSettings",
    "HandOff",
    "Moment",
    "Plan",
    "PlanStep",
    "PlanningError",
    "SkillRule",
    "TaskProblem",
    "build_problem",
    "check_plan",
    "find_plan",
]
