"""Triangles of a compiled home: what stands still as one part, and a part for each body that moves."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import trimesh  # comes with viser

CEILING = 3  # geom group
WALLS = 2  # geom group
SECTIONS = 20  # sides of a cylinder


@dataclass(frozen=True)
class Part:
    """Triangles of one colour in the frame of a body.

    Attributes:
        body: Number of the body; 0 is the world's frame.
        vertices: [V, 3], m.
        faces: [F, 3].
        colour: Red, green, blue, 0 to 255.
        is_wall: A wall, which may hide what happens.
    """

    body: int
    vertices: np.ndarray
    faces: np.ndarray
    colour: tuple[int, int, int]
    is_wall: bool


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
        red, green, blue = (round(255 * part) for part in model.geom_rgba[geom, :3].tolist())
        is_wall = model.geom_group[geom] == WALLS
        found.setdefault((body, (red, green, blue), bool(is_wall)), []).append(mesh)
    return [
        Part(body, np.asarray(whole.vertices), np.asarray(whole.faces), colour, is_wall)
        for (body, colour, is_wall), meshes in found.items()
        for whole in [_joined(meshes)]
    ]


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


def _joined(meshes: list[trimesh.Trimesh]) -> trimesh.Trimesh:
    whole = trimesh.util.concatenate(meshes)
    assert isinstance(whole, trimesh.Trimesh)
    return whole


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def _transform(place: np.ndarray, turn: np.ndarray) -> np.ndarray:
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turn, place
    return whole
