"""Looks of a robot's links: the model's meshes where it is told so, else what collides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from rearrange.compiled_models import GEOM, geom_color, kind_of, mesh_arrays, seen_of
from rearrange.robot.files.model import RobotModel
from rearrange.robot.files.shapes import Piece, primitive_of
from rearrange.robot.parts import Color, cover

UNSEEN = (0.0, 0.0, 0.0, 0.0)
GREY = (0.6, 0.62, 0.65, 1.0)


@dataclass(frozen=True)
class Shown:
    """Triangles of one colour in the frame of a link: arrays as MuJoCo's models have them, m."""

    color: Color
    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray
    normal_faces: np.ndarray


@dataclass(frozen=True)
class Look:
    """What is seen of a link.

    Attributes:
        colors: Of what collides; without alpha where it is not seen.
        solids: Further solids, with their colours.
        meshes: Meshes.
    """

    colors: tuple[Color, ...]
    solids: tuple[tuple[Piece, Color], ...] = ()
    meshes: tuple[Shown, ...] = ()


def look_of(source: RobotModel, geoms: Sequence[int], count: int, origin: np.ndarray) -> Look:
    """What is seen of geoms of a link whose frame has its origin there [3], and that has `count` pieces."""
    drawn = seen_of(source.model, geoms)
    if not source.declaration.meshes or not drawn:
        return Look((_main_color(source, drawn),) * count)
    meshes: dict[Color, list[tuple[np.ndarray, ...]]] = {}
    solids = []
    for geom in drawn:
        color = geom_color(source.model, geom)
        if kind_of(source.model, geom) == GEOM.mjGEOM_MESH:
            meshes.setdefault(color, []).append(_triangles(source, geom, origin))
        else:
            solid = primitive_of(source.model, geom, *source.place(geom)).moved(origin)
            solids.append((solid, color))
    shown = tuple(Shown(color, *_joined(parts)) for color, parts in meshes.items())
    return Look((UNSEEN,) * count, tuple(solids), shown)


def _main_color(source: RobotModel, drawn: Sequence[int]) -> Color:
    """Colour of the largest of geoms."""
    if not drawn:
        return GREY
    largest = max(drawn, key=lambda geom: float(source.model.geom_rbound[geom]))
    return (*geom_color(source.model, largest)[:3], 1.0)


def _triangles(source: RobotModel, geom: int, origin: np.ndarray) -> tuple[np.ndarray, ...]:
    """Vertices, faces, normals and faces of normals of a mesh in the frame of a link."""
    mesh = mesh_arrays(source.model, int(source.model.geom_dataid[geom]))
    place, turn = source.place(geom)
    vertices, normals = mesh.vertices @ turn.T + place - origin, mesh.normals @ turn.T
    return vertices, mesh.faces, normals, mesh.normal_faces


def _joined(parts: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Meshes as one."""
    vertices, faces, normals, normal_faces = [], [], [], []
    points, directions = 0, 0
    for each in parts:
        vertices.append(each[0])
        faces.append(each[1] + points)
        normals.append(each[2])
        normal_faces.append(each[3] + directions)
        points, directions = points + len(each[0]), directions + len(each[2])
    return tuple(map(np.concatenate, (vertices, faces, normals, normal_faces)))


def add_look(spec: mujoco.MjSpec, body: mujoco.MjsBody, look: Look, name: str) -> None:
    """Add the meshes of a look to a body; they are called after it."""
    for k, shown in enumerate(look.meshes):
        mesh = spec.add_mesh(name=f"{name}_{k}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = shown.vertices.ravel(), shown.faces.ravel()
        mesh.usernormal, mesh.userfacenormal = shown.normals.ravel(), shown.normal_faces.ravel()
        cover(body, "mesh", shown.color, meshname=mesh.name, mass=0.0)
