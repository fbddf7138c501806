"""Triangles of a home: what stands still as one part, and a part for each body that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import trimesh  # comes with viser

from nav.buildings import load_building
from rearrange.robot import find_robot
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.base import OBJECT_SLOT_COUNT
from skills.sight import FLOOR, Sight

CEILING = 3  # geom group
WALLS = 2  # geom group
OVERHEAD = 1.35  # [m]; what hangs above hides the robot as a wall does
SECTIONS = 20  # sides of a cylinder
AGENT = 1  # body of a navigation task's agent
AGENT_SIZE = 0.18, 0.9  # radius and height of it [m]
AGENT_COLOUR, FACE_COLOUR = (60, 110, 200), (250, 200, 60)


@dataclass(frozen=True)
class Part:
    """Triangles of one colour in the frame of a body.

    Attributes:
        body: Number of the body; 0 is the world's frame.
        vertices: [V, 3], m.
        faces: [F, 3].
        colour: Red, green, blue, 0 to 255.
        is_wall: A wall, or hung above the head, which may hide what happens.
    """

    body: int
    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[int, int, int]
    is_wall: bool


def parts_in(sight: Sight) -> list[Part]:
    """The parts of a world that are there, as long as its `Sight.scene` is the same."""
    if sight.kind == FLOOR:
        return building_parts(sight.home) + agent_parts()
    layout, variation = map(int, sight.home.split("/"))
    home = load_apartment(layout, variation, find_robot(sight.robot))
    data = mujoco.MjData(home.model)
    mujoco.mj_forward(home.model, data)
    parked = {
        home.first_object_body + slot
        for slot in range(OBJECT_SLOT_COUNT)
        if slot not in sight.slots
    }
    return [part for part in parts_of(home.model, data) if part.body not in parked]


def building_parts(name: str) -> list[Part]:
    """The parts of a building in which nothing moves, without ceilings."""
    found: dict[tuple[tuple[int, int, int], bool], list[trimesh.Trimesh]] = {}
    for solid in load_building(name).solids:
        if solid.group == CEILING or solid.color[3] == 0.0:
            continue
        a, b, c = solid.size
        mesh = trimesh.creation.box(extents=(2 * a, 2 * b, 2 * c))
        if solid.kind == "cylinder":
            mesh = trimesh.creation.cylinder(a, height=2 * b, sections=SECTIONS)
        turn = _matrix(np.array((np.cos(solid.yaw / 2), 0.0, 0.0, np.sin(solid.yaw / 2))))
        mesh.apply_transform(_transform(np.array(solid.position), turn))
        is_wall = solid.group == WALLS or float(mesh.bounds[0, 2]) > OVERHEAD
        found.setdefault((_colour(solid.color), is_wall), []).append(mesh)
    return [_part(0, colour, is_wall, meshes) for (colour, is_wall), meshes in found.items()]


def agent_parts() -> list[Part]:
    """The agent of a navigation task, which looks along its x axis."""
    radius, height = AGENT_SIZE
    body = trimesh.creation.cylinder(radius, height=height, sections=SECTIONS)
    body.apply_translation((0.0, 0.0, height / 2))
    face = trimesh.creation.box(extents=(0.12, 0.16, 0.08))
    face.apply_translation((radius, 0.0, height - 0.06))
    return [_part(AGENT, AGENT_COLOUR, False, [body]), _part(AGENT, FACE_COLOUR, False, [face])]


def parts_of(model: mujoco.MjModel, data: mujoco.MjData) -> list[Part]:
    """The visible parts of a home, ceilings and infinite floors left out.

    Args:
        model: The home with the robot.
        data: Its state; bodies that never move are taken where they are.
    """
    found: dict[tuple[int, tuple[int, int, int], bool], list[trimesh.Trimesh]] = {}
    for geom in range(model.ngeom):
        mesh = _mesh(model, geom)
        if mesh is None:
            continue
        body = int(model.geom_bodyid[geom])
        if model.body_weldid[body] == 0:
            body, place, turn = 0, data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
        else:
            place, turn = model.geom_pos[geom], _matrix(model.geom_quat[geom])
        mesh.apply_transform(_transform(place, turn))
        is_wall = bool(model.geom_group[geom] == WALLS)
        is_wall |= body == 0 and float(mesh.bounds[0, 2]) > OVERHEAD
        colour = _colour(model.geom_rgba[geom])
        found.setdefault((body, colour, is_wall), []).append(mesh)
    return [_part(*key, meshes) for key, meshes in found.items()]


def _mesh(model: mujoco.MjModel, geom: int) -> trimesh.Trimesh | None:
    """Triangles of a geom in its own frame; None where it is not to be seen."""
    if model.geom_group[geom] == CEILING or model.geom_rgba[geom, 3] == 0.0:
        return None
    kind, (a, b, c) = mujoco.mjtGeom(int(model.geom_type[geom])), model.geom_size[geom].tolist()
    create = trimesh.creation
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return create.box(extents=(2 * a, 2 * b, 2 * c))
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return create.cylinder(a, height=2 * b, sections=SECTIONS)
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return create.capsule(height=2 * b, radius=a, count=(SECTIONS, SECTIONS // 2))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return create.icosphere(2, a)
    return None  # an infinite floor; there are no meshes in our homes


def _part(
    body: int, colour: tuple[int, int, int], is_wall: bool, meshes: list[trimesh.Trimesh]
) -> Part:
    """Triangles of one colour, joined."""
    whole = trimesh.util.concatenate(meshes)
    assert isinstance(whole, trimesh.Trimesh)
    return Part(body, np.asarray(whole.vertices), np.asarray(whole.faces), colour, is_wall)


def _colour(rgba: Sequence[float] | np.ndarray) -> tuple[int, int, int]:
    red, green, blue = (round(255 * float(each)) for each in rgba[:3])
    return red, green, blue


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def _transform(place: np.ndarray, turn: np.ndarray) -> np.ndarray:
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turn, place
    return whole
