"""The YAML file of a set of objects: where each one's model is, what it weighs, how often it is there.

What is wrong in it is a UserError of one line that names the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rearrange.declarations import (
    as_file,
    as_mapping,
    as_name,
    as_number_within,
    as_numbers,
    as_record,
    parse_yaml,
)
from rearrange.errors import UserError
from rearrange.scenes.registry import CLASSIC, DEFAULT_HOMES, GENERATED

KEYS = ("name", "homes", "objects")
OBJECT_KEYS = ("model", "texture", "color", "mass", "count", "turn", "scale", "collision")
GIVEN, HULL, COACD = "given", "hull", "coacd"
COLLISIONS = (GIVEN, HULL, COACD)
MESH_FILES = (".obj", ".stl", ".msh")
COUNT = 3  # of each object
MOST = 60  # of all objects: each costs time in every step
MASSES, SCALES = (0.005, 5.0), (1e-4, 1e4)  # [kg], and factors


@dataclass(frozen=True)
class ObjectWords:
    """An object as the file has it.

    Attributes:
        model: MJCF, URDF or mesh file.
        texture: Picture for a mesh file; None: without.
        color: RGB in [0, 1] of all that is seen of it; None: the model's.
        mass: [kg]; None: the model's.
        count: How many there are.
        turn: About x, y and z, one after the other [deg].
        scale: By which lengths are multiplied.
        collision: What is solid: `given` by the model, one `hull`, or parts that `coacd` finds.
    """

    model: Path
    texture: Path | None
    color: tuple[float, ...] | None
    mass: float | None
    count: int
    turn: tuple[float, ...]
    scale: float
    collision: str


@dataclass(frozen=True)
class Declaration:
    """What a YAML file says of a set of objects; see docs/homes.md.

    Attributes:
        path: The file.
        name: Of the apartments with these objects, in episode files and figures.
        homes: Which of our apartments: `generated` or `classic`.
        objects: By name.
    """

    path: Path
    name: str
    homes: str
    objects: dict[str, ObjectWords]


def is_object_file(path: Path) -> bool:
    """Return whether a YAML file lists objects and is no home; UserError where it cannot be read."""
    raw = parse_yaml(path, "home")
    return isinstance(raw, dict) and "model" not in raw and isinstance(raw.get("objects"), dict)


def read_declaration(path: Path) -> Declaration:
    """Read the YAML file of a set of objects; raises UserError."""
    raw = as_record(path, "", parse_yaml(path, "set of objects"), KEYS, ("objects",))
    homes = raw.get("homes", DEFAULT_HOMES)
    if homes not in (GENERATED, CLASSIC):
        raise UserError(f"{path}: homes: {GENERATED} or {CLASSIC} is expected, not {homes!r:.60}")
    objects = {
        as_name(path, "objects", name): _object(path, f"objects.{name}", value)
        for name, value in as_mapping(path, "objects", raw["objects"]).items()
    }
    total = sum(each.count for each in objects.values())
    if total > MOST:
        raise UserError(f"{path}: objects: at most {MOST} in all are expected, found {total}")
    return Declaration(path, as_name(path, "name", raw.get("name", path.stem)), homes, objects)


def _object(path: Path, key: str, value: Any) -> ObjectWords:
    if isinstance(value, str):
        value = {"model": value}
    raw = as_record(path, key, value, OBJECT_KEYS, ("model",))
    model = as_file(path, f"{key}.model", raw["model"])
    texture = raw.get("texture")
    if texture is not None and model.suffix.lower() not in MESH_FILES:
        raise UserError(
            f"{path}: {key}.texture: of a mesh file ({', '.join(MESH_FILES)}) alone, a model has its own"
        )
    count, mass, color = raw.get("count", COUNT), raw.get("mass"), raw.get("color")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise UserError(
            f"{path}: {key}.count: a whole number from 1 to {MOST} is expected, not {count!r:.60}"
        )
    collision = raw.get("collision", GIVEN)
    if collision not in COLLISIONS:
        raise UserError(
            f"{path}: {key}.collision: one of {', '.join(COLLISIONS)} is expected, not {collision!r:.60}"
        )
    if color is not None:
        color = as_numbers(path, f"{key}.color", color, 3)
        if not all(0.0 <= each <= 1.0 for each in color):
            raise UserError(f"{path}: {key}.color: three numbers from 0 to 1 are expected")
    return ObjectWords(
        model=model,
        texture=None if texture is None else as_file(path, f"{key}.texture", texture),
        color=color,
        mass=None if mass is None else as_number_within(path, f"{key}.mass", mass, MASSES, "kg"),
        count=count,
        turn=as_numbers(path, f"{key}.turn", raw.get("turn", [0, 0, 0]), 3),
        scale=as_number_within(path, f"{key}.scale", raw.get("scale", 1.0), SCALES),
        collision=collision,
    )
