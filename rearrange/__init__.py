"""The world: scenes, robot, sensors, tasks and episodes of home rearrangement, as Gymnasium environments.

Names are loaded on first use, so that `rearrange.errors` stays cheap for command lines. `gymnasium.make` knows
the tasks once this is imported: rearrange/Pick-v0 and so on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import interrupts  # noqa: F401 - Ctrl-C from here on is one line
from rearrange.registration import register

if TYPE_CHECKING:
    from rearrange.env import RearrangeEnv, RearrangeVectorEnv
    from rearrange.episodes import Episode, Target
    from rearrange.errors import UserError
    from rearrange.sim import MujocoSimulator, SimState, Simulator, SimulatorConfig
    from rearrange.tasks import TASKS, default_config, make_task

__all__ = [
    "TASKS",
    "Episode",
    "MujocoSimulator",
    "RearrangeEnv",
    "RearrangeVectorEnv",
    "SimState",
    "Simulator",
    "SimulatorConfig",
    "Target",
    "UserError",
    "default_config",
    "make_task",
]

_HOMES = {
    "rearrange.env": ("RearrangeEnv", "RearrangeVectorEnv"),
    "rearrange.episodes": ("Episode", "Target"),
    "rearrange.errors": ("UserError",),
    "rearrange.sim": ("MujocoSimulator", "SimState", "Simulator", "SimulatorConfig"),
    "rearrange.tasks": ("TASKS", "default_config", "make_task"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rearrange' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


register()
