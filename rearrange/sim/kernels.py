"""Compiled parts of a step: in Python they would cost more than the physics."""

from __future__ import annotations

import math
from typing import Any

import numba

from rearrange.caching import source_hash
from rearrange.robot import kinematics
from rearrange.sim import clearance
from rearrange.sim.clearance import is_clear

_KERNEL = {"cache": True, "nogil": True, "error_model": "numpy"}
_TIP = kinematics.END_EFFECTOR_OFFSET[0]


@numba.njit(**_KERNEL)
def aim(targets, measured, action, lead, low, high, control):  # type: ignore[no-untyped-def]
    """Add an action's joint deltas to the targets [7], keep those near the joints, and command them."""
    for k in range(len(targets)):
        target = max(min(targets[k] + action[k], measured[k] + lead), measured[k] - lead)
        targets[k] = control[k] = max(min(target, high[k]), low[k])


@numba.njit(**_KERNEL)
def place_base(position, rotation, x, y, yaw):  # type: ignore[no-untyped-def]
    """Put the base's position [3] and quaternion [4] on the floor at x, y with heading yaw."""
    position[0], position[1] = x, y
    rotation[0], rotation[3] = math.cos(0.5 * yaw), math.sin(0.5 * yaw)


def _compile(version: str) -> Any:
    """Build `begin_substep`; `version` becomes a part of numba's cache key."""

    @numba.njit(**_KERNEL)
    def begin_substep(  # type: ignore[no-untyped-def]
        position, rotation, objects, held, joints, x, y, yaw, dx, dy, turn,
        spheres, boxes, moving_boxes, radii,
    ):  # fmt: skip
        """Teleport the base, and what it holds, and tell whether the robot is clear of everything there.

        Args:
            position: Of the base in MjData [3].
            rotation: Its quaternion [4].
            objects: Positions and quaternions in qpos [30, 7].
            held: Slot in the hand or -1. It moves rigidly with the base, as in HAB.
            joints: Arm joints [7], rad.
            x: Where the base is, with y [m] and yaw [rad].
            y: See x.
            yaw: See x.
            dx: Its motion, with dy [m] and turn [rad].
            dy: See dx.
            turn: See dx.
            spheres: To radii: see `is_clear`.
            boxes: See spheres.
            moving_boxes: See spheres.
            radii: See spheres.
        """
        version  # noqa: B018
        new_x, new_y, new_yaw = x + dx, y + dy, yaw + turn
        place_base(position, rotation, new_x, new_y, new_yaw)
        if held >= 0 and (dx != 0.0 or dy != 0.0 or turn != 0.0):
            cos, sin = math.cos(turn), math.sin(turn)
            u, v = objects[held, 0] - x, objects[held, 1] - y
            objects[held, 0] = new_x + cos * u - sin * v
            objects[held, 1] = new_y + sin * u + cos * v
            cos, sin = math.cos(0.5 * turn), math.sin(0.5 * turn)
            w, qx, qy, qz = (
                objects[held, 3], objects[held, 4], objects[held, 5], objects[held, 6],
            )  # fmt: skip
            objects[held, 3], objects[held, 4] = cos * w - sin * qz, cos * qx - sin * qy
            objects[held, 5], objects[held, 6] = cos * qy + sin * qx, cos * qz + sin * w
        return is_clear(spheres, boxes, moving_boxes, radii, joints, new_x, new_y, new_yaw, objects)

    return begin_substep


begin_substep = _compile(source_hash(clearance, kinematics))


@numba.njit(**_KERNEL)
def read_robot(  # type: ignore[no-untyped-def]
    i, hand_position, hand_rotation, qpos, joint_qpos, geom_position, handle_geoms,
    base, tips, rotations, local_tips, joints, handles,
):  # fmt: skip
    """Write hand, doors, drawers and handles of a world into row i of the state's arrays."""
    x, y, yaw = base[i, 0], base[i, 1], base[i, 2]
    for k in range(3):
        for m in range(3):
            rotations[i, k, m] = hand_rotation[k, m]
        tips[i, k] = hand_position[k] + _TIP * hand_rotation[k, 0]
    cos, sin, u, v = math.cos(yaw), math.sin(yaw), tips[i, 0] - x, tips[i, 1] - y
    local_tips[i, 0], local_tips[i, 1] = cos * u + sin * v, cos * v - sin * u
    local_tips[i, 2] = tips[i, 2]
    for k in range(len(joint_qpos)):
        joints[i, k] = qpos[joint_qpos[k]]
        for m in range(3):
            handles[i, k, m] = geom_position[handle_geoms[k], m]


@numba.njit(**_KERNEL)
def place_camera(base_pose, i, offset, mount, position, rotation):  # type: ignore[no-untyped-def]
    """Write position [3] and rotation [3, 3] of a camera that is fixed to the base of world i.

    Args:
        base_pose: x, y, yaw of all worlds [N, 3].
        i: World.
        offset: Of the camera in the base frame (3 numbers) [m].
        mount: Base from camera [3, 3].
        position: World frame [3].
        rotation: World from camera [3, 3].
    """
    cos, sin = math.cos(base_pose[i, 2]), math.sin(base_pose[i, 2])
    position[0] = base_pose[i, 0] + cos * offset[0] - sin * offset[1]
    position[1] = base_pose[i, 1] + sin * offset[0] + cos * offset[1]
    position[2] = offset[2]
    for k in range(3):
        rotation[0, k] = cos * mount[0, k] - sin * mount[1, k]
        rotation[1, k] = sin * mount[0, k] + cos * mount[1, k]
        rotation[2, k] = mount[2, k]
