"""Settings that know what they mean and what they are in habitat-lab v0.3.4.

A config is a dataclass whose fields are made by `setting` and `group`. Its values are ours; what they are
in HAB stands in the fields' metadata, as data: `rearrange.rules` builds HAB's configuration from it, and
docs/hab.md lists both.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from rearrange.errors import UserError

_KEY = "rearrange"
MOST = 1e9  # of any number: what is beyond is a slip
_KINDS: dict[str, tuple[Any, str]] = {  # of a setting: what may be given, and how that is called
    "bool": ((bool, np.bool_), "True or False"),
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
}


@dataclass(frozen=True)
class Setting:
    """What is known of a setting besides its value.

    Attributes:
        about: What it means, and its unit in brackets.
        hab: Its value in HAB: a number or a bool; None: HAB states none.
        note: What is to be said of HAB's value, or nothing.
        kept: Why HAB's rules keep our value although HAB has another, or nothing.
        hides: What failure our value hides or makes rarer, or nothing.
        low: Its least value, where it is a number.
        high: Its largest; infinite values make sense where the default or HAB's is.
    """

    about: str
    hab: Any
    note: str = ""
    kept: str = ""
    hides: str = ""
    low: float = 0.0
    high: float = MOST


def setting(default: Any, *, hab: Any, about: str, **more: Any) -> Any:
    """A field of a config with our default and HAB's value; `more` is the rest of Setting."""
    return field(default=default, metadata={_KEY: Setting(about, hab, **more)})


def group(make: Callable[[], Any], **hab: Any) -> Any:
    """A field that is a config itself.

    Args:
        make: Makes it with our values.
        hab: HAB's values that differ from those that its fields tell; None: not stated.
    """
    return field(default_factory=make, metadata={_KEY: hab})


def setting_of(config_field: dataclasses.Field[Any], hab: dict[str, Any] | None = None) -> Setting:
    """What is known of a field, with HAB's values of its group.

    Raises:
        TypeError: The field was not made by `setting`.
    """
    known = config_field.metadata.get(_KEY)
    if not isinstance(known, Setting):
        raise TypeError(f"{config_field.name}: make the field with rearrange.settings.setting")
    if hab is not None and config_field.name in hab:
        return dataclasses.replace(known, hab=hab[config_field.name])
    return known


def check_config(name: str, config: Any, kind: type[Any]) -> None:
    """Raise a UserError where that is no config of this type; `name` of what it is for."""
    if not isinstance(config, kind):
        found = type(config).__name__
        raise UserError(f"config of {name} must be of type {kind.__name__}, found {found}")


def check_ranges(config: Any, name: str) -> None:
    """Raise a UserError that names the first value of another type or out of its range, by a dotted key.

    Args:
        config: A dataclass; fields that `setting` and `group` did not make are passed over.
        name: Where it stands, such as "task"; nowhere in particular if empty.
    """
    for each in dataclasses.fields(config):
        known, value = each.metadata.get(_KEY), getattr(config, each.name)
        key = f"{name}.{each.name}" if name else each.name
        if isinstance(known, dict):
            check_ranges(value, key)
        elif isinstance(known, Setting):
            if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
                _check_range(key, value, each, known)
            _check_kind(key, value, str(each.type))


def _check_kind(key: str, value: Any, kind: str) -> None:
    given, allowed = _KINDS.get(kind, (object, ""))
    is_truth = isinstance(value, bool | np.bool_)
    if not isinstance(value, given) or (is_truth and given in (Integral, Real)):
        raise UserError(f"{key} must be {allowed}, found {' '.join(repr(value).split())}")


def _check_range(key: str, value: Any, each: dataclasses.Field[Any], known: Setting) -> None:
    endless = value == math.inf and math.inf in (each.default, known.hab)
    if not (known.low <= value <= known.high or endless):  # NaN, too
        allowed = f"from {known.low:g} to {known.high:g}"
        raise UserError(f"{key} must be {allowed}, found {value:g}")


def check_order(config: Any, low: str, high: str) -> None:
    """Raise a UserError where the least of something is above the most of it, in a task's config."""
    least, most = getattr(config, low), getattr(config, high)
    if least > most:
        raise UserError(f"task.{low} must be at most task.{high}={most:g}, found {least:g}")


def group_values(config_field: dataclasses.Field[Any]) -> dict[str, Any]:
    """HAB's own values of a field that is a config itself; see `group`.

    Raises:
        TypeError: The field was not made by `group`.
    """
    known = config_field.metadata.get(_KEY)
    if not isinstance(known, dict):
        raise TypeError(f"{config_field.name}: make the field with rearrange.settings.group")
    return known
