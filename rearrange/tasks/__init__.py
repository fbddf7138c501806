"""Tasks by name; one file per task holds everything about it."""

from __future__ import annotations

from typing import Any

from rearrange.errors import UserError
from rearrange.tasks.base import ActionConfig, ForceConfig, Outcome, Task
from rearrange.tasks.pick import Pick, PickConfig
from rearrange.tasks.tidy_house import TidyHouse, TidyHouseConfig

__all__ = [
    "TASKS",
    "ActionConfig",
    "ForceConfig",
    "Outcome",
    "Pick",
    "PickConfig",
    "Task",
    "TidyHouse",
    "TidyHouseConfig",
    "default_config",
    "make_task",
]

TASKS: dict[str, tuple[Any, Any]] = {
    "pick": (Pick, PickConfig),
    "tidy_house": (TidyHouse, TidyHouseConfig),
}


def default_config(name: str) -> Any:
    """The config of a task with its defaults.

    Raises:
        UserError: There is no such task.
    """
    return _entry(name)[1]()


def make_task(name: str, config: Any = None, world_count: int = 1, **options: Any) -> Task:
    """A task over `world_count` worlds; `config=None` takes the defaults.

    Raises:
        UserError: There is no such task.
    """
    return _entry(name)[0](config, world_count, **options)


def _entry(name: str) -> tuple[Any, Any]:
    if name not in TASKS:
        raise UserError(f"unknown task '{name}': choose one of {', '.join(TASKS)}")
    return TASKS[name]
