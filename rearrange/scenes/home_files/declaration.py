"""The YAML file of a home: what of its model is a receptacle, what opens, which objects there are.

What is wrong in it is a UserError of one line that names the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rearrange.declarations import (
    as_file,
    as_mapping,
    as_name,
    as_number,
    as_record,
    as_text,
    nearest,
    parse_yaml,
)
from rearrange.errors import UserError
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS, ObjectKind

KEYS = ("model", "name", "scale", "floor", "bounds", "receptacles", "parts", "objects")
PLACE_KEYS = ("at", "clearance")
TAKEN = re.compile(r"world|object_\d+")  # bodies of every home
PART_KEYS = ("joint", "handle", "shuts", "label", "kind", "tasks", "closed")


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
        objects: What each slot holds.
    """

    path: Path
    model: Path
    name: str
    scale: float
    floor: str
    bounds: tuple[float, float, float, float] | None
    receptacles: dict[str, PlaceWords]
    parts: dict[str, PartWords]
    objects: tuple[ObjectKind, ...]


def read_declaration(path: Path) -> Declaration:
    """Read the YAML file of a home; raises UserError."""
    raw = as_record(path, "", parse_yaml(path, "home"), KEYS, ("model", "receptacles", "parts"))
    model = as_file(path, "model", raw["model"])
    name = as_name(path, "name", raw.get("name", path.stem))
    receptacles = {
        as_name(path, "receptacles", key): _place(path, f"receptacles.{key}", value)
        for key, value in as_mapping(path, "receptacles", raw["receptacles"]).items()
    }
    parts = {
        as_name(path, "parts", key): _part(path, f"parts.{key}", value)
        for key, value in as_mapping(path, "parts", raw["parts"]).items()
    }
    _check_names(path, receptacles, parts)
    return Declaration(
        path=path,
        model=model,
        name=name,
        scale=_scale(path, raw.get("scale", 1.0)),
        floor=as_text(path, "floor", raw.get("floor", ""), empty=True),
        bounds=_bounds(path, raw.get("bounds")),
        receptacles=receptacles,
        parts=parts,
        objects=_objects(path, raw.get("objects")),
    )


def _check_names(
    path: Path, receptacles: Mapping[str, PlaceWords], parts: Mapping[str, PartWords]
) -> None:
    """Raise a UserError where names do not go together."""
    shut: dict[str, str] = {}
    for name, part in parts.items():
        if name in receptacles:
            raise UserError(f"{path}: parts.{name}: a receptacle has that name: rename one")
        if TAKEN.fullmatch(name):
            raise UserError(f"{path}: parts.{name}: a body of every home has that name: rename it")
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


def _scale(path: Path, value: Any) -> float:
    scale = as_number(path, "scale", value)
    if not 0.001 <= scale <= 1000.0:
        raise UserError(
            f"{path}: scale: a number from 0.001 to 1000 is expected, not {value!r:.60}"
        )
    return scale


def _place(path: Path, key: str, value: Any) -> PlaceWords:
    if isinstance(value, str):
        value = {"at": value}
    raw = as_record(path, key, value, PLACE_KEYS, ("at",))
    clearance = raw.get("clearance")
    if clearance is not None:
        clearance = as_number(path, f"{key}.clearance", clearance)
        if clearance <= 0.0:
            raise UserError(
                f"{path}: {key}.clearance: a height above 0 is expected [m], not {clearance:g}"
            )
    return PlaceWords(as_text(path, f"{key}.at", raw["at"]), clearance)


def _part(path: Path, key: str, value: Any) -> PartWords:
    raw = as_record(path, key, value, PART_KEYS, ("joint", "handle"))
    tasks = raw.get("tasks")
    if tasks is not None:
        if not isinstance(tasks, list):
            raise UserError(f"{path}: {key}.tasks: a list of names is expected, not {tasks!r:.60}")
        tasks = tuple(as_text(path, f"{key}.tasks", task) for task in tasks)
    kind, closed = raw.get("kind"), raw.get("closed")
    if kind not in (None, "", "drawer", "fridge"):
        raise UserError(f"{path}: {key}.kind: drawer or fridge, or '' for none, not {kind!r:.60}")
    return PartWords(
        joint=as_text(path, f"{key}.joint", raw["joint"]),
        handle=as_text(path, f"{key}.handle", raw["handle"]),
        shuts=as_text(path, f"{key}.shuts", raw.get("shuts", ""), empty=True),
        label=as_text(path, f"{key}.label", raw.get("label", ""), empty=True),
        kind=kind,
        tasks=tasks,
        closed=None if closed is None else as_number(path, f"{key}.closed", closed),
    )


def _bounds(path: Path, value: Any) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 4:
        raise UserError(
            f"{path}: bounds: x_min, y_min, x_max, y_max are expected, not {value!r:.60}"
        )
    x0, y0, x1, y1 = (as_number(path, "bounds", number) for number in value)
    if x0 >= x1 or y0 >= y1:
        raise UserError(
            f"{path}: bounds: x_min, y_min, x_max, y_max are expected, not {value!r:.60}"
        )
    return x0, y0, x1, y1


def _objects(path: Path, value: Any) -> tuple[ObjectKind, ...]:
    if isinstance(value, str):
        # By its name, since it reads models as homes do
        read = import_module("rearrange.scenes.object_files").read_objects
        return tuple(read(as_file(path, "objects", value).resolve()))
    kinds = SLOT_KINDS if value is None else value
    if not isinstance(kinds, list | tuple) or not kinds:
        raise UserError(
            f"{path}: objects: a list of kinds, or a YAML file of objects, is expected, not {value!r:.60}"
        )
    for kind in kinds:
        if not isinstance(kind, str) or kind not in OBJECT_KINDS:
            raise UserError(
                f"{path}: objects: no kind {kind!r:.60}: {nearest(str(kind), OBJECT_KINDS)}"
            )
    return tuple(OBJECT_KINDS[kind] for kind in kinds)
