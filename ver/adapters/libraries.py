"""Worlds of other libraries by name, such as `mjlab:TASK`, `brax:NAME`: stepped together, by system=batched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

from ver.adapters.arrays import AnyEnvironment, any_environment
from ver.adapters.brax_worlds import BraxWorlds
from ver.adapters.envpool_worlds import EnvpoolWorlds
from ver.adapters.mjlab_worlds import MjlabWorlds
from ver.errors import UserError

LIBRARIES: dict[str, type[BraxWorlds] | type[EnvpoolWorlds] | type[MjlabWorlds]] = {
    "brax": BraxWorlds,
    "envpool": EnvpoolWorlds,
    "mjlab": MjlabWorlds,
}
OPTIONS = "options"  # attribute of worlds whose library itself says what an environment takes
# Packages that stand on this one, imported when they are asked for: module, and what finds the class of a name
BESIDE = {"locomotion": ("locomotion.tasks", "kind_of")}
_KINDS = {"int": "a whole number", "float": "a number", "str": "a word"}


def named_environment(
    make_env: Any, arguments: Mapping[str, Any] | None = None, device: str = "cpu"
) -> Any:
    """Returns what makes environments, or worlds of a library that are stepped together.

    Args:
        make_env: LIBRARY:NAME, of LIBRARIES; or as for `any_environment`.
        arguments: What a named one takes.
        device: Where worlds are simulated whose library asks for that.

    Raises:
        UserError: The library's worlds take no such arguments.
    """
    library, name = _split(make_env)
    if not library:
        return AnyEnvironment(make_env, dict(arguments)) if arguments else any_environment(make_env)
    kind, arguments = _kind(library, name), dict(arguments or {})
    taken = {each.name: str(each.type) for each in fields(kind)[1:] if each.type in _KINDS}
    own: dict[str, Any] = {"device": device} if taken.pop("device", None) else {}
    if any(each.name == OPTIONS for each in fields(kind)):
        own[OPTIONS] = {key: arguments.pop(key) for key in [*arguments] if key not in taken}
    given = {key: _checked(library, taken, key, value) for key, value in arguments.items()}
    return kind(name, **own, **given)


def own_settings(make_env: Any, count: int = 0) -> list[str]:
    """Returns the settings of the learner, `key=value`, that come with worlds; most have none.

    Args:
        make_env: As for `named_environment`.
        count: How many worlds; 0 leaves that to them.
    """
    library, name = _split(make_env)
    kind: Any = _kind(library, name) if library else None
    return kind(name).settings(count) if hasattr(kind, "settings") else []


def _split(make_env: Any) -> tuple[str, str]:
    """Library and name of LIBRARY:NAME; empty for all else."""
    library, _, name = make_env.partition(":") if isinstance(make_env, str) else ("", "", "")
    return (library, name) if name and library in (*LIBRARIES, *BESIDE) else ("", "")


def _kind(library: str, name: str) -> Any:
    """Returns what makes the worlds of a library that have that name."""
    if library in LIBRARIES:
        return LIBRARIES[library]
    module, finds = BESIDE[library]
    return getattr(import_module(module), finds)(name)


def _checked(library: str, taken: Mapping[str, str], key: str, value: Any) -> Any:
    """Returns a value that worlds take; of a whole number a float where that is wanted."""
    if key not in taken:
        known = ", ".join(f"env.{each}" for each in taken)
        raise UserError(f"unknown key 'env.{key}': {library} takes {known}")
    wanted = taken[key]
    if wanted == "float" and type(value) is int:
        value = float(value)
    if type(value).__name__ != wanted:
        raise UserError(f"env.{key} must be {_KINDS[wanted]}, found {value}")
    return value
