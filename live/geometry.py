"""Triangles of a home: what stands still as one part, and a part for each body that moves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
import trimesh  # comes with viser

from nav.buildings import load_building
from rearrange.compiled_models import flat_texture, geom_color, mesh_arrays, texture_colors
from rearrange.robot import find_robot
from rearrange.scenes.apartment import CEILING_GROUP, WALL_GROUP
from rearrange.sim.apartment_model import load_apartment
from skills.sight import FLOOR, Sight

OVERHEAD = 1.35  # [m]; what hangs above hides the robot as a wall does
SECTIONS = 20  # sides of a cylinder
AGENT = 1  # body of a navigation task's agent
AGENT_SIZE = 0.18, 0.9  # radius and height of it [m]
AGENT_COLOUR, FACE_COLOUR = (60, 110, 200), (250, 200, 60)


Mesh = tuple[np.ndarray, np.ndarray]  # vertices [V, 3] in m, faces [F, 3]


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

    @property
    def key(self) -> Hashable:
        """Equal for parts that look the same."""
        shape = self.vertices.tobytes(), self.faces.tobytes()
        return self.body, self.colour, self.is_wall, *shape


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
        for slot in range(len(home.scene.objects))
        if slot not in sight.slots
    }
    return [part for part in parts_of(home.model, data) if part.body not in parked]


def building_parts(name: str) -> list[Part]:
    """The parts of a building in which nothing moves, without ceilings."""
    found: dict[tuple[tuple[int, int, int], bool], list[Mesh]] = {}
    for solid in load_building(name).solids:
        if solid.group == CEILING_GROUP or solid.color[3] == 0.0:
            continue
        a, b, c = solid.size
        vertices, faces = cylinder(a, b) if solid.kind == "cylinder" else box(a, b, c)
        turn = _matrix(np.array((np.cos(solid.yaw / 2), 0.0, 0.0, np.sin(solid.yaw / 2))))
        vertices = vertices @ turn.T + solid.position
        is_wall = solid.group == WALL_GROUP or bool(vertices[:, 2].min() > OVERHEAD)
        found.setdefault((_colour(solid.color), is_wall), []).append((vertices, faces))
    return [_part(0, colour, is_wall, meshes) for (colour, is_wall), meshes in found.items()]


def agent_parts() -> list[Part]:
    """The agent of a navigation task, which looks along its x axis."""
    radius, height = AGENT_SIZE
    body, faces = cylinder(radius, height / 2)
    body = body + np.array((0.0, 0.0, height / 2))
    face, face_faces = box(0.06, 0.08, 0.04)
    face = face + np.array((radius, 0.0, height - 0.06))
    return [
        _part(AGENT, AGENT_COLOUR, False, [(body, faces)]),
        _part(AGENT, FACE_COLOUR, False, [(face, face_faces)]),
    ]


def parts_of(model: mujoco.MjModel, data: mujoco.MjData) -> list[Part]:
    """The visible parts of a home, ceilings and infinite floors left out.

    Args:
        model: The home with the robot.
        data: Its state; bodies that never move are taken where they are.
    """
    found: dict[tuple[int, tuple[int, int, int], bool], list[Mesh]] = {}
    for geom in range(model.ngeom):
        mesh = _mesh(model, geom)
        if mesh is None:
            continue
        vertices, faces = mesh
        body = int(model.geom_bodyid[geom])
        if model.body_weldid[body] == 0:
            body, place, turn = 0, data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
        else:
            place, turn = model.geom_pos[geom], _matrix(model.geom_quat[geom])
        vertices = vertices @ turn.T + place
        is_wall = bool(model.geom_group[geom] == WALL_GROUP)
        is_wall |= body == 0 and bool(vertices[:, 2].min() > OVERHEAD)
        colour = _colour_of(model, geom)
        found.setdefault((body, colour, is_wall), []).append((vertices, faces))
    return [_part(*key, meshes) for key, meshes in found.items()]


def _mesh(model: mujoco.MjModel, geom: int) -> Mesh | None:
    """Triangles of a geom in its own frame; None where it is not to be seen."""
    if model.geom_group[geom] == CEILING_GROUP or model.geom_rgba[geom, 3] == 0.0:
        return None
    kind, (a, b, c) = mujoco.mjtGeom(int(model.geom_type[geom])), model.geom_size[geom].tolist()
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return box(a, b, c)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return cylinder(a, b)
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return capsule(a, b)
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return sphere(a)
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        vertices, faces = sphere(1.0)
        return vertices * (a, b, c), faces
    if kind == mujoco.mjtGeom.mjGEOM_MESH:  # of homes, objects and robots from files
        found = mesh_arrays(model, int(model.geom_dataid[geom]))
        return np.array(found.vertices, float), np.array(found.faces)
    return None  # an infinite floor


# Shapes are made once and stretched: trimesh takes long for each, and a home has hundreds


def box(a: float, b: float, c: float) -> Mesh:
    """A box of half sizes a, b, c, m."""
    vertices, faces = _unit_box()
    return vertices * (a, b, c), faces


def cylinder(radius: float, half_height: float) -> Mesh:
    """A cylinder around the z axis, m."""
    vertices, faces = _unit_cylinder()
    return vertices * (radius, radius, half_height), faces


def sphere(radius: float) -> Mesh:
    """A sphere, m."""
    vertices, faces = _unit_sphere()
    return vertices * radius, faces


@lru_cache(maxsize=256)
def capsule(radius: float, half_height: float) -> Mesh:
    """A cylinder around the z axis with half a sphere at each end, m."""
    count = SECTIONS, SECTIONS // 2
    return _triangles(trimesh.creation.capsule(height=2 * half_height, radius=radius, count=count))


@lru_cache
def _unit_box() -> Mesh:
    return _triangles(trimesh.creation.box(extents=(2.0, 2.0, 2.0)))


@lru_cache
def _unit_cylinder() -> Mesh:
    return _triangles(trimesh.creation.cylinder(1.0, height=2.0, sections=SECTIONS))


@lru_cache
def _unit_sphere() -> Mesh:
    return _triangles(trimesh.creation.icosphere(2, 1.0))


def _triangles(mesh: trimesh.Trimesh) -> Mesh:
    return np.array(mesh.vertices), np.array(mesh.faces)


def _part(body: int, colour: tuple[int, int, int], is_wall: bool, meshes: list[Mesh]) -> Part:
    """Triangles of one colour, joined."""
    before = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    faces = [faces + first for (_, faces), first in zip(meshes, before, strict=False)]
    return Part(
        body, np.concatenate([each for each, _ in meshes]), np.concatenate(faces), colour, is_wall
    )


def _colour_of(model: mujoco.MjModel, geom: int) -> tuple[int, int, int]:
    """Colour of a geom, times the mean of its texture."""
    rgba = np.array(geom_color(model, geom))
    texture = flat_texture(model, int(model.geom_matid[geom]))
    if texture >= 0:
        rgba[:3] *= texture_colors(model, texture).mean(axis=(0, 1)) / 255.0
    return _colour(rgba)


def _colour(rgba: Sequence[float] | np.ndarray) -> tuple[int, int, int]:
    red, green, blue = (round(255 * float(each)) for each in rgba[:3])
    return red, green, blue


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
