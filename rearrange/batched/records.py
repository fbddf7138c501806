"""Arrays that kernels read and write: Warp structs, and the records that tasks see, on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import warp as wp  # pyright: ignore[reportMissingImports]

from rearrange.robot import RobotSpec
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.base import NOTHING, world_state

vec12 = wp.types.vector(length=12, dtype=wp.float32)


@wp.struct
class Seen:
    """Fields of `world_state`, all views into one array of records [N]."""

    base_pose: wp.array[wp.vec3d]
    base_blocked: wp.array[wp.bool]
    arm_joints: wp.array2d[wp.float64]
    arm_velocities: wp.array2d[wp.float64]
    end_effector_position: wp.array[wp.vec3d]
    end_effector_rotation: wp.array[wp.mat33d]
    end_effector_in_base: wp.array[wp.vec3d]
    object_position: wp.array2d[wp.vec3d]
    object_rotation: wp.array2d[wp.vec4d]
    articulated_joints: wp.array2d[wp.float64]
    handle_position: wp.array2d[wp.vec3d]
    held_object: wp.array[wp.int64]
    held_handle: wp.array[wp.int64]
    touched_object: wp.array[wp.int64]
    touched_handle: wp.array[wp.int64]
    hold_violated: wp.array[wp.bool]
    contact_force: wp.array[wp.float64]


@wp.struct
class Own:
    """Memory of the simulator: N worlds, from step to step and within one."""

    home: wp.array[wp.int32]  # row in the bank
    targets: wp.array2d[wp.float64]  # of the arm [N, J], rad
    leaving: wp.array[wp.int32]  # slot that was let go and is at the hand yet
    apart: wp.array[wp.int32]  # slot that does not meet the robot: held or leaving
    place: wp.array[wp.vec3d]  # of the base within a step: x, y, yaw
    move: wp.array[wp.vec3d]  # of the base in a substep
    commanded: wp.array[wp.vec3d]  # likewise, if nothing holds it up
    pace: wp.array[wp.vec2d]  # share of it that is made: driving, turning
    slow: wp.array[wp.bool]  # the step began with a pace below 1
    yielded: wp.array[wp.bool]  # the base was put back in the last substep
    push: wp.array[wp.vec3]  # on the robot: force along x and y [N], torque [N m]
    hand_position: wp.array[wp.vec3]  # of the gripper
    hand_rotation: wp.array[wp.quat]  # wxyz, as mujoco-warp has them
    part_position: wp.array2d[wp.vec3]  # of doors and drawers [N, P]
    part_rotation: wp.array2d[wp.quat]
    slipped: wp.array[wp.bool]  # the grasp breaks
    near_object: wp.array[wp.float32]  # deepest contact of the cup with one [m]
    near_handle: wp.array[wp.float32]
    force: wp.array[wp.float32]  # largest that counts [N]
    peaks: wp.array[wp.int32]  # most ever of PEAKS


@wp.struct
class Body:
    """Arrays of mujoco-warp's Data and Model that are written or read outside its steps."""

    qpos: wp.array2d[wp.float32]
    qvel: wp.array2d[wp.float32]
    ctrl: wp.array2d[wp.float32]
    mocap_pos: wp.array2d[wp.vec3]
    mocap_quat: wp.array2d[wp.quat]
    eq_active: wp.array2d[wp.bool]
    eq_data: wp.array2d[vec12]  # pyright: ignore[reportInvalidTypeForm]
    tree_asleep: wp.array2d[wp.int32]
    xpos: wp.array2d[wp.vec3]
    xquat: wp.array2d[wp.quat]
    xmat: wp.array2d[wp.mat33]
    geom_xpos: wp.array2d[wp.vec3]


@wp.struct
class Contacts:
    """Contacts of all worlds; see mujoco-warp's Data."""

    count: wp.array[wp.int32]
    pairs: wp.array[wp.int32]  # that may meet, before they were looked at closely
    world: wp.array[wp.int32]
    geom: wp.array[wp.vec2i]
    distance: wp.array[wp.float32]
    position: wp.array[wp.vec3]
    frame: wp.array[wp.mat33]
    address: wp.array2d[wp.int32]
    row_force: wp.array2d[wp.float32]
    row_count: wp.array[wp.int32]
    dof_count: wp.array[wp.int32]  # that are awake


@wp.struct
class Topology:
    """Indices that are the same in all homes; see ApartmentModel."""

    joint_count: wp.int32
    part_count: wp.int32
    arm_qpos: wp.int32
    arm_qvel: wp.int32
    object_qpos: wp.int32
    first_object_body: wp.int32
    gripper_body: wp.int32
    tip_offset: wp.float64
    joint_qpos: wp.array[wp.int32]
    part_bodies: wp.array[wp.int32]
    handle_geoms: wp.array[wp.int32]
    weld_rows: wp.array[wp.int32]
    connect_rows: wp.array[wp.int32]
    object_trees: wp.array[wp.int32]
    object_lengths: wp.array[wp.float64]
    roles: wp.array[wp.int32]


@wp.struct
class Rules:
    """Settings of the simulator and what the robot can do."""

    slide: wp.bool
    stall: wp.bool
    scene_force: wp.bool
    hold_threshold: wp.float64
    radius: wp.float64
    drive_force: wp.float64
    turn_torque: wp.float64
    lead: wp.array[wp.float64]
    limits: wp.array2d[wp.float64]


@wp.struct
class Floors:
    """Clearance of the bank's floors; see Bank."""

    cells: wp.array[wp.float32]
    starts: wp.array[wp.int32]
    shapes: wp.array[wp.vec2i]
    frames: wp.array[wp.vec3d]


# Fields that are one vector or matrix; of others each number, or each row of three or four, is an element
_WHOLE = {
    "base_pose": wp.vec3d,
    "end_effector_position": wp.vec3d,
    "end_effector_rotation": wp.mat33d,
    "end_effector_in_base": wp.vec3d,
}
_ROWS = {"object_position": wp.vec3d, "object_rotation": wp.vec4d, "handle_position": wp.vec3d}
_PLAIN = {"f": wp.float64, "i": wp.int64, "b": wp.bool}


class Records:
    """The records of `world_state` of N worlds, on a device.

    Attributes:
        kind: Of a record.
        bytes: All of them [N * size].
        seen: Views of its fields, for kernels.
    """

    def __init__(self, count: int, robot: RobotSpec, scene: SceneSpec, device: Any) -> None:
        """Of worlds that were never reset: nothing is held or touched."""
        self.kind = world_state(robot, scene)
        worlds = np.zeros(count, self.kind)
        for name in ("held_object", "held_handle", "touched_object", "touched_handle"):
            worlds[name] = NOTHING
        worlds["resting_tip"] = robot.resting_tip
        self.bytes = wp.array(worlds.view(np.uint8), dtype=wp.uint8, device=device)
        self.seen = Seen()
        fields: Any = Seen
        for name in fields.vars:
            setattr(self.seen, name, self._view(name, count))

    def _view(self, name: str, count: int) -> Any:
        """A field as an array of Warp's, [N] or [N, M]."""
        assert self.kind.fields is not None
        kind, start = self.kind.fields[name][:2]
        base, shape = kind.base, kind.shape
        if name in _WHOLE:
            element, shape = _WHOLE[name], ()
        elif name in _ROWS:
            element, shape = _ROWS[name], shape[:1]
        else:
            element = _PLAIN[base.kind]
        step = wp.types.type_size_in_bytes(element)
        return wp.array(
            ptr=self.bytes.ptr + start,  # pyright: ignore[reportOptionalOperand]
            dtype=element,
            shape=(count, *shape),
            strides=(self.kind.itemsize, *([step] if shape else [])),
            device=self.bytes.device,
            copy=False,
        )

    def tensor(self, name: str) -> Any:
        """A field of numbers [N, ...] as a torch tensor on the device, which is the record itself."""
        assert self.kind.fields is not None
        kind, start = self.kind.fields[name][:2]
        worlds = wp.to_torch(self.bytes).view(-1, self.kind.itemsize)
        of_kind = getattr(torch, kind.base.name)
        return worlds[:, start : start + kind.itemsize].view(of_kind).view(-1, *kind.shape)

    def numpy(self) -> np.ndarray:
        """A copy of all records on the host [N]."""
        return self.bytes.numpy().copy().view(self.kind)  # on the CPU it is the same memory
