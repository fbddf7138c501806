"""Episodes as JSON values and back; every field is checked by hand. Described in docs/episodes.md."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from rearrange.episodes.episode import Episode, Target
from rearrange.episodes.fields import FieldChecker, Limits, Range
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.registry import VARIATION_COUNT, ranges_of, spec_of_layout, split_of_layout
from rearrange.scenes.spec import SceneSpec

DIGITS = 5  # positions and angles are rounded to 0.01 mm: what stands 0.1 mm higher touches nothing
FINGERPRINT_DIGITS = 4  # likewise the geometry of an apartment in its fingerprint
QUATERNION_DIGITS = 5  # so that what lies on its edge still touches what it lies on
EPISODE_FIELDS = (
    "episode_id",
    "layout",
    "variation",
    "objects",
    "targets",
    "base_pose",
    "arm_joints",
    "articulated",
    "held_slot",
    "target_joint",
    "seed",
)
OPTIONAL_FIELDS = ("grasp",)
TARGET_FIELDS = ("slot", "start", "goal", "start_receptacle", "goal_receptacle")
APARTMENT_FIELDS = ("layout", "variation", "size", "fingerprint")
ROUNDING = 1e-3  # by which rounding may carry a joint over its limit [rad] or [m]
NORM_TOLERANCE = 2e-3  # of quaternions, whose parts are rounded too
TALLEST = 3.0  # nothing stands higher [m]
WIDEST = 50.0  # no apartment is longer [m]
REACH = 0.15  # of the centre of what is held from the suction tip [m]: beyond, the grasp breaks
_TURN = (-2 * math.pi, 2 * math.pi)
_SIZE = Limits.of((1.0, WIDEST), (1.0, WIDEST))
_UNIT: tuple[Range, ...] = ((-1.001, 1.001),) * 4


@dataclass(frozen=True)
class ApartmentRecord:
    """An apartment as an episode file remembers it.

    Attributes:
        layout: Macro layout.
        variation: Variation of the layout.
        size: Inner size of the building, its lower corner being the origin [m].
        fingerprint: Of its geometry: another one means that the generator of apartments has changed.
    """

    layout: int
    variation: int
    size: tuple[float, float]
    fingerprint: str


def record_of(apartment: Apartment) -> ApartmentRecord:
    """What an episode file remembers of an apartment."""
    shape = partial(_rounded, digits=FINGERPRINT_DIGITS)
    kinds = spec_of_layout(apartment.layout).slot_kinds
    parts: list[Any] = [shape(apartment.bounds), kinds]
    parts += [shape((*p.position, p.yaw)) for p in apartment.frames.values()]
    for name in sorted(apartment.receptacles):
        place = apartment.receptacles[name]
        parts.append((name, shape((*place.position, *place.half_extents, place.yaw))))
    for solid in apartment.solids:
        if solid.collides:
            parts.append((solid.kind, shape((*solid.position, *solid.size, solid.yaw))))
    fingerprint = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
    size = (apartment.bounds[2], apartment.bounds[3])
    return ApartmentRecord(apartment.layout, apartment.variation, size, fingerprint)


def encode_apartment(record: ApartmentRecord) -> dict[str, Any]:
    """An apartment as JSON values."""
    return {
        "layout": record.layout,
        "variation": record.variation,
        "size": list(_rounded(record.size, FINGERPRINT_DIGITS)),
        "fingerprint": record.fingerprint,
    }


def decode_apartment(value: Any, fields: FieldChecker, split: str) -> ApartmentRecord:
    """An apartment from JSON values; raises UserError."""
    raw = fields.record("apartment", value, APARTMENT_FIELDS)
    width, depth = fields.numbers("size", raw["size"], _SIZE)
    return ApartmentRecord(
        layout=_layout(raw["layout"], fields, split),
        variation=fields.integer("variation", raw["variation"], VARIATION_COUNT - 1),
        size=(width, depth),
        fingerprint=fields.text("fingerprint", raw["fingerprint"], 64),
    )


def encode_episode(episode: Episode) -> dict[str, Any]:
    """An episode as JSON values, positions and angles rounded.

    Raises:
        UserError: It takes place in a scene of a dataset, which has files of its own.
    """
    if episode.scene is not None:
        place = episode.scene.scene
        raise UserError(
            f"an episode takes place in {place}: only those in our apartments are saved"
        )
    optional = {}
    if episode.grasp is not None:
        optional["grasp"] = _short(episode.grasp[:3]) + _short(episode.grasp[3:], QUATERNION_DIGITS)
    return optional | {
        "episode_id": episode.episode_id,
        "layout": episode.layout,
        "variation": episode.variation,
        "objects": [
            [slot, *_short(pose[:3]), *_short(pose[3:], QUATERNION_DIGITS)]
            for slot, pose in sorted(episode.objects.items())
        ],
        "targets": [
            {
                "slot": target.slot,
                "start": _short(target.start),
                "goal": _short(target.goal),
                "start_receptacle": target.start_receptacle,
                "goal_receptacle": target.goal_receptacle,
            }
            for target in episode.targets
        ],
        "base_pose": _short(episode.base_pose),
        "arm_joints": _short(episode.arm_joints),
        "articulated": {
            name: _short([value])[0] for name, value in sorted(episode.articulated.items())
        },
        "held_slot": episode.held_slot,
        "target_joint": episode.target_joint,
        "seed": episode.seed,
    }


def decode_episode(
    value: Any,
    fields: FieldChecker,
    split: str,
    sizes: dict[tuple[int, int], tuple[float, float]],
    robot: RobotSpec,
) -> Episode:
    """An episode from JSON values.

    Args:
        value: What stood in the file.
        fields: Checks and names the place in the file; its `where` gains the episode's name.
        split: Whose layouts are allowed.
        sizes: (layout, variation) -> width and depth of the apartments in the file [m].
        robot: Who acts in it.

    Raises:
        UserError: A field is missing, unknown or wrong.
    """
    raw = fields.record("episode", value, EPISODE_FIELDS, OPTIONAL_FIELDS)
    name = fields.text("episode_id", raw["episode_id"], 100)
    fields = FieldChecker(f"{fields.where}: episode '{name}'")
    layout = _layout(raw["layout"], fields, split)
    variation = fields.integer("variation", raw["variation"], VARIATION_COUNT - 1)
    if (layout, variation) not in sizes:
        fields.fail("variation", "an apartment of the file's list", [layout, variation])
    scene = spec_of_layout(layout)
    width, depth = sizes[layout, variation]
    room = ((0.0, width), (0.0, depth), (0.0, TALLEST))
    objects = _objects(raw["objects"], fields, room, scene)
    held = raw["held_slot"]
    if held is not None:
        held = fields.integer("held_slot", held, len(scene.objects) - 1)
    x, y, yaw = fields.numbers("base_pose", raw["base_pose"], Limits.of(*room[:2], _TURN))
    joint = raw["target_joint"]
    return Episode(
        episode_id=name,
        layout=layout,
        variation=variation,
        objects=objects,
        targets=_targets(raw["targets"], fields, room, {*objects, held}, scene),
        base_pose=(x, y, yaw),
        arm_joints=fields.numbers("arm_joints", raw["arm_joints"], _arm_limits(robot)),
        articulated=_articulated(raw["articulated"], fields, scene),
        held_slot=held,
        target_joint=joint if joint is None else fields.choice("target_joint", joint, scene.joints),
        seed=fields.integer("seed", raw["seed"], 2**63 - 1),
        grasp=_grasp(raw.get("grasp"), held, fields),
    )


@cache
def _arm_limits(robot: RobotSpec) -> Limits:
    return Limits.of(
        *((max(j.low, -100.0) - ROUNDING, min(j.high, 100.0) + ROUNDING) for j in robot.joints)
    )


def _layout(value: Any, fields: FieldChecker, split: str) -> int:
    if type(value) is not int or split_of_layout(value) != split:
        fields.fail("layout", f"a layout of split {split} ({ranges_of(split)})", value)
    return value


def _objects(
    value: Any, fields: FieldChecker, room: tuple[Range, ...], scene: SceneSpec
) -> dict[int, tuple[float, ...]]:
    """Slot -> pose, the slots in ascending order."""
    objects: dict[int, tuple[float, ...]] = {}
    limits = Limits.of(*room, *_UNIT)
    for index, row in enumerate(fields.rows("objects", value, 0, len(scene.objects))):
        field = f"objects[{index}]"
        if not isinstance(row, list) or len(row) != 8:
            fields.fail(field, "[slot, x, y, z, qw, qx, qy, qz]", row)
        slot = fields.integer(f"{field} slot", row[0], len(scene.objects) - 1)
        if slot in objects:
            fields.fail(f"{field} slot", "a slot that is not yet taken", slot)
        pose = fields.numbers(f"{field} pose", row[1:], limits)
        _check_norm(field, pose, fields)
        objects[slot] = pose
    return objects


def _grasp(value: Any, held: int | None, fields: FieldChecker) -> tuple[float, ...] | None:
    """Pose of what is held in the hand, or None."""
    if value is None:
        return None
    if held is None:
        fields.fail("grasp", "none, since nothing is held", value)
    pose = fields.numbers("grasp", value, Limits.of(*((-REACH, REACH),) * 3, *_UNIT))
    _check_norm("grasp", pose, fields)
    return pose


def _check_norm(field: str, pose: tuple[float, ...], fields: FieldChecker) -> None:
    norm = math.hypot(*pose[3:])
    if abs(norm - 1.0) > NORM_TOLERANCE:
        fields.fail(f"{field} quaternion", "a norm of 1", round(norm, 6))


def _targets(
    value: Any,
    fields: FieldChecker,
    room: tuple[Range, ...],
    slots: set[int | None],
    scene: SceneSpec,
) -> tuple[Target, ...]:
    """Targets, each an object that is there or held."""
    targets: list[Target] = []
    limits = Limits.of(*room)
    for index, entry in enumerate(fields.rows("targets", value, 0, len(scene.objects))):
        field = f"targets[{index}]"
        raw = fields.record(field, entry, TARGET_FIELDS)
        slot = fields.integer(f"{field}.slot", raw["slot"], len(scene.objects) - 1)
        if slot not in slots:
            fields.fail(f"{field}.slot", "the slot of an object that is there or held", slot)
        if any(slot == other.slot for other in targets):
            fields.fail(f"{field}.slot", "a slot that no other target has", slot)
        start = fields.numbers(f"{field}.start", raw["start"], limits)
        goal = fields.numbers(f"{field}.goal", raw["goal"], limits)
        names = [
            fields.choice(f"{field}.{end}_receptacle", raw[f"{end}_receptacle"], scene.receptacles)
            for end in ("start", "goal")
        ]
        targets.append(Target(slot, _point(start), _point(goal), *names))
    return tuple(targets)


def _articulated(value: Any, fields: FieldChecker, scene: SceneSpec) -> dict[str, float]:
    """Joint -> start value."""
    if not isinstance(value, dict):
        fields.fail("articulated", "an object of joint names and values", value)
    joints = {}
    for name, number in value.items():
        fields.choice("articulated", name, scene.joints)
        low, high = scene.part(name).range
        joints[name] = fields.number(
            f"articulated.{name}", number, (low - ROUNDING, high + ROUNDING)
        )
    return joints


def _point(values: tuple[float, ...]) -> tuple[float, float, float]:
    x, y, z = values
    return x, y, z


def _rounded(values: Iterable[float], digits: int = DIGITS) -> tuple[float, ...]:
    """Rounded, without negative zeros."""
    return tuple(round(float(value), digits) + 0.0 for value in values)


def _short(values: Iterable[float], digits: int = DIGITS) -> list[float]:
    """Rounded; whole numbers lose their ".0", which makes files smaller."""
    return [int(value) if value.is_integer() else value for value in _rounded(values, digits)]
