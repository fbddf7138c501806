"""All navigation tasks by name: ours, and those of other packages.

Others are found by entry points of GROUP, once, on the first question.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from nav.explore import Explore
from nav.flee import Flee
from nav.gym_ids import GROUP, register_name
from nav.objectnav import ObjectNav
from nav.pointnav import PointNav
from nav.task import NavTask
from nav.worlds import AgentWorlds
from rearrange.entry_points import load
from rearrange.errors import UserError, check_choice

TASKS: dict[str, type[NavTask]] = {task.name: task for task in (PointNav, ObjectNav, Flee, Explore)}


def register_task(task: type[NavTask]) -> type[NavTask]:
    """Make a task known in this process: to environments, trainings and `gymnasium.make`; returns it.

    Raises:
        UserError: Another task has the name.
    """
    known = TASKS.setdefault(task.name, task)
    if known is not task:
        raise UserError(
            f"navigation task '{task.name}' of {task.__module__}: {known.__module__} has one of that name "
            "already: choose another"
        )
    register_name(task.name)
    return task


@cache
def _load_others() -> None:
    for point in entry_points(group=GROUP):
        task = load(point, "navigation task", object)
        if not (isinstance(task, type) and issubclass(task, NavTask)):
            raise UserError(f"navigation task '{point.name}': {point.value} is no NavTask")
        register_task(task)


def all_tasks() -> dict[str, type[NavTask]]:
    """All tasks by name, ours first.

    Raises:
        UserError: What another package has registered cannot be loaded, or its name is taken.
    """
    _load_others()
    return TASKS


def find_task(name: str) -> type[NavTask]:
    """The task of that name; a UserError lists those that exist."""
    return all_tasks()[check_choice("navigation task", name, all_tasks())]


def default_config(name: str) -> Any:
    """A new instance of the task's config with its defaults."""
    return find_task(name).config_type()


def make_task(name: str, config: Any, worlds: AgentWorlds) -> NavTask:
    """The task of that name over some agents; config None takes its defaults."""
    return find_task(name)(config, worlds)
