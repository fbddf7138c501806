"""Whether the robot is clear of everything, so that no contact has to be looked for.

Two thirds of a physics step of a robot that touches nothing go into finding that out: MuJoCo compares
every link with the apartment's 230 solids, four times per action. Here spheres that enclose the links
are compared with boxes that enclose everything else, at a twentieth of the cost. Who is clear of those
touches nothing, so a substep without the apartment has the same result (`free_robot.py`). What the robot
holds is looked at like a part of it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from rearrange.caching import cached_njit
from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import frames_kernel
from rearrange.scenes.compile import ARTICULATED_BIT, BASE_BIT, STATIC_BIT

SLACK = 0.002  # [m], added to every sphere
PIECE = 0.08  # [m], a geom is cut into pieces of this length or of its own thickness
BASE = -1  # link of spheres that are rigid with the base; else that of a joint, and after them the gripper's
# Columns of a box: centre, row-major rotation, half sizes, bounds along the world's axes.
MATRIX, HALF, BOUNDS, COLUMNS = 3, 12, 15, 21
LOCAL = 4  # column of a placed sphere where its place in the base frame starts

_KERNEL: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


class Clearance:
    """What `is_clear` needs of an apartment with the robot in it.

    Attributes:
        spheres: Link, place in its frame (BASE: in the base frame) and radius of spheres around all
            of the robot that can touch something [S, 5], m. Those of the base come first.
        boxes: Around all that stands still [B, 21], m.
        base_boxes: Around what is rigid with the base, in its frame [P, 21], m.
        moving: Geoms of doors and drawers [M].
        radii: Of spheres around the objects' origins [O], m.
    """

    def __init__(
        self, model: mujoco.MjModel, robot: RobotSpec, object_bodies: Sequence[str]
    ) -> None:
        """Collect it from a compiled apartment with this robot and bodies of objects in it."""
        self._data = mujoco.MjData(model)
        trees = model.body_treeid[model.geom_bodyid]
        self.spheres = _robot_spheres(model, robot)
        self.moving = np.flatnonzero((model.geom_contype & ARTICULATED_BIT != 0) & (trees >= 0))
        self._take_boxes(model)
        self.base_boxes = self._boxes(np.flatnonzero(model.geom_contype & BASE_BIT), self._data)
        self.radii = np.array([_object_radius(model, name) for name in object_bodies])

    def elsewhere(self, model: mujoco.MjModel) -> Clearance:
        """The same in another apartment: only what stands still is looked at anew."""
        there = copy.copy(self)
        there._take_boxes(model)
        return there

    def _take_boxes(self, model: mujoco.MjModel) -> None:
        """Collect what depends on the apartment; all apartments have room in the data of one."""
        mujoco.mj_resetData(model, self._data)
        self._data.mocap_pos[0], self._data.mocap_quat[0] = 0.0, (1.0, 0.0, 0.0, 0.0)  # the base
        mujoco.mj_kinematics(model, self._data)
        self._half = _half_sizes(model)
        self.boxes = self._boxes(np.flatnonzero(_stand_still(model)), self._data)

    def moving_boxes(self, data: mujoco.MjData) -> np.ndarray:
        """Boxes around doors and drawers where they are now [M, 21]."""
        return self._boxes(self.moving, data)

    def _boxes(self, geoms: np.ndarray, data: mujoco.MjData) -> np.ndarray:
        boxes = np.empty((len(geoms), COLUMNS))
        center, half = data.geom_xpos[geoms], self._half[geoms]
        matrix = data.geom_xmat[geoms]
        reach = np.einsum("bij,bj->bi", np.abs(matrix.reshape(-1, 3, 3)), half)
        boxes[:, :MATRIX], boxes[:, MATRIX:HALF], boxes[:, HALF:BOUNDS] = center, matrix, half
        boxes[:, BOUNDS : BOUNDS + 3], boxes[:, BOUNDS + 3 :] = center - reach, center + reach
        return boxes


def _stand_still(model: mujoco.MjModel) -> np.ndarray:
    """Which geoms cannot move and can be touched by the arm [G]; the floor is looked at apart."""
    return (
        (model.body_treeid[model.geom_bodyid] < 0)
        & (model.geom_contype & STATIC_BIT != 0)
        & (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE)
    )


def _half_sizes(model: mujoco.MjModel) -> np.ndarray:
    """Half sizes of the boxes around boxes, cylinders and capsules [G, 3]."""
    half = np.array(model.geom_size)
    capsules = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    half[capsules, 1] += half[capsules, 0]
    tubes = capsules | (model.geom_type == mujoco.mjtGeom.mjGEOM_CYLINDER)
    half[tubes, 2] = half[tubes, 1]
    half[tubes, 1] = half[tubes, 0]
    return half


def _robot_spheres(model: mujoco.MjModel, robot: RobotSpec) -> np.ndarray:
    """Spheres around all of the robot that can touch something [S, 5]; see `Clearance`."""
    base = model.body(robot.base.body).id
    joints = [model.joint(name).id for name in robot.joint_names]
    links = {int(model.jnt_bodyid[joint]): index for index, joint in enumerate(joints)}
    links |= {model.body(robot.gripper_body).id: len(joints), base: BASE}
    half = _half_sizes(model)
    spheres: list[tuple[float, ...]] = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if model.body_rootid[body] != base or not collides:
            continue
        middle, reach = _travel(model, body, links)
        for center, radius in _cover(model, geom, half[geom]):
            link, place = _on_link(model, links, body, center + middle)
            spheres.append((links[link], *place, radius + reach + SLACK))
    return np.array(sorted(spheres))


def _travel(model: mujoco.MjModel, body: int, links: Mapping[int, int]) -> tuple[np.ndarray, float]:
    """The middle of a finger's travel in its own frame at 0 [3], and how far the finger gets from there.

    Both are 0 of what is no finger.
    """
    if body in links or not model.body_jntnum[body]:
        return np.zeros(3), 0.0
    joint = model.body_jntadr[body]
    low, high = model.jnt_range[joint]
    return model.jnt_axis[joint] * (low + high) / 2, float(high - low) / 2


def _on_link(
    model: mujoco.MjModel, links: Mapping[int, int], body: int, point: np.ndarray
) -> tuple[int, np.ndarray]:
    """The nearest of the links that a body is, or is rigid with, and a point of the body in its frame."""
    while body not in links:
        matrix = np.empty(9)
        mujoco.mju_quat2Mat(matrix, model.body_quat[body])
        point = matrix.reshape(3, 3) @ point + model.body_pos[body]
        body = int(model.body_parentid[body])
    return body, point


def _cover(model: mujoco.MjModel, geom: int, half: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Spheres (centre in the body's frame [3], radius) that enclose a geom: its box cut into pieces."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    counts = np.ceil(2 * half / max(PIECE, 2 * half.min()) - 1e-9).astype(int)
    piece = half / counts
    is_slice = model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_BOX and counts[0] == counts[1] == 1
    radius = math.hypot(piece[0], piece[2]) if is_slice else float(np.linalg.norm(piece))
    places = [-half + piece * (2 * np.array(index) + 1) for index in np.ndindex(*counts)]
    return [(model.geom_pos[geom] + rotation.reshape(3, 3) @ place, radius) for place in places]


def _object_radius(model: mujoco.MjModel, body_name: str) -> float:
    """Radius around a body's origin that holds all its geoms that collide [m]."""
    body = model.body(body_name).id
    geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    return max(
        float(np.linalg.norm(model.geom_pos[geom]) + model.geom_rbound[geom])
        for geom in geoms
        if model.geom_contype[geom]
    )


@cached_njit(**_KERNEL)
def _place_spheres(spheres, chain, joints, x, y, yaw, placed):  # type: ignore[no-untyped-def]
    """Write the spheres in the world, their radii, and their place in the base frame [>= S, 7]."""
    positions, r = frames_kernel(joints, chain)
    cos, sin = math.cos(yaw), math.sin(yaw)
    for s in range(len(spheres)):
        link = int(spheres[s, 0])
        a, b, c = spheres[s, 1], spheres[s, 2], spheres[s, 3]
        if link != BASE:
            a, b, c = (
                positions[link, 0] + r[link, 0, 0] * a + r[link, 0, 1] * b + r[link, 0, 2] * c,
                positions[link, 1] + r[link, 1, 0] * a + r[link, 1, 1] * b + r[link, 1, 2] * c,
                positions[link, 2] + r[link, 2, 0] * a + r[link, 2, 1] * b + r[link, 2, 2] * c,
            )
        placed[s, 0], placed[s, 1] = x + cos * a - sin * b, y + sin * a + cos * b
        placed[s, 2], placed[s, 3] = c, spheres[s, 4]
        placed[s, 4], placed[s, 5], placed[s, 6] = a, b, c


@cached_njit(**_KERNEL)
def _bound(placed, first, last, bounds, part):  # type: ignore[no-untyped-def]
    """Write the bounds of spheres first .. last - 1 along the world's axes into bounds[part, 0:6]."""
    for k in range(3):
        low, high = np.inf, -np.inf
        for s in range(first, last):
            low = min(low, placed[s, k] - placed[s, 3])
            high = max(high, placed[s, k] + placed[s, 3])
        bounds[part, k], bounds[part, 3 + k] = low, high


@cached_njit(**_KERNEL)
def _apart(a, i, b, j, column):  # type: ignore[no-untyped-def]
    """Whether the bounds a[i, 0:6] and b[j, column : column + 6] do not overlap."""
    return (
        (a[i, 0] > b[j, column + 3]) | (b[j, column] > a[i, 3])
        | (a[i, 1] > b[j, column + 4]) | (b[j, column + 1] > a[i, 4])
        | (a[i, 2] > b[j, column + 5]) | (b[j, column + 2] > a[i, 5])
    )  # fmt: skip


@cached_njit(**_KERNEL)
def _meets_box(placed, first, last, frame, boxes, i):  # type: ignore[no-untyped-def]
    """Whether one of the spheres first .. last - 1 overlaps box i; their places start at column `frame`."""
    for s in range(first, last):
        dx, dy = placed[s, frame] - boxes[i, 0], placed[s, frame + 1] - boxes[i, 1]
        dz, gap = placed[s, frame + 2] - boxes[i, 2], 0.0
        for k in range(3):
            row = MATRIX + k
            local = boxes[i, row] * dx + boxes[i, row + 3] * dy + boxes[i, row + 6] * dz
            out = max(abs(local) - boxes[i, HALF + k], 0.0)
            gap += out * out
        if gap < placed[s, 3] * placed[s, 3]:
            return True
    return False


@cached_njit(**_KERNEL)
def _meets_object(placed, last, bounds, objects, radii, held):  # type: ignore[no-untyped-def]
    """Whether one of the spheres before `last`, of base and arm, overlaps that of an object but `held`."""
    for o in range(len(objects)):
        a, b, c, radius = objects[o, 0], objects[o, 1], objects[o, 2], radii[o]
        if o == held:
            continue
        for part in range(2):
            if (
                a + radius < bounds[part, 0] or a - radius > bounds[part, 3]
                or b + radius < bounds[part, 1] or b - radius > bounds[part, 4]
                or c + radius < bounds[part, 2] or c - radius > bounds[part, 5]
            ):  # fmt: skip
                continue
            for s in range(last):
                dx, dy, dz = placed[s, 0] - a, placed[s, 1] - b, placed[s, 2] - c
                reach = placed[s, 3] + radius
                if dx * dx + dy * dy + dz * dz < reach * reach:
                    return True
    return False


@cached_njit(**_KERNEL)
def _cup_meets_base(spheres, cup, placed, arm, last, base_boxes):  # type: ignore[no-untyped-def]
    """Whether one of the cup's spheres, among arm .. last - 1, overlaps the base: its only self-contact."""
    for s in range(arm, last):
        for p in range(len(base_boxes)):
            if spheres[s, 0] == cup and _meets_box(placed, s, s + 1, LOCAL, base_boxes, p):
                return True
    return False


@cached_njit(**_KERNEL)
def is_clear(  # type: ignore[no-untyped-def]
    spheres, boxes, base_boxes, moving_boxes, radii, chain, joints, x, y, yaw, objects, held
):  # fmt: skip
    """Whether no part of the robot and its load can touch anything in the substep that begins so.

    Args:
        spheres: See `Clearance`.
        boxes: See `Clearance`.
        base_boxes: See `Clearance`.
        moving_boxes: Of doors and drawers as they are now [M, 21], m.
        radii: See `Clearance`.
        chain: Of the robot's arm, see RobotSpec.
        joints: Arm joints [J], rad.
        x: Base, with y [m] and yaw [rad].
        y: See x.
        yaw: See x.
        objects: Positions and quaternions [O, 7], m.
        held: Slot of the load or -1.
    """
    load = len(spheres)
    last = load + 1 if held >= 0 else load
    placed, bounds = np.empty((last, 7)), np.empty((2, 6))
    _place_spheres(spheres, chain, joints, x, y, yaw, placed)
    if held >= 0:
        for k in range(3):
            placed[load, k] = objects[held, k]
        placed[load, 3] = radii[held]
    arm = 0
    while spheres[arm, 0] == BASE:
        arm += 1
    _bound(placed, 0, arm, bounds, 0)
    _bound(placed, arm, last, bounds, 1)
    if bounds[1, 2] < 0.0:  # the floor
        return False
    if _cup_meets_base(spheres, len(joints), placed, arm, load, base_boxes):
        return False
    for b in range(len(boxes)):  # walls and furniture keep the base away by the occupancy grid
        if not _apart(bounds, 1, boxes, b, BOUNDS) and _meets_box(placed, arm, last, 0, boxes, b):
            return False
    for m in range(len(moving_boxes)):
        near_base = not _apart(bounds, 0, moving_boxes, m, BOUNDS)
        near_arm = not _apart(bounds, 1, moving_boxes, m, BOUNDS)
        if (near_base or near_arm) and _meets_box(placed, 0, last, 0, moving_boxes, m):
            return False
    return not _meets_object(placed, last, bounds, objects, radii, held)
