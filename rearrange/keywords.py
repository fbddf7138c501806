"""Keywords that set something by its name, checked: those of `gymnasium.make`.

`Setting`s know their ranges themselves (rearrange.settings). What is checked here is the name and the type.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np

from rearrange.errors import UserError

LARGEST = 2**63  # of whole numbers
KINDS = {  # of a setting: what may be given, and how that is called
    bool: ((bool, np.bool_), "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "text"),
}


def changed(what: str, parts: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    """Dataclasses with some of their values changed.

    Args:
        what: Is set, for errors.
        parts: The dataclasses.
        keywords: Names of fields, and their values. A field that is a dataclass itself takes a mapping of what
            differs, or what differs is named with a dot: {"force.penalty": 0.1}.

    Raises:
        UserError: There is no such field, or a value is of another type.
    """
    result = list(parts)
    for key, value in keywords.items():
        for index, part in enumerate(result):
            if key.partition(".")[0] in names_of(part):
                result[index] = _with(part, key, value, Place(what, tuple(parts)))
                break
        else:
            Place(what, tuple(parts)).refuse_name(key)
    return result


def names_of(config: Any) -> list[str]:
    """Names of a dataclass's fields."""
    return [each.name for each in dataclasses.fields(config)]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a keyword may stand.

    Attributes:
        what: Is set, for errors.
        parts: Dataclasses that have all that can be set.
        prefix: Of the group that is being set, with its dot.
    """

    what: str
    parts: tuple[Any, ...]
    prefix: str = ""

    def refuse_name(self, name: str) -> NoReturn:
        """Raise a UserError for a name that there is not."""
        known = [key for part in self.parts for key in _dotted(part)]
        near = difflib.get_close_matches(f"{self.prefix}{name}", known, 1)
        there = sorted(key for key in known if "." not in key)
        hint = f": did you mean {near[0]}?" if near else f"; there are {', '.join(there)}"
        raise UserError(f"unknown setting '{self.prefix}{name}' of {self.what}{hint}")

    def refuse_value(self, name: str, allowed: str, value: Any) -> NoReturn:
        """Raise a UserError for a value of another type."""
        told = " ".join(repr(value).split())
        raise UserError(f"{self.prefix}{name} must be {allowed}, found {told}")


def _dotted(config: Any) -> Iterator[str]:
    """All names that can be set, those in groups with their dots."""
    for name in names_of(config):
        yield name
        value = getattr(config, name)
        if dataclasses.is_dataclass(value):
            yield from (f"{name}.{inner}" for inner in _dotted(value))


def _with(config: Any, key: str, value: Any, place: Place) -> Any:
    """A dataclass with one value changed; `key` may have dots."""
    name, _, rest = key.partition(".")
    old = getattr(config, name) if name in names_of(config) else None
    is_group = dataclasses.is_dataclass(old)
    if name not in names_of(config) or (rest and not is_group):
        place.refuse_name(key)
    if not is_group:
        return dataclasses.replace(config, **{name: _typed(config, name, value, place)})
    inner = {rest: value} if rest else value
    if isinstance(inner, type(old)):
        inner = {each: getattr(inner, each) for each in names_of(inner)}
    if not isinstance(inner, Mapping):
        place.refuse_value(name, f"a mapping with any of {', '.join(names_of(old))}", value)
    within = dataclasses.replace(place, prefix=f"{place.prefix}{name}.")
    for each, given in inner.items():
        old = _with(old, str(each), given, within)
    return dataclasses.replace(config, **{name: old})


def _typed(config: Any, name: str, value: Any, place: Place) -> Any:
    """A value as a plain one of its field's type."""
    kind, optional = _type_of(type(config), name)
    if optional and value is None:
        return None
    if kind is list:
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return list(value)
        place.refuse_value(name, "a list of texts", value)
    if kind not in KINDS:
        return value
    given, allowed = KINDS[kind]
    allowed += " or None" if optional else ""
    if not isinstance(value, given) or (kind is not bool and isinstance(value, bool | np.bool_)):
        place.refuse_value(name, allowed, value)
    if kind is str and not value.isprintable():
        place.refuse_value(name, f"{allowed} in one line", value)
    if isinstance(value, Integral) and abs(int(value)) >= LARGEST:
        place.refuse_value(name, f"{allowed}, below 2**63", value)
    return kind(value)


@lru_cache
def _type_of(config: type[Any], name: str) -> tuple[Any, bool]:
    """Type of a field, and whether it may be None."""
    hint = get_type_hints(config)[name]
    if get_origin(hint) not in (Union, UnionType):
        return get_origin(hint) or hint, False
    kinds = [each for each in get_args(hint) if each is not NoneType]
    return get_origin(kinds[0]) or kinds[0], NoneType in get_args(hint)
