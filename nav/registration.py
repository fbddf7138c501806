"""Navigation tasks for `gymnasium.make` and `gymnasium.make_vec`.

Imports nothing but Gymnasium: the environments are loaded when one is made.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from nav.gym_ids import GROUP, IDS, gym_id, register_name

if TYPE_CHECKING:
    from nav.env import NavEnv, NavVectorEnv


def register() -> None:
    """Make the ids of the tasks known, those of other packages by the names of their entry points."""
    for task in (*IDS, *(point.name for point in entry_points(group=GROUP))):
        register_name(task)


def make(task: str, **settings: Any) -> NavEnv:
    """One agent at a task, as the shipped policies see it and act in it.

    Args:
        task: Name of the task.
        settings: Those of `nav.choices.OneAgent`, of the agent and of the task.

    Raises:
        UserError: There is no such setting, or a value is out of its range or of another type.
    """
    from nav.choices import OneAgent
    from nav.env import NavEnv

    config, agent, own = _chosen(task, OneAgent(), settings)
    files = _files(task, own)
    return NavEnv(task, config, own.split, own.homes, agent, own.seed, files, own.render_mode)


def make_vector(num_envs: int, task: str, **settings: Any) -> NavVectorEnv:
    """Agents at a task in one process, drawn for by `threads`; see `nav.choices.ManyAgents`."""
    from nav.choices import ManyAgents
    from nav.env import NavVectorEnv

    config, agent, own = _chosen(task, ManyAgents(), {"num_envs": num_envs, **settings})
    files = _files(task, own)
    return NavVectorEnv(
        own.num_envs, task, config, own.split, own.homes, agent, files, own.threads,
        own.render_mode, own.sharing,
    )  # fmt: skip


def _files(task: str, own: Any) -> Any:
    """The source of episodes elsewhere than in our buildings."""
    from nav.episode_files import check_homes_play, source_of

    check_homes_play(own.sim, own.homes)
    return source_of(own.sim, task, own.dataset, own.scenes, own.split)


def _chosen(task: str, choices: Any, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The task's config, the agent, which is that of configs/*.yaml, and all else that is chosen."""
    from nav.table import find_task
    from rearrange.choices import choose
    from rearrange.keywords import changed
    from rearrange.shipped import fitting

    def parts_of(own: Any) -> tuple[Any, Any]:
        parts = [find_task(task).config_type(), find_task(task).agent_config()]
        config, agent = changed(gym_id(task), parts, fitting([task], own.preset))
        return config, agent

    return choose(gym_id(task), choices, parts_of, settings)
