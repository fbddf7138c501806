"""Arrays on a device that kernels are handed: made, or found in mujoco-warp's."""

# pyright: reportGeneralTypeIssues=false
# Warp's structs are no classes to it
from __future__ import annotations

from typing import Any, cast

import numpy as np
import warp as wp  # pyright: ignore[reportMissingImports]

from rearrange.batched.bank import Bank
from rearrange.batched.contact_kernels import PEAKS
from rearrange.batched.records import Body, Contacts, Floors, Own, Topology, vec12
from rearrange.robot import RobotSpec
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.base import NOTHING


def own_memory(count: int, robot: RobotSpec, scene: SceneSpec) -> Own:
    """Memory of N worlds in which nothing is yet, on the current device."""
    own, parts = Own(), len(scene.parts)
    own.home = wp.zeros(count, dtype=wp.int32)
    own.targets = wp.zeros((count, len(robot.joints)), dtype=wp.float64)
    own.leaving = wp.full(count, NOTHING, dtype=wp.int32)
    own.apart = wp.full(count, NOTHING, dtype=wp.int32)
    for name in ("place", "move", "commanded"):
        setattr(own, name, wp.zeros(count, dtype=wp.vec3d))
    own.pace = wp.full(count, wp.vec2d(1.0, 1.0), dtype=wp.vec2d)
    for name in ("slow", "yielded", "slipped"):
        setattr(own, name, wp.zeros(count, dtype=wp.bool))
    for name in ("push", "hand_position"):
        setattr(own, name, wp.zeros(count, dtype=wp.vec3))
    own.hand_rotation = wp.zeros(count, dtype=wp.quat)
    own.part_position = wp.zeros((count, parts), dtype=wp.vec3)
    own.part_rotation = wp.zeros((count, parts), dtype=wp.quat)
    for name in ("near_object", "near_handle", "force"):
        setattr(own, name, wp.zeros(count, dtype=wp.float32))
    own.peaks = wp.zeros(len(PEAKS), dtype=wp.int32)
    return own


def bind_body(model: Any, data: Any) -> Body:
    """The arrays of mujoco-warp's model and data that a step reads or writes."""
    body, fields = Body(), cast(Any, Body)
    for name in fields.vars:
        array = model.eq_data.view(vec12) if name == "eq_data" else getattr(data, name)
        setattr(body, name, array)
    return body


def bind_contacts(data: Any) -> Contacts:
    """The contacts of mujoco-warp's data."""
    contacts, found = Contacts(), data.contact
    contacts.count, contacts.pairs = data.nacon, data.ncollision
    contacts.world, contacts.geom, contacts.distance = found.worldid, found.geom, found.dist
    contacts.position, contacts.frame, contacts.address = found.pos, found.frame, found.efc_address
    contacts.row_force, contacts.row_count = data.efc.force, data.nefc
    contacts.dof_count = data.nv_awake
    return contacts


def topology(world: ApartmentModel, robot: RobotSpec) -> Topology:
    """Indices that all homes of a kind have in common, on the current device."""
    at, model = Topology(), world.model
    at.joint_count, at.part_count = len(robot.joints), len(world.joint_qpos)
    at.arm_qpos, at.arm_qvel = world.arm_qpos, world.arm_qvel
    at.object_qpos, at.first_object_body = world.object_qpos, world.first_object_body
    at.gripper_body, at.tip_offset = world.gripper_body, robot.tip_offset
    bodies = world.first_object_body + np.arange(len(world.scene.objects))
    indices = {
        "joint_qpos": world.joint_qpos,
        "part_bodies": model.geom_bodyid[world.handle_geoms],
        "handle_geoms": world.handle_geoms,
        "weld_rows": world.weld_rows,
        "connect_rows": world.connect_rows,
        "object_trees": model.body_treeid[bodies],
        "roles": world.roles,
    }
    for name, values in indices.items():
        setattr(at, name, wp.array(np.asarray(values, np.int32), dtype=wp.int32))
    at.object_lengths = wp.array(world.object_lengths, dtype=wp.float64)
    return at


def floors_of(bank: Bank) -> Floors:
    """Clearance of the bank's floors, on the current device."""
    floors = Floors()
    floors.cells = wp.array(bank.floors, dtype=wp.float32)
    floors.starts = wp.array(bank.floor_starts.astype(np.int32), dtype=wp.int32)
    floors.shapes = wp.array(bank.floor_shapes.astype(np.int32), dtype=wp.vec2i)
    floors.frames = wp.array(bank.floor_frames, dtype=wp.vec3d)
    return floors
