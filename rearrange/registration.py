"""Ids for `gymnasium.make` and `gymnasium.make_vec`: rearrange/Pick-v0 and the like.

Imports nothing but Gymnasium: the environments are loaded when one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rearrange.gym_ids import CAMERA_SIZE, id_of, register_id

if TYPE_CHECKING:
    from rearrange.env import RearrangeEnv, RearrangeVectorEnv
    from rearrange.sim.config import SimulatorConfig

NAMES = (
    *("navigate", "pick", "place", "open_cab", "close_cab", "open_fridge", "close_fridge"),
    *("tidy_house", "prepare_groceries", "set_table"),
)


def register() -> None:
    """Make the ids of the tasks that are built in known."""
    for task in NAMES:
        register_id(id_of(task), __name__, task)


def make(
    task: str, split: str = "train", render_mode: str | None = None, **settings: Any
) -> RearrangeEnv:
    """One world of a task.

    Args:
        task: Name of the task.
        split: "train", "val" or "test": which homes.
        render_mode: As RearrangeEnv takes it.
        settings: Arguments of RearrangeEnv (homes, seed, starts), or any setting of the simulator
            (camera_size, slide) or of the task (max_steps, distance_scale).

    Raises:
        UserError: There is no such setting, or a value is out of its range.
    """
    from rearrange.env import RearrangeEnv

    config, simulator, own = _sorted(task, settings, ("homes", "seed", "starts"))
    return RearrangeEnv(task, config, split, simulator, render_mode=render_mode, **own)


def make_vector(
    num_envs: int, task: str, split: str = "train", **settings: Any
) -> RearrangeVectorEnv:
    """Worlds of a task in one process, stepped by `threads`; other arguments as for `make`."""
    from rearrange.env import RearrangeVectorEnv

    config, simulator, own = _sorted(task, settings, ("homes", "starts", "threads"))
    return RearrangeVectorEnv(num_envs, task, config, split, simulator, **own)


def _sorted(
    task: str, settings: dict[str, Any], own: tuple[str, ...]
) -> tuple[Any, SimulatorConfig, dict[str, Any]]:
    """The task's config, the simulator's and what else there is; UserError for an unknown setting."""
    from rearrange.settings import sort_settings
    from rearrange.sim.config import SimulatorConfig
    from rearrange.tasks import default_config

    parts = [default_config(task), SimulatorConfig(camera_size=CAMERA_SIZE)]
    (config, simulator), rest = sort_settings(id_of(task), settings, parts, own)
    return config, simulator, rest
