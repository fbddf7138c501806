"""The YAML file of a robot: what of its model is the arm, the hand and the base; docs/robots.md.

What is wrong in it is a UserError of one line that names the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rearrange.declarations import (
    as_file,
    as_mapping,
    as_name,
    as_number,
    as_number_within,
    as_numbers,
    as_record,
    as_text,
    parse_yaml,
)
from rearrange.errors import UserError
from rearrange.robot.spec import WIDEST_BASE

KEYS = (
    "model", "name", "hand", "arm", "without", "locked", "base", "cup", "camera", "resting_arm",
    "resting_tip", "motors", "slides", "reach", "postures", "meshes",
)  # fmt: skip
BASE_KEYS = ("radius", "height", "body", "place", "turn", "drive_force", "turn_torque")
CUP_KEYS = ("at", "along", "length", "radius")
CAMERA_KEYS = ("at", "target", "field_of_view")
MOTOR_KEYS = ("effort", "gain", "armature")
REACH_KEYS = ("ahead", "aside", "standing", "trunk_radius", "arm_radius")
HEIGHTS = (0.05, 2.0)  # of a base of ours [m]
CUP_LENGTHS, CUP_RADII = (0.02, 0.5), (0.005, 0.1)  # [m]
DIRECTIONS = {
    sign + axis: tuple((-1.0 if sign == "-" else 1.0) * (axis == each) for each in "xyz")
    for sign in ("", "+", "-")
    for axis in "xyz"
}
Vector = tuple[float, ...]


@dataclass(frozen=True)
class BaseWords:
    """The base as the file has it.

    Attributes:
        radius: Of the disc that has to be free [m].
        height: Of a cylinder that stands there in place of a base of the model [m]; None: none does.
        body: Of the model, whose frame stands at `place`; "": the model's world.
        place: Base frame [m].
        turn: About the vertical [deg].
        drive_force: What it can push with [N].
        turn_torque: Likewise [N m].
    """

    radius: float
    height: float | None
    body: str
    place: Vector
    turn: float
    drive_force: float
    turn_torque: float


@dataclass(frozen=True)
class CupWords:
    """The suction cup as the file has it.

    Attributes:
        at: Its foot in the hand's frame [m], or the name of a site.
        along: Direction in which it looks, in the frame of the hand or the site.
        length: [m].
        radius: [m].
    """

    at: Vector | str
    along: Vector
    length: float
    radius: float


@dataclass(frozen=True)
class CameraWords:
    """The camera as the file has it: base frame [m], [deg]."""

    at: Vector
    target: Vector
    field_of_view: float


@dataclass(frozen=True)
class Declaration:
    """What a YAML file says of a robot; see docs/robots.md.

    Attributes:
        path: The file.
        model: The MJCF or URDF file.
        name: Of the robot.
        hand: The body on which the cup is.
        arm: Joints of the arm; none: all between base and hand.
        without: Bodies that are left out with what hangs on them.
        locked: Values of joints that do not move, in the model's units.
        base: The base.
        cup: The suction cup.
        camera: The camera.
        resting_arm: Values of the arm's joints in the model's units; None: found for `resting_tip`.
        resting_tip: Base frame [m]; None: it follows from `resting_arm`.
        motors: Of joints, what differs from the model's actuators.
        slides: Of slides, how far each goes while a hinge turns by one radian [m].
        reach: What differs from what is worked out.
        postures: Values of the arm's joints; None: worked out.
        meshes: Whether meshes are shown, and not what collides in their place.
    """

    path: Path
    model: Path
    name: str
    hand: str
    arm: tuple[str, ...]
    without: tuple[str, ...]
    locked: dict[str, float]
    base: BaseWords
    cup: CupWords
    camera: CameraWords
    resting_arm: Vector | None
    resting_tip: Vector | None
    motors: dict[str, dict[str, float]]
    slides: dict[str, float]
    reach: dict[str, float]
    postures: tuple[Vector, ...] | None
    meshes: bool


def read_declaration(path: Path) -> Declaration:
    """Read the YAML file of a robot; raises UserError."""
    raw = as_record(path, "", parse_yaml(path, "robot"), KEYS, ("model", "hand", "base", "camera"))
    model = as_file(path, "model", raw["model"])
    resting_arm, tip = raw.get("resting_arm"), raw.get("resting_tip")
    if (resting_arm is None) == (tip is None):
        raise UserError(f"{path}: resting_arm or resting_tip: one of them is expected")
    postures = raw.get("postures")
    return Declaration(
        path=path,
        model=model,
        name=as_name(path, "name", raw.get("name", path.stem)),
        hand=as_text(path, "hand", raw["hand"]),
        arm=_names(path, "arm", raw.get("arm", [])),
        without=_names(path, "without", raw.get("without", [])),
        locked=_each(path, "locked", raw.get("locked"), as_number),
        base=_base(path, raw["base"]),
        cup=_cup(path, raw.get("cup")),
        camera=_camera(path, raw["camera"]),
        resting_arm=None if resting_arm is None else _values(path, "resting_arm", resting_arm),
        resting_tip=None if tip is None else as_numbers(path, "resting_tip", tip, 3),
        motors=_each(path, "motors", raw.get("motors"), _motor),
        slides=_each(path, "slides", raw.get("slides"), _positive),
        reach=_numbers_of(path, "reach", raw.get("reach", {}), REACH_KEYS),
        postures=None if postures is None else _postures(path, postures),
        meshes=_meshes(path, raw.get("meshes", True)),
    )


def _positive(path: Path, key: str, value: Any) -> float:
    number = as_number(path, key, value)
    if number <= 0.0:
        raise UserError(f"{path}: {key}: a number above 0 is expected, not {value!r:.60}")
    return number


Value = TypeVar("Value")


def _each(
    path: Path, key: str, value: Any, read: Callable[[Path, str, Any], Value]
) -> dict[str, Value]:
    found: Mapping[str, Any] = {} if value is None else as_mapping(path, key, value)
    return {name: read(path, f"{key}.{name}", each) for name, each in found.items()}


def _names(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UserError(f"{path}: {key}: a list of names is expected, not {value!r:.60}")
    return tuple(as_text(path, key, each) for each in value)


def _values(path: Path, key: str, value: Any) -> Vector:
    if not isinstance(value, list) or not value:
        raise UserError(f"{path}: {key}: a list of numbers is expected, not {value!r:.60}")
    return tuple(as_number(path, key, each) for each in value)


def _postures(path: Path, value: Any) -> tuple[Vector, ...]:
    if not isinstance(value, list):
        raise UserError(f"{path}: postures: a list of postures is expected, not {value!r:.60}")
    return tuple(_values(path, f"postures[{k}]", each) for k, each in enumerate(value))


def _numbers_of(path: Path, key: str, value: Any, known: tuple[str, ...]) -> dict[str, float]:
    if value == {}:
        return {}
    raw = as_record(path, key, value, known, ())
    return {name: _positive(path, f"{key}.{name}", each) for name, each in raw.items()}


def _motor(path: Path, key: str, value: Any) -> dict[str, float]:
    return _numbers_of(path, key, value, MOTOR_KEYS)


def _base(path: Path, value: Any) -> BaseWords:
    raw = as_record(path, "base", value, BASE_KEYS, ("radius",))
    radius = _positive(path, "base.radius", raw["radius"])
    if radius > WIDEST_BASE:
        raise UserError(
            f"{path}: base.radius: at most {WIDEST_BASE:g} m is expected, to which homes leave room, "
            f"not {radius:g}"
        )
    height, force = (
        raw.get("height"),
        _positive(path, "base.drive_force", raw.get("drive_force", 250.0)),
    )
    return BaseWords(
        radius=radius,
        height=None
        if height is None
        else as_number_within(path, "base.height", height, HEIGHTS, "m"),
        body=as_text(path, "base.body", raw.get("body", ""), empty=True),
        place=as_numbers(path, "base.place", raw.get("place", [0.0, 0.0, 0.0]), 3),
        turn=as_number(path, "base.turn", raw.get("turn", 0.0)),
        drive_force=force,
        # Of two wheels at two thirds of the radius
        turn_torque=_positive(
            path, "base.turn_torque", raw.get("turn_torque", force * radius / 1.5)
        ),
    )


def _cup(path: Path, value: Any) -> CupWords:
    raw = {} if value is None else as_record(path, "cup", value, CUP_KEYS, ())
    at, along = raw.get("at", [0.0, 0.0, 0.0]), str(raw.get("along", "z"))
    if along not in DIRECTIONS:
        raise UserError(
            f"{path}: cup.along: one of x, y, z, -x, -y, -z is expected, not {along!r:.60}"
        )
    return CupWords(
        at=at if isinstance(at, str) else as_numbers(path, "cup.at", at, 3),
        along=DIRECTIONS[along],
        length=as_number_within(path, "cup.length", raw.get("length", 0.08), CUP_LENGTHS, "m"),
        radius=as_number_within(path, "cup.radius", raw.get("radius", 0.025), CUP_RADII, "m"),
    )


def _camera(path: Path, value: Any) -> CameraWords:
    raw = as_record(path, "camera", value, CAMERA_KEYS, ("at", "target"))
    field_of_view = as_number(path, "camera.field_of_view", raw.get("field_of_view", 90.0))
    if not 10.0 <= field_of_view <= 150.0:
        raise UserError(
            f"{path}: camera.field_of_view: 10 to 150 degrees are expected, not {field_of_view:g}"
        )
    at, target = (as_numbers(path, f"camera.{key}", raw[key], 3) for key in ("at", "target"))
    if at[:2] == target[:2]:
        raise UserError(f"{path}: camera.target: a point that is not straight above or below it")
    return CameraWords(at, target, field_of_view)


def _meshes(path: Path, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"{path}: meshes: true or false is expected, not {value!r:.60}")
    return value
