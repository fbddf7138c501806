"""All navigation tasks by name."""

from __future__ import annotations

from typing import Any

from nav.explore import Explore
from nav.flee import Flee
from nav.objectnav import ObjectNav
from nav.pointnav import PointNav
from nav.task import NavTask
from nav.worlds import AgentWorlds
from rearrange.errors import check_choice

TASKS: dict[str, type[NavTask]] = {task.name: task for task in (PointNav, ObjectNav, Flee, Explore)}


def check_task(name: str) -> str:
    """Return the task's name or raise a UserError that lists those that exist."""
    return check_choice("navigation task", name, TASKS)


def default_config(name: str) -> Any:
    """A new instance of the task's config with its defaults."""
    return TASKS[check_task(name)].config_type()


def make_task(name: str, config: Any, worlds: AgentWorlds) -> NavTask:
    """The task of that name over some agents; config None takes its defaults."""
    return TASKS[check_task(name)](config, worlds)
