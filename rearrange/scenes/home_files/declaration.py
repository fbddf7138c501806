"""The YAML file of a home: what of its model is a receptacle, what opens, which objects there are.

What is wrong in it is a UserError of one line that names the key.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rearrange.errors import UserError
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS

KEYS = ("model", "name", "scale", "floor", "bounds", "receptacles", "parts", "objects")
PLACE_KEYS = ("at", "clearance")
PART_KEYS = ("joint", "handle", "shuts", "label", "kind", "tasks", "closed")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")


@dataclass(frozen=True)
class PlaceWords:
    """A receptacle as the file has it.

    Attributes:
        at: Geom, body or site.
        clearance: Free height above it [m]; None: measured.
    """

    at: str
    clearance: float | None = None


@dataclass(frozen=True)
class PartWords:
    """A part that opens as the file has it.

    Attributes:
        joint: Of the model.
        handle: Geom or site that moves with it.
        shuts: Name of a receptacle, or "".
        label: For people.
        kind: Its type in plans; None: by its joint.
        tasks: Which ask for it; None: by its joint.
        closed: Value of the joint; None: the end of its range at which the model stands.
    """

    joint: str
    handle: str
    shuts: str = ""
    label: str = ""
    kind: str | None = None
    tasks: tuple[str, ...] | None = None
    closed: float | None = None


@dataclass(frozen=True)
class Declaration:
    """What a YAML file says of a home; see docs/homes.md.

    Attributes:
        path: The file.
        model: The MJCF file.
        name: Of the collection of homes, in words that files and figures are named by.
        scale: By which the model's lengths are multiplied.
        floor: Geom or site on which the robot drives; "": the model's plane, or z = 0.
        bounds: x_min, y_min, x_max, y_max in the model, before it is scaled; None: measured.
        receptacles: By name.
        parts: By name.
        objects: Kind of each slot.
    """

    path: Path
    model: Path
    name: str
    scale: float
    floor: str
    bounds: tuple[float, float, float, float] | None
    receptacles: dict[str, PlaceWords]
    parts: dict[str, PartWords]
    objects: tuple[str, ...]


def read_declaration(path: Path) -> Declaration:
    """Read the YAML file of a home; raises UserError."""
    raw = _record(path, "", _parse(path), KEYS, ("model", "receptacles", "parts"))
    model = path.parent / _text(path, "model", raw["model"])
    if not model.is_file():
        raise UserError(f"{path}: model: there is no file {model}")
    name = _name(path, "name", raw.get("name", path.stem))
    receptacles = {
        _name(path, "receptacles", key): _place(path, f"receptacles.{key}", value)
        for key, value in _mapping(path, "receptacles", raw["receptacles"]).items()
    }
    parts = {
        _name(path, "parts", key): _part(path, f"parts.{key}", value)
        for key, value in _mapping(path, "parts", raw["parts"]).items()
    }
    _check_names(path, receptacles, parts)
    return Declaration(
        path=path,
        model=model,
        name=name,
        scale=_scale(path, raw.get("scale", 1.0)),
        floor=_text(path, "floor", raw.get("floor", ""), empty=True),
        bounds=_bounds(path, raw.get("bounds")),
        receptacles=receptacles,
        parts=parts,
        objects=_objects(path, raw.get("objects")),
    )


def _parse(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"{path}: {error.strerror or error}: name the YAML file of a home"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path}: no YAML: {' '.join(str(error).split())[:200]}") from None


def _check_names(
    path: Path, receptacles: Mapping[str, PlaceWords], parts: Mapping[str, PartWords]
) -> None:
    """Raise a UserError where names do not go together."""
    shut: dict[str, str] = {}
    for name, part in parts.items():
        if name in receptacles:
            raise UserError(f"{path}: parts.{name}: a receptacle has that name: rename one")
        if not part.shuts:
            continue
        if part.shuts not in receptacles:
            there = nearest(part.shuts, receptacles)
            raise UserError(f"{path}: parts.{name}.shuts: no receptacle '{part.shuts}': {there}")
        if part.shuts in shut:
            raise UserError(
                f"{path}: parts.{name}.shuts: {shut[part.shuts]} shuts {part.shuts} already"
            )
        shut[part.shuts] = name
    if len(shut) == len(receptacles):
        raise UserError(
            f"{path}: receptacles: at least one that no part shuts is needed, such as a table"
        )


def nearest(name: str, there: Iterable[str]) -> str:
    """The names that may be meant, or all, in words."""
    names = list(there)
    near = difflib.get_close_matches(name, names, 3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {', '.join(names[:12]) or 'none'}{' ...' if len(names) > 12 else ''}"


def _record(
    path: Path, key: str, value: Any, known: tuple[str, ...], needed: tuple[str, ...]
) -> dict[str, Any]:
    found = _mapping(path, key, value)
    at = f"{key}." if key else ""
    for name in found:
        if name not in known:
            raise UserError(f"{path}: {at}{name}: unknown key: {', '.join(known)} are known")
    for name in needed:
        if name not in found:
            raise UserError(f"{path}: {at}{name} is missing")
    return found


def _mapping(path: Path, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise UserError(
            f"{path}: {key or 'the file'}: names with values are expected, not {value!r:.60}"
        )
    if key and not value:
        raise UserError(f"{path}: {key}: at least one is needed")
    return value


def _text(path: Path, key: str, value: Any, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise UserError(f"{path}: {key}: a name is expected, not {value!r:.60}")
    return value


def _name(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise UserError(
            f"{path}: {key}: a name of letters, digits, _ and - that begins with a letter is expected, "
            f"not {value!r:.60}"
        )
    return value


def _number(path: Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise UserError(f"{path}: {key}: a number is expected, not {value!r:.60}")
    return float(value)


def _scale(path: Path, value: Any) -> float:
    scale = _number(path, "scale", value)
    if not 0.001 <= scale <= 1000.0:
        raise UserError(
            f"{path}: scale: a number from 0.001 to 1000 is expected, not {value!r:.60}"
        )
    return scale


def _place(path: Path, key: str, value: Any) -> PlaceWords:
    if isinstance(value, str):
        value = {"at": value}
    raw = _record(path, key, value, PLACE_KEYS, ("at",))
    clearance = raw.get("clearance")
    if clearance is not None:
        clearance = _number(path, f"{key}.clearance", clearance)
    return PlaceWords(_text(path, f"{key}.at", raw["at"]), clearance)


def _part(path: Path, key: str, value: Any) -> PartWords:
    raw = _record(path, key, value, PART_KEYS, ("joint", "handle"))
    tasks = raw.get("tasks")
    if tasks is not None:
        if not isinstance(tasks, list):
            raise UserError(f"{path}: {key}.tasks: a list of names is expected, not {tasks!r:.60}")
        tasks = tuple(_text(path, f"{key}.tasks", task) for task in tasks)
    kind, closed = raw.get("kind"), raw.get("closed")
    if kind not in (None, "", "drawer", "fridge"):
        raise UserError(f"{path}: {key}.kind: drawer or fridge, or '' for none, not {kind!r:.60}")
    return PartWords(
        joint=_text(path, f"{key}.joint", raw["joint"]),
        handle=_text(path, f"{key}.handle", raw["handle"]),
        shuts=_text(path, f"{key}.shuts", raw.get("shuts", ""), empty=True),
        label=_text(path, f"{key}.label", raw.get("label", ""), empty=True),
        kind=kind,
        tasks=tasks,
        closed=None if closed is None else _number(path, f"{key}.closed", closed),
    )


def _bounds(path: Path, value: Any) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 4:
        raise UserError(
            f"{path}: bounds: x_min, y_min, x_max, y_max are expected, not {value!r:.60}"
        )
    x0, y0, x1, y1 = (_number(path, "bounds", number) for number in value)
    if x0 >= x1 or y0 >= y1:
        raise UserError(
            f"{path}: bounds: x_min, y_min, x_max, y_max are expected, not {value!r:.60}"
        )
    return x0, y0, x1, y1


def _objects(path: Path, value: Any) -> tuple[str, ...]:
    if value is None:
        return SLOT_KINDS
    if not isinstance(value, list) or not value:
        raise UserError(f"{path}: objects: a list of kinds is expected, not {value!r:.60}")
    for kind in value:
        if kind not in OBJECT_KINDS:
            raise UserError(
                f"{path}: objects: no kind {kind!r:.60}: {nearest(str(kind), OBJECT_KINDS)}"
            )
    return tuple(value)
