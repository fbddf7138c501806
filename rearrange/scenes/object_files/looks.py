"""What is seen of an object's model: its meshes with their textures, and other shapes as their hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from rearrange.compiled_models import (
    GEOM,
    flat_texture,
    geom_color,
    kind_of,
    mesh_arrays,
    seen_of,
    texture_colors,
)
from rearrange.scenes.home_files.shapes import local_cloud
from rearrange.scenes.objects import MeshPart

TEXELS = 128  # of a texture along a side, at most: each apartment that is kept has its own copy


@dataclass(frozen=True)
class Frame:
    """The frame of an object: `matrix` @ point of the model + `origin` is a point in it."""

    matrix: np.ndarray
    origin: np.ndarray

    def points(self, points: np.ndarray) -> np.ndarray:
        """Points of the model [N, 3] in the object's frame, m."""
        return points @ self.matrix.T + self.origin

    def directions(self, directions: np.ndarray) -> np.ndarray:
        """Unit vectors of the model [N, 3] in the object's frame."""
        turned = directions @ self.matrix.T
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def seen_parts(
    model: Any, data: Any, geoms: Sequence[int], frame: Frame, color: tuple[float, ...] | None
) -> list[MeshPart]:
    """What is seen of geoms of a posed model.

    Args:
        model: Compiled.
        data: Posed.
        geoms: Of the object.
        frame: Of the object.
        color: RGB in place of the model's colours and textures; None: these.
    """
    return [_part(model, data, geom, frame, color) for geom in seen_of(model, geoms)]


def _part(
    model: Any, data: Any, geom: int, frame: Frame, color: tuple[float, ...] | None
) -> MeshPart:
    own = geom_color(model, geom) if color is None else (color[0], color[1], color[2], 1.0)
    vertices, faces = geom_triangles(model, data, geom)
    vertices = frame.points(vertices)
    if kind_of(model, geom) != GEOM.mjGEOM_MESH:
        return MeshPart(vertices, faces, color=own)
    mesh, material = mesh_arrays(model, int(model.geom_dataid[geom])), int(model.geom_matid[geom])
    normals = mesh.normals @ data.geom_xmat[geom].reshape(3, 3).T
    number, repeat = flat_texture(model, material) if color is None else -1, (1.0, 1.0)
    texture = uvs = uv_faces = None
    if number >= 0:
        texture = _smaller(texture_colors(model, number))
        if mesh.uvs is None or mesh.uv_faces is None:  # nothing says where it is: its mean colour
            red, green, blue = (float(value) for value in texture.mean(axis=(0, 1)) / 255.0)
            own, texture = (own[0] * red, own[1] * green, own[2] * blue, own[3]), None
        else:
            uvs, uv_faces = np.array(mesh.uvs), np.array(mesh.uv_faces)
        u, v = (float(value) for value in model.mat_texrepeat[material])
        repeat = u, v
    return MeshPart(
        vertices, faces, frame.directions(normals), np.array(mesh.normal_faces), uvs, uv_faces, texture,
        repeat, own,
    )  # fmt: skip


def geom_triangles(model: Any, data: Any, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [V, 3], m, and triangles [F, 3] of a geom of a posed model; of what is no mesh, its hull's."""
    if kind_of(model, geom) == GEOM.mjGEOM_MESH:
        mesh = mesh_arrays(model, int(model.geom_dataid[geom]))
        local, faces = np.array(mesh.vertices, float), np.array(mesh.faces)
    else:
        local = local_cloud(model, geom)
        hull = ConvexHull(local)
        corners = local[hull.simplices]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        outwards = np.einsum("ij,ij->i", normals, hull.equations[:, :3])
        faces = np.where(outwards[:, None] < 0.0, hull.simplices[:, ::-1], hull.simplices)
    return local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom], faces


def _smaller(texture: np.ndarray) -> np.ndarray:
    """A texture with at most TEXELS along each side: means of its blocks [H, W, 3]."""
    height, width, _ = texture.shape
    down, right = max(1, -(-height // TEXELS)), max(1, -(-width // TEXELS))
    rows, columns = max(1, height // down), max(1, width // right)
    blocks = texture[: rows * down, : columns * right].reshape(rows, down, columns, right, 3)
    return np.ascontiguousarray(blocks.mean(axis=(1, 3)).round().astype(np.uint8))
