"""Systems that `trainer.system=` may name: ways to collect experience.

Networks, buffers, the learner and the logs are the same for all. The files here are found by
themselves: SYSTEMS in each has `Collector`s by name. Another package gives its own by an entry
point of GROUP.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

import torch

from ver.collect.collector import Collector
from ver.config import TrainerConfig
from ver.distributed import world_size
from ver.errors import UserError
from ver.ranges import check_ranges
from ver.trackers import find_tracker

_MEND = (
    "take system=batched or ddppo, or ver without overlap, with one inference process, device=cpu and "
    "no torchrun"
)
GROUP = "ver.systems"  # of entry points; each names a Collector


@cache
def system_names() -> tuple[str, ...]:
    """Returns the names of all systems, ours first."""
    return tuple(dict.fromkeys([*_ours(), *_others()]))


def find_system(name: str) -> type[Collector]:
    """Returns the collector of a system.

    Raises:
        UserError: If there is none of that name, or another package's cannot be loaded.
    """
    if name in _ours():
        return _ours()[name]
    others = _others()
    if name not in others:
        raise UserError(f"Unknown system '{name}'; valid: {', '.join(system_names())}.")
    try:
        return others[name].load()
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"System '{name}' cannot be loaded from {others[name].value}: {error}; mend or "
            "uninstall the package that has registered it."
        ) from None


def checked_system(config: TrainerConfig) -> type[Collector]:
    """Returns the system that settings name.

    Raises:
        UserError: If settings are out of range, contradict the system, or want a GPU or a tracker in vain.
    """
    check_ranges(config)
    system = find_system(config.system)
    system.check(config)
    reason = why_runs_differ(config)
    if config.deterministic and reason:
        raise UserError(f"deterministic=true cannot be had, as {reason}: {_MEND}.")
    if config.device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"device={config.device}, but torch finds no GPU; set device=cpu.")
    find_tracker(config.tracker)
    return system


def why_runs_differ(config: TrainerConfig) -> str:
    """Returns why two runs of checked settings differ in bits; empty where they do not."""
    if config.device != "cpu":
        return "a GPU sums in an order of its own"
    if world_size() > 1:
        return "processes other than the first begin new episodes when a run is resumed"
    return find_system(config.system).why_runs_differ(config)


@cache
def _ours() -> dict[str, type[Collector]]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = {name: system for module in modules for name, system in module.SYSTEMS.items()}
    return dict(sorted(found.items()))


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
