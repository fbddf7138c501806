"""What an arm can hit, as upright boxes and cylinders read from privileged state.

World frame, metres, radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np

from rearrange.scenes.apartment import Apartment, ArticulatedPose
from rearrange.scenes.compile import bare_home, build_spec
from rearrange.scenes.objects import ObjectKind
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import Door, Furniture, SceneSpec
from rearrange.sim.base import SimState

SHUT = 0.02  # [m, rad], opening below which the floor's occupancy grid still holds
STANDING = 0.97  # cosine of the lean up to which a can counts as upright


@dataclass(frozen=True)
class Obstacles:
    """Upright solids.

    Attributes:
        boxes: Centre x, y, z, half sizes x, y, z, cosine and sine of the yaw [B, 8].
        cylinders: Centre x, y, z, radius, half height [C, 5].
        opened: Those of the boxes that are doors and drawers which stand open [O, 8]; the floor's
            occupancy grid does not know these.
    """

    boxes: np.ndarray
    cylinders: np.ndarray
    opened: np.ndarray = field(default_factory=lambda: np.zeros((0, 8)))

    def near(self, x: float, y: float, reach: float) -> Obstacles:
        """Those that come within a horizontal distance [m] of a point."""
        extent = np.hypot(self.boxes[:, 3], self.boxes[:, 4])
        boxes = np.hypot(self.boxes[:, 0] - x, self.boxes[:, 1] - y) < reach + extent
        cylinders = self.cylinders
        close = np.hypot(cylinders[:, 0] - x, cylinders[:, 1] - y) < reach + cylinders[:, 3]
        return Obstacles(self.boxes[boxes], cylinders[close])

    def between(self, low: float, high: float) -> np.ndarray:
        """Footprints of what reaches into these heights [M, 6], as in rearrange.navigation."""
        cylinders = self.cylinders
        inside = (cylinders[:, 2] + cylinders[:, 4] > low) & (
            cylinders[:, 2] - cylinders[:, 4] < high
        )
        cylinders = cylinders[inside]
        round_ones = np.zeros((len(cylinders), 6))
        round_ones[:, :2] = cylinders[:, :2]
        round_ones[:, 5] = cylinders[:, 3]
        return np.vstack([_footprints(self.boxes, low, high), round_ones])

    def opened_between(self, low: float, high: float) -> np.ndarray:
        """As `between`, of open doors and drawers alone [M, 6]."""
        return _footprints(self.opened, low, high)


def _footprints(boxes: np.ndarray, low: float, high: float) -> np.ndarray:
    """Footprints of the boxes [B, 8] that reach into these heights [M, 6]."""
    boxes = boxes[(boxes[:, 2] + boxes[:, 5] > low) & (boxes[:, 2] - boxes[:, 5] < high)]
    result = np.zeros((len(boxes), 6))
    result[:, :4] = boxes[:, [0, 1, 3, 4]]
    result[:, 4] = np.arctan2(boxes[:, 7], boxes[:, 6])
    return result


def obstacles_of(apartment: Apartment, state: SimState, without: int) -> Obstacles:
    """Everything solid in a world but the robot, one object and parked objects.

    Args:
        apartment: Of the world.
        state: Of a simulator with one world.
        without: Slot of the object to leave out (to be picked, or held), or NOTHING.
    """
    scene, boxes, cylinders = spec_of_layout(apartment.layout), [], []
    for solid in apartment.solids:
        if not solid.collides:
            continue
        if solid.kind == "box":
            turn = (math.cos(solid.yaw), math.sin(solid.yaw))
            boxes.append((*solid.position, *solid.size, *turn))
        else:
            cylinders.append((*solid.position, solid.size[0], solid.size[1]))
    joints: dict[str, float] = dict(
        zip(scene.joints, state.articulated_joints[0].tolist(), strict=True)
    )
    furniture, opened = _articulated(apartment, joints)
    boxes += furniture
    for slot in range(len(scene.objects)):
        if slot != without and _stands_in(apartment, state.object_position[0, slot]):
            _add_object(scene.objects[slot], state, slot, boxes, cylinders)
    return Obstacles(
        np.array(boxes).reshape(-1, 8),
        np.array(cylinders).reshape(-1, 5),
        np.array(opened).reshape(-1, 8),
    )


def _articulated(
    apartment: Apartment, joints: dict[str, float]
) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Boxes of the furniture that opens, and those of its parts that stand open, world frame."""
    scene, rows, opened = spec_of_layout(apartment.layout), [], []
    boxes = boxes_of_bodies(scene)
    for piece in scene.furniture:
        openings = tuple(round(joints[part.name], 2) for part in piece.parts)
        placed = placed_boxes(apartment.frames[piece.name], furniture_boxes(scene, piece, openings))
        rows += placed
        first = len(boxes[piece.name])
        for part, opening in zip(piece.parts, openings, strict=True):
            last = first + len(boxes[part.name])
            if (opening if part.turns else joints[part.name]) > SHUT:  # a door's is rounded
                opened += placed[first:last]
            first = last
    return rows, opened


def _stands_in(apartment: Apartment, position: np.ndarray) -> bool:
    x_min, y_min, x_max, y_max = apartment.bounds
    return bool(x_min < position[0] < x_max and y_min < position[1] < y_max)


def _add_object(
    kind: ObjectKind,
    state: SimState,
    slot: int,
    boxes: list[tuple],
    cylinders: list[tuple],
) -> None:
    """Add the upright box or cylinder that contains an object, also when it has fallen over."""
    x, y, z = state.object_position[0, slot].tolist()
    rotation = matrix_of(state.object_rotation[0, slot])
    if kind.parts[0].kind == "box":
        boxes.append((x, y, z, *_around(rotation, np.array(kind.parts[0].size))))
    elif abs(rotation[2, 2]) > STANDING:
        cylinders.append((x, y, z, kind.footprint_radius, kind.half_height))
    else:
        radius = kind.footprint_radius
        boxes.append((x, y, z, *_around(rotation, np.array([radius, radius, kind.half_height]))))


def _around(rotation: np.ndarray, half: np.ndarray) -> tuple[float, ...]:
    """Half sizes, cosine and sine of the yaw of the upright box around a turned one.

    Args:
        rotation: World from box [3, 3].
        half: Its half sizes [3], m.
    """
    level = int(np.abs(rotation[2]).argmin())  # the axis that lies flattest gives the heading
    cosine, sine = rotation[:2, level] / np.hypot(*rotation[:2, level])
    turned = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    return (*(np.abs(turned) @ half).tolist(), float(cosine), float(sine))


def matrix_of(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix [3, 3] of a quaternion wxyz."""
    w, x, y, z = (float(value) for value in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def placed_boxes(
    pose: ArticulatedPose, boxes: tuple[tuple[float, ...], ...]
) -> list[tuple[float, ...]]:
    """Boxes (x, y, z, half sizes, yaw) of an articulated frame as rows in the world frame."""
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
    rows = []
    for x, y, z, half_x, half_y, half_z, yaw in boxes:
        turn = pose.yaw + yaw
        rows.append(
            (
                pose.position[0] + cosine * x - sine * y,
                pose.position[1] + sine * x + cosine * y,
                pose.position[2] + z,
                half_x,
                half_y,
                half_z,
                math.cos(turn),
                math.sin(turn),
            )
        )
    return rows


@cache
def boxes_of_bodies(scene: SceneSpec) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Boxes (centre, half sizes) of every body of furniture and of its parts, in that body's frame."""
    spec = build_spec(bare_home(scene))
    names = (*(piece.name for piece in scene.furniture), *scene.joints)
    return {
        name: tuple((*geom.pos.tolist(), *geom.size.tolist()) for geom in spec.body(name).geoms)
        for name in names
    }


@lru_cache(maxsize=128)
def furniture_boxes(
    scene: SceneSpec, piece: Furniture, openings: tuple[float, ...]
) -> tuple[tuple[float, ...], ...]:
    """Boxes (x, y, z, half sizes, yaw) of a piece of furniture in its frame.

    Args:
        scene: Kind of home.
        piece: One of its pieces of furniture.
        openings: Of its parts [rad or m].
    """
    bodies = boxes_of_bodies(scene)
    boxes = [(*part, 0.0) for part in bodies[piece.name]]
    for part, opening in zip(piece.parts, openings, strict=True):
        if not isinstance(part, Door):
            boxes += [(x + opening, *rest, 0.0) for x, *rest in bodies[part.name]]
            continue
        turn = part.sense * opening
        cosine, sine = math.cos(turn), math.sin(turn)
        for x, y, z, *half in bodies[part.name]:
            turned = (part.hinge[0] + cosine * x - sine * y, part.hinge[1] + sine * x + cosine * y)
            boxes.append((*turned, z, *half, turn))
    return tuple(boxes)
