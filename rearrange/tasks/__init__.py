"""Tasks by name; one file per task holds everything about it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

import gymnasium

from rearrange.entry_points import load
from rearrange.errors import UserError, check_choice
from rearrange.gym_ids import GROUP, id_of, register_id
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.tasks.base import ActionConfig, ForceConfig, Outcome, Task
from rearrange.tasks.household import Household, HouseholdConfig
from rearrange.tasks.navigate import Navigate, NavigateConfig
from rearrange.tasks.open_close import (
    CloseCab,
    CloseCabConfig,
    CloseFridge,
    CloseFridgeConfig,
    OpenCab,
    OpenCabConfig,
    OpenClose,
    OpenFridge,
    OpenFridgeConfig,
)
from rearrange.tasks.pick import Pick, PickConfig
from rearrange.tasks.place import Place, PlaceConfig
from rearrange.tasks.prepare_groceries import PrepareGroceries, PrepareGroceriesConfig
from rearrange.tasks.set_table import SetTable, SetTableConfig
from rearrange.tasks.tidy_house import TidyHouse, TidyHouseConfig

__all__ = [
    "TASKS",
    "ActionConfig",
    "CloseCab",
    "CloseCabConfig",
    "CloseFridge",
    "CloseFridgeConfig",
    "ForceConfig",
    "Household",
    "HouseholdConfig",
    "Navigate",
    "NavigateConfig",
    "OpenCab",
    "OpenCabConfig",
    "OpenClose",
    "OpenFridge",
    "OpenFridgeConfig",
    "Outcome",
    "Pick",
    "PickConfig",
    "Place",
    "PlaceConfig",
    "PrepareGroceries",
    "PrepareGroceriesConfig",
    "SetTable",
    "SetTableConfig",
    "Task",
    "TidyHouse",
    "TidyHouseConfig",
    "default_config",
    "household_names",
    "make_task",
    "register_task",
    "unregister_task",
]

TASKS: dict[str, tuple[Any, Any]] = {  # name -> the task and its config, both types
    task.name: (task, task.config_type)
    for task in (
        *(Navigate, Pick, Place, OpenCab, CloseCab, OpenFridge, CloseFridge),
        *(TidyHouse, PrepareGroceries, SetTable),
    )
}


def household_names() -> tuple[str, ...]:
    """Names of all household tasks, ours first, then those of other packages."""
    _load_others()
    return tuple(name for name, (task, _) in TASKS.items() if issubclass(task, Household))


def register_task(task: type[Task]) -> None:
    """Make a task known by its name: to environments, episode files, configs and `gymnasium.make`.

    Raises:
        UserError: Another task has the name.
    """
    known = TASKS.setdefault(task.name, (task, task.config_type))[0]
    if known is not task:
        raise UserError(
            f"task '{task.name}' of {task.__module__}: {known.__module__} has one of that name "
            "already: choose another"
        )
    register_id(id_of(task.name), "rearrange.registration", task.name)


def unregister_task(name: str) -> None:
    """Take out what `register_task` has added."""
    del TASKS[name]
    gymnasium.registry.pop(id_of(name), None)


def default_config(name: str) -> Any:
    """The config of a task with its defaults.

    Raises:
        UserError: There is no such task.
    """
    return _entry(name)[1]()


def make_task(
    name: str,
    config: Any = None,
    world_count: int = 1,
    robot: RobotSpec | None = None,
    scene: SceneSpec = APARTMENT,
) -> Task:
    """A task over `world_count` worlds; None takes the defaults.

    Raises:
        UserError: There is no such task.
    """
    return _entry(name)[0](config, world_count, robot, scene)


@cache
def _load_others() -> None:
    for point in entry_points(group=GROUP):
        task = load(point, "task", object)
        if not (isinstance(task, type) and issubclass(task, Task)):
            raise UserError(f"task '{point.name}': {point.value} is no Task")
        register_task(task)


def _entry(name: str) -> tuple[Any, Any]:
    if name not in TASKS:
        _load_others()
    return TASKS[check_choice("task", name, TASKS)]
