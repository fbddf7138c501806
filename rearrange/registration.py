"""Ids for `gymnasium.make` and `gymnasium.make_vec`: rearrange/Pick-v0 and the like.

Loads nothing but Gymnasium: the environments are loaded when one is made.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from rearrange.gym_ids import GROUP, id_of, register_id

if TYPE_CHECKING:
    from rearrange.env import RearrangeEnv, RearrangeVectorEnv
    from rearrange.sim.config import SimulatorConfig

NAMES = (
    *("navigate", "pick", "place", "open_cab", "close_cab", "open_fridge", "close_fridge"),
    *("tidy_house", "prepare_groceries", "set_table"),
)


def register() -> None:
    """Make the ids of the tasks known, those of other packages by the names of their entry points."""
    for task in (*NAMES, *(point.name for point in entry_points(group=GROUP))):
        register_id(id_of(task), __name__, task)


def make(task: str, **settings: Any) -> RearrangeEnv:
    """One world of a task, as the shipped policies see it and act in it.

    Args:
        task: Name of the task.
        settings: Those of `rearrange.choices.OneRobot`, of the simulator and of the task.

    Raises:
        UserError: There is no such setting, or a value is out of its range or of another type.
    """
    from rearrange.choices import OneRobot
    from rearrange.env import RearrangeEnv

    config, simulator, own = _chosen(task, OneRobot(), settings)
    return RearrangeEnv(
        task, config, own.split, simulator, own.seed, own.starts, None, own.homes, own.render_mode,
        own.sensors,
    )  # fmt: skip


def make_vector(num_envs: int, task: str, **settings: Any) -> RearrangeVectorEnv:
    """Worlds of a task in one process, stepped by `threads`; see `rearrange.choices.ManyRobots`."""
    from rearrange.choices import ManyRobots
    from rearrange.env import RearrangeVectorEnv

    config, simulator, own = _chosen(task, ManyRobots(), {"num_envs": num_envs, **settings})
    return RearrangeVectorEnv(
        own.num_envs, task, config, own.split, simulator, own.starts, None, own.homes, own.sensors,
        own.threads, own.render_mode,
    )  # fmt: skip


def as_shipped(task: str, rules: str = "ours", preset: str = "cpu") -> tuple[Any, SimulatorConfig]:
    """A task's config and the simulator's, as policies know them that were trained by configs/*.yaml.

    Only the camera and what actions mean are taken from there: all else is the task's own, by which policies
    are judged. By HAB's rules all is HAB's.

    Args:
        task: Its name.
        rules: See rearrange.rules.
        preset: Name of a file in configs/presets/, or cpu.

    Raises:
        UserError: There is no such task, set of rules or preset.
    """
    from rearrange.keywords import changed
    from rearrange.rules import HAB, simulator_config, task_config
    from rearrange.shipped import fitting
    from rearrange.tasks import household_names

    parts = [task_config(task, rules), simulator_config(rules)]
    files = ["skill", "household" if task in household_names() else task]
    config, simulator = changed(id_of(task), parts, fitting([] if rules == HAB else files, preset))
    return config, simulator


def _chosen(task: str, choices: Any, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The task's config, the simulator's and all else that is chosen."""
    from rearrange.choices import choose

    return choose(
        id_of(task), choices, lambda own: as_shipped(task, own.rules, own.preset), settings
    )
