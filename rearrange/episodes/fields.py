"""Checks of values that came from a file; what is wrong is said in one line."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import le
from typing import Any, NoReturn

from rearrange.errors import UserError

Range = tuple[float, float]  # least and greatest value
LONGEST_NAME = 50  # letters
_NUMBER = {int, float}  # and not bool, which is an int elsewhere


@dataclass(frozen=True)
class Limits:
    """Least and greatest values of a list of numbers; kept apart, which makes checking fast."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, *ranges: Range) -> Limits:
        """From one range per number."""
        low, high = zip(*ranges, strict=True)
        return cls(low, high)


class FieldChecker:
    """Checks the fields of one part of a file; every method returns the value or raises UserError."""

    def __init__(self, where: str) -> None:
        """Remember what errors begin with, e.g. "val.json.gz: episode 'val/3'"."""
        self.where = where

    def fail(self, field: str, expected: str, found: Any) -> NoReturn:
        """Raise: a field holds something else than expected."""
        told = " ".join(reprlib.repr(found).split())  # arrays have several lines
        raise UserError(f"{self.where}: {field}: expected {expected}, found {told}")

    def record(
        self, field: str, value: Any, names: Collection[str], optional: Collection[str] = ()
    ) -> dict[str, Any]:
        """A JSON object with exactly these fields, and perhaps optional ones."""
        if not isinstance(value, dict):
            self.fail(field, "an object with fields", value)
        if value.keys() != set(names):
            missing = sorted(set(names) - value.keys())
            if missing:
                self.fail(field, f"a field '{missing[0]}'", sorted(value))
            unknown = sorted(value.keys() - {*names, *optional})
            if unknown:
                self.fail(field, f"only the fields {', '.join([*names, *optional])}", unknown)
        return value

    def rows(self, field: str, value: Any, low: int, high: int) -> list[Any]:
        """A list of that many entries."""
        if not isinstance(value, list) or not low <= len(value) <= high:
            self.fail(field, f"a list of {low} to {high} entries", value)
        return value

    def integer(self, field: str, value: Any, high: int) -> int:
        """A whole number from 0 to the highest."""
        if type(value) is not int or not 0 <= value <= high:
            self.fail(field, f"a whole number from 0 to {high}", value)
        return value

    def numbers(self, field: str, value: Any, limits: Limits) -> tuple[float, ...]:
        """A list of finite numbers, each within its limits."""
        low, high = limits.low, limits.high
        if not isinstance(value, list) or len(value) != len(low):
            self.fail(field, f"a list of {len(low)} numbers", value)
        right = set(map(type, value)) <= _NUMBER
        # NaN fails every comparison.
        if right and all(map(le, low, value)) and all(map(le, value, high)):
            return tuple(map(float, value))
        for index, number in enumerate(value):
            self.number(f"{field}[{index}]", number, (low[index], high[index]))
        raise AssertionError("the slow check must find what the fast one found")

    def number(self, field: str, value: Any, limits: Range) -> float:
        """A finite number within limits."""
        low, high = limits
        if type(value) not in _NUMBER or not low <= value <= high:
            self.fail(field, f"a number from {low:g} to {high:g}", value)
        return float(value)

    def text(self, field: str, value: Any, longest: int) -> str:
        """A printable string that is not empty and not too long."""
        if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
            self.fail(field, f"1 to {longest} printable characters", value)
        return value

    def name(self, field: str, value: Any) -> str:
        """A name as of a task or robot: letters, digits, _ and -."""
        right = isinstance(value, str) and value.replace("-", "_").isidentifier()
        if not right or len(value) > LONGEST_NAME:
            self.fail(field, f"a name of at most {LONGEST_NAME} letters, digits, _ and -", value)
        return value

    def choice(self, field: str, value: Any, choices: Sequence[str]) -> str:
        """One of some names."""
        if not isinstance(value, str) or value not in choices:
            self.fail(field, f"one of {', '.join(choices)}", value)
        return value
