"""Objects from their models: frame, size, mass, convex parts, and a primitive around them for planners.

An object's frame has its origin in the middle of the box around what is solid of it, z up as it stands.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from pathlib import Path

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from rearrange.compiled_models import GEOM, collides, compile_file, compile_spec, kind_of
from rearrange.errors import UserError
from rearrange.scenes.home_files.shapes import cloud
from rearrange.scenes.object_files.declaration import (
    COACD,
    HULL,
    MASSES,
    MESH_FILES,
    ObjectWords,
    read_declaration,
)
from rearrange.scenes.object_files.looks import Frame, geom_triangles, seen_parts
from rearrange.scenes.objects import MeshPart, ObjectKind, ObjectPart

SMALLEST, LARGEST = 0.01, 0.4  # sides of the box around an object [m]
FOOT = 0.003  # what is no higher over the lowest point stands on the ground [m]
ROUND = 1.1  # farthest point over half the width, up to which an object is a cylinder for planners
CONCAVITY, SEED = 0.08, 0  # of CoACD


@cache
def read_objects(path: Path) -> tuple[ObjectKind, ...]:
    """What each slot of a set of objects holds.

    Args:
        path: Of its YAML file, resolved.

    Raises:
        UserError: It cannot be read, or makes no object.
    """
    words = read_declaration(path)
    kinds = ((_kind(path, name, each), each.count) for name, each in words.objects.items())
    return tuple(kind for kind, count in kinds for _ in range(count))


def _kind(path: Path, name: str, words: ObjectWords) -> ObjectKind:
    """One kind of object; raises UserError."""
    key = f"{path}: objects.{name}"
    if words.model.suffix.lower() in MESH_FILES:
        model = compile_spec(lambda: _of_mesh(words), f"{key}.model: {words.model}")
    else:
        model = compile_file(words.model, f"{key}.model")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geoms = [
        geom
        for geom in range(model.ngeom)
        if kind_of(model, geom) not in (GEOM.mjGEOM_PLANE, GEOM.mjGEOM_HFIELD)
    ]
    solid = [geom for geom in geoms if collides(model, geom)] or geoms
    if not solid:
        raise UserError(f"{key}.model: {words.model} has no geom")
    frame = Frame(words.scale * _turn(words.turn), np.zeros(3))
    points = np.concatenate([frame.points(cloud(model, data, geom)) for geom in solid])
    low, high = points.min(axis=0), points.max(axis=0)
    half, frame = (high - low) / 2, Frame(frame.matrix, -(low + high) / 2)
    _check_size(key, words, half)
    hulls = _hulls(key, words, [geom_triangles(model, data, geom) for geom in solid], frame)
    _check_standing(key, hulls)
    mass = words.mass
    if mass is None:
        mass = float(np.sum(model.body_mass)) * words.scale**3
        if not MASSES[0] <= mass <= MASSES[1]:
            raise UserError(
                f"{key}.model: its mass is {mass:.3g} kg, {MASSES[0]:g} to {MASSES[1]:g} can be had: say mass"
            )
    seen = seen_parts(model, data, geoms, frame, words.color)
    if not seen:
        raise UserError(
            f"{key}.model: nothing of {words.model.name} is seen: geoms of groups 0 to 2 with alpha are"
        )
    radius = float(np.hypot(*(points - (low + high) / 2)[:, :2].T).max())
    around = _primitive(half, radius, seen[0].color)
    return ObjectKind(name, mass, float(half[2]), radius, (around,), (*hulls, *seen))


def _of_mesh(words: ObjectWords) -> mujoco.MjSpec:
    """A model of one mesh file, with its texture."""
    spec = mujoco.MjSpec()
    spec.add_mesh(
        name="mesh",
        file=str(words.model.resolve()),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
    )
    look = {}
    if words.texture is not None:
        file = str(words.texture.resolve())
        spec.add_texture(name="look", type=mujoco.mjtTexture.mjTEXTURE_2D, file=file)
        material = spec.add_material(name="look")
        material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "look"
        look = {"material": "look"}
    spec.worldbody.add_body().add_geom(type=GEOM.mjGEOM_MESH, meshname="mesh", **look)
    return spec


def _turn(degrees: tuple[float, ...]) -> np.ndarray:
    """Rotation [3, 3] about x, y and z, one after the other."""
    found = np.eye(3)
    for axis, angle in enumerate(np.radians(degrees)):
        c, s = math.cos(angle), math.sin(angle)
        first, second = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[first, first], turn[first, second] = c, -s
        turn[second, first], turn[second, second] = s, c
        found = turn @ found
    return found


def _check_size(key: str, words: ObjectWords, half: np.ndarray) -> None:
    sides = 2 * half
    if sides.min() < SMALLEST or sides.max() > LARGEST:
        told = " by ".join(f"{side:.3g}" for side in sides)
        raise UserError(
            f"{key}.model: {words.model.name} is {told} m large, {SMALLEST:g} to {LARGEST:g} m can be had: "
            "say scale"
        )


def _hulls(
    key: str, words: ObjectWords, solids: list[tuple[np.ndarray, np.ndarray]], frame: Frame
) -> list[MeshPart]:
    """Convex parts in the object's frame."""
    if words.collision == COACD:
        clouds = [part for each in solids for part in _decomposed(key, *each)]
    else:
        clouds = [vertices for vertices, _ in solids]
    if words.collision == HULL:
        clouds = [np.concatenate(clouds)]
    parts = []
    for points in clouds:
        points = frame.points(points)
        try:
            hull = ConvexHull(points)
        except QhullError:  # flat: nothing that could be touched
            continue
        parts.append(MeshPart(points[hull.vertices], collides=True, volume=float(hull.volume)))
    if not parts:
        raise UserError(f"{key}.model: {words.model.name} is flat")
    return parts


def _decomposed(key: str, vertices: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    """Corners of the convex parts of triangles, the same in every process."""
    try:
        coacd = import_module("coacd")
    except ImportError:
        raise UserError(
            f"{key}.collision: no package coacd is installed: pip install coacd"
        ) from None
    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(vertices, faces), threshold=CONCAVITY, seed=SEED)
    return [np.asarray(points, float) for points, _ in parts]


def _check_standing(key: str, parts: list[MeshPart]) -> None:
    """Raise a UserError where the object would topple at once."""
    hulls = [ConvexHull(part.vertices) for part in parts]
    center = np.zeros(3)
    for part, hull in zip(parts, hulls, strict=True):
        center += part.volume * _centroid(part.vertices[hull.simplices])
    center /= sum(part.volume for part in parts)
    points = np.concatenate([part.vertices for part in parts])
    foot = points[points[:, 2] < points[:, 2].min() + FOOT, :2]
    try:
        equations = ConvexHull(foot).equations
    except QhullError:
        equations = np.array([[0.0, 0.0, 1.0]])  # on a point or an edge
    if (equations[:, :2] @ center[:2] + equations[:, 2] > 0.0).any():
        raise UserError(f"{key}.turn: it topples as it stands: say by turn how it stands")


def _centroid(triangles: np.ndarray) -> np.ndarray:
    """Centre [3] of what triangles [T, 3, 3] of a convex hull enclose: that of cones to a point inside."""
    inside = triangles.mean(axis=(0, 1))
    volumes = np.abs(np.linalg.det(triangles - inside))
    middles = (triangles.sum(axis=1) + inside) / 4
    return np.asarray(volumes @ middles / volumes.sum())


def _primitive(half: np.ndarray, radius: float, color: tuple[float, ...]) -> ObjectPart:
    """The upright cylinder or box around an object."""
    red, green, blue = color[:3]
    x, y, z = (float(value) for value in half)
    if radius <= ROUND * min(x, y):
        return ObjectPart("cylinder", (radius, z, 0.0), (red, green, blue, 1.0))
    return ObjectPart("box", (x, y, z), (red, green, blue, 1.0))
