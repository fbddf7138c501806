"""YAML files that say what is what in a model: what their values must be.

What is wrong is a UserError of one line, which names file, key, value and what is allowed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import yaml

from rearrange.errors import UserError

FILE_ENDINGS = (".yaml", ".yml")  # of a path that stands in place of a name
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")


class FilesError(UserError):
    """Files that do not go together: the first fault, in one line.

    Attributes:
        CHECK: Command that tells all of them.
        faults: All of them.
    """

    CHECK: ClassVar[str]

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        """From at least one fault."""
        more = f" ({len(faults) - 1} more: {self.CHECK} {path})" if len(faults) > 1 else ""
        super().__init__(f"{path}: {faults[0]}{more}")
        self.faults = tuple(faults)


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping: the first would be lost without a word."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Compose as a SafeLoader does; raises YAMLError."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key.value, str) and key.value in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"line {line}: '{key.value}' stands twice: take one out")
            seen.add(key.value if isinstance(key.value, str) else id(key))
        return node


def parse_yaml(path: Path, what: str) -> Any:
    """The values of a file of a home or a robot; UserError where it cannot be read or is no YAML."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UserError(
            f"{path}: {error.strerror or error}: name the YAML file of a {what}"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that is none, say
        raise UserError(f"{path}: no YAML: {' '.join(str(error).split())[:200]}") from None


def nearest(name: str, there: Iterable[str]) -> str:
    """The names that may be meant, or all, in words."""
    names = list(there)
    near = difflib.get_close_matches(name, names, 3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {', '.join(names[:12]) or 'none'}{' ...' if len(names) > 12 else ''}"


def as_record(
    path: Path, key: str, value: Any, known: tuple[str, ...], needed: tuple[str, ...]
) -> dict[str, Any]:
    """A record: names with values, all of them known, those that are needed among them."""
    found = as_mapping(path, key, value)
    at = f"{key}." if key else ""
    for name in found:
        if name not in known:
            raise UserError(f"{path}: {at}{name}: unknown key: {', '.join(known)} are known")
    for name in needed:
        if name not in found:
            raise UserError(f"{path}: {at}{name} is missing")
    return found


def as_mapping(path: Path, key: str, value: Any) -> dict[str, Any]:
    """Names with values, and of a key at least one."""
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise UserError(
            f"{path}: {key or 'the file'}: names with values are expected, not {value!r:.60}"
        )
    if key and not value:
        raise UserError(f"{path}: {key}: at least one is needed")
    return value


def as_text(path: Path, key: str, value: Any, empty: bool = False) -> str:
    """A text, which may not be empty."""
    if not isinstance(value, str) or not (value or empty):
        raise UserError(f"{path}: {key}: a name is expected, not {value!r:.60}")
    return value


def as_name(path: Path, key: str, value: Any) -> str:
    """A name of letters, digits, _ and -."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise UserError(
            f"{path}: {key}: a name of letters, digits, _ and - that begins with a letter is expected, "
            f"not {value!r:.60}"
        )
    return value


def as_number(path: Path, key: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise UserError(f"{path}: {key}: a number is expected, not {value!r:.60}")
    return float(value)


def as_number_within(
    path: Path, key: str, value: Any, ends: tuple[float, float], unit: str = ""
) -> float:
    """A number from the first to the second of these ends."""
    number = as_number(path, key, value)
    if not ends[0] <= number <= ends[1]:
        allowed = f"{ends[0]:g} to {ends[1]:g}{unit and f' {unit}'}"
        raise UserError(f"{path}: {key}: a number from {allowed} is expected, not {value!r:.60}")
    return number


def as_numbers(path: Path, key: str, value: Any, count: int) -> tuple[float, ...]:
    """So many finite numbers."""
    if not isinstance(value, list) or len(value) != count:
        raise UserError(f"{path}: {key}: {count} numbers are expected, not {value!r:.60}")
    return tuple(as_number(path, key, each) for each in value)


def as_file(path: Path, key: str, value: Any) -> Path:
    """A file that is there: named from the YAML file's folder, or `PACKAGE:path` in an installed package."""
    words = as_text(path, key, value)
    package, colon, inside = words.partition(":")
    file = path.parent / words
    if colon and package.isidentifier():
        found = find_spec(package)
        folders = None if found is None else found.submodule_search_locations
        if not folders:
            raise UserError(
                f"{path}: {key}: no package {package} is installed: pip install --no-deps {package}"
            )
        file = Path(folders[0]) / inside
    if not file.is_file():
        raise UserError(f"{path}: {key}: there is no file {file}")
    return file
