"""Systems that `trainer.system=` may name: ways to collect experience.

Networks, buffers, the learner and the logs are the same for all. Each system is a file here of its
name, whose SYSTEM is a `Collector`; another package gives its own by an entry point of GROUP.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from ver.collect.collector import Collector
from ver.errors import UserError

GROUP = "ver.systems"  # of entry points; each names a Collector


@cache
def system_names() -> tuple[str, ...]:
    """Returns the names of all systems, ours first."""
    return tuple(dict.fromkeys([*_ours(), *_others()]))


def find_system(name: str) -> type[Collector]:
    """Returns the collector of a system; it is imported only now.

    Raises:
        UserError: If there is none of that name, or another package's cannot be loaded.
    """
    if name in _ours():
        return import_module(f"{__name__}.{name}").SYSTEM
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


def _ours() -> list[str]:
    return [module.name for module in iter_modules(__path__)]


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
