"""Settings that know what they mean and what they are in habitat-lab v0.3.4.

A config is a dataclass whose fields are made by `setting` and `group`. Its values are ours; what they are
in HAB stands in the fields' metadata, as data: `rearrange.rules` builds HAB's configuration from it, and
docs/hab.md lists both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_KEY = "rearrange"


@dataclass(frozen=True)
class Setting:
    """What is known of a setting besides its value.

    Attributes:
        about: What it means, and its unit in brackets.
        hab: Its value in HAB: a number or a bool; None: HAB states none.
        hab_judged: HAB's value where a policy is judged, if that is another; else None.
        note: What is to be said of HAB's value, or nothing.
        kept: Why HAB's rules keep our value although HAB has another, or nothing.
        hides: What failure our value hides or makes rarer, or nothing.
    """

    about: str
    hab: Any
    hab_judged: Any = None
    note: str = ""
    kept: str = ""
    hides: str = ""


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


def group_values(config_field: dataclasses.Field[Any]) -> dict[str, Any]:
    """HAB's own values of a field that is a config itself; see `group`.

    Raises:
        TypeError: The field was not made by `group`.
    """
    known = config_field.metadata.get(_KEY)
    if not isinstance(known, dict):
        raise TypeError(f"{config_field.name}: make the field with rearrange.settings.group")
    return known
