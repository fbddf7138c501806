"""Navigation tasks on a kinematic agent: PointNav, ObjectNav, Flee and Explore, as Gymnasium environments.

Names are loaded on first use, so that command lines can list the tasks without compiling anything.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import interrupts  # noqa: F401 - Ctrl-C from here on is one line
from nav.registration import register

if TYPE_CHECKING:
    from nav.agent import AgentConfig
    from nav.buildings import building_names, load_building
    from nav.env import NavEnv, NavVectorEnv
    from nav.episode import NavEpisode
    from nav.table import all_tasks, default_config, register_task
    from nav.task import NavTask, Outcome

__all__ = [
    "AgentConfig",
    "NavEnv",
    "NavEpisode",
    "NavTask",
    "NavVectorEnv",
    "Outcome",
    "all_tasks",
    "building_names",
    "default_config",
    "load_building",
    "register_task",
]

_HOMES = {
    "nav.agent": ("AgentConfig",),
    "nav.buildings": ("building_names", "load_building"),
    "nav.env": ("NavEnv", "NavVectorEnv"),
    "nav.episode": ("NavEpisode",),
    "nav.table": ("all_tasks", "default_config", "register_task"),
    "nav.task": ("NavTask", "Outcome"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nav' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)


register()
