"""Ids of navigation tasks for `gymnasium.make` and `gymnasium.make_vec`: rearrange/PointNav-v0 and the like.

Imports nothing but Gymnasium: the environments are loaded when one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rearrange.gym_ids import register_id

if TYPE_CHECKING:
    from nav.env import NavEnv, NavVectorEnv

IDS = {
    "pointnav": "rearrange/PointNav-v0",
    "objectnav": "rearrange/ObjectNav-v0",
    "flee": "rearrange/Flee-v0",
    "explore": "rearrange/Explore-v0",
}


def register() -> None:
    """Make the ids known, unless they are."""
    for task, name in IDS.items():
        register_id(name, __name__, task)


def make(
    task: str, split: str = "train", render_mode: str | None = None, **settings: Any
) -> NavEnv:
    """One agent at a task.

    Args:
        task: Name of the task.
        split: "train", "val" or "test": which homes.
        render_mode: As NavEnv takes it.
        settings: homes and seed, or any setting of the agent (camera_size, rgb) or of the task (max_steps).

    Raises:
        UserError: There is no such setting or mode, or a value is out of its range.
    """
    from nav.env import NavEnv

    config, agent, own = _sorted(task, settings, ("homes", "seed"))
    return NavEnv(task, config, split, agent=agent, render_mode=render_mode, **own)


def make_vector(num_envs: int, task: str, split: str = "train", **settings: Any) -> NavVectorEnv:
    """Agents at a task in one process, drawn for by `threads`; other arguments as for `make`."""
    from nav.env import NavVectorEnv

    config, agent, own = _sorted(task, settings, ("homes", "threads"))
    return NavVectorEnv(num_envs, task, config, split, agent=agent, **own)


def _sorted(
    task: str, settings: dict[str, Any], own: tuple[str, ...]
) -> tuple[Any, Any, dict[str, Any]]:
    from nav.table import TASKS, default_config
    from rearrange.settings import sort_settings

    parts = [default_config(task), TASKS[task].agent_config()]
    (config, agent), rest = sort_settings(IDS[task], settings, parts, own)
    return config, agent, rest
