"""What is seen of an object's model: its meshes with their textures, and other shapes as their hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

from rearrange.scenes.home_files.model import SHOWN_GROUPS, geom_color
from rearrange.scenes.home_files.shapes import kind_of, local_cloud
from rearrange.scenes.objects import MeshPart

GEOM = mujoco.mjtGeom
GREY = (0.6, 0.6, 0.6, 1.0)
TEXELS = 128  # of a texture along a side, at most: each apartment that is kept has its own copy
_RGB, _FLAT = int(mujoco.mjtTextureRole.mjTEXROLE_RGB), int(mujoco.mjtTexture.mjTEXTURE_2D)


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
    drawn = [
        geom
        for geom in geoms
        if geom_color(model, geom)[3] > 0.0 and int(model.geom_group[geom]) < SHOWN_GROUPS
    ]
    bits = model.geom_contype | model.geom_conaffinity
    # Of a model that has both, what collides is not meant to be seen
    drawn = [geom for geom in drawn if not bits[geom]] or drawn
    return [_part(model, data, geom, frame, color) for geom in drawn]


def _part(
    model: Any, data: Any, geom: int, frame: Frame, color: tuple[float, ...] | None
) -> MeshPart:
    own = geom_color(model, geom) if color is None else (color[0], color[1], color[2], 1.0)
    vertices, faces = geom_triangles(model, data, geom)
    vertices = frame.points(vertices)
    if kind_of(model, geom) != GEOM.mjGEOM_MESH:
        return MeshPart(vertices, faces, color=own)
    mesh = int(model.geom_dataid[geom])
    rows = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    start, count = model.mesh_normaladr[mesh], model.mesh_normalnum[mesh]
    normals = model.mesh_normal[start : start + count] @ data.geom_xmat[geom].reshape(3, 3).T
    texture, repeat = (
        _texture(model, int(model.geom_matid[geom])) if color is None else (None, (1.0, 1.0))
    )
    uvs = uv_faces = None
    first = int(model.mesh_texcoordadr[mesh])
    if texture is not None and first >= 0:
        uvs = np.array(model.mesh_texcoord[first : first + model.mesh_texcoordnum[mesh]])
        uv_faces = np.array(model.mesh_facetexcoord[rows])
    elif texture is not None:  # nothing says where it is: its mean colour
        red, green, blue = (float(value) for value in texture.mean(axis=(0, 1)) / 255.0)
        own, texture = (own[0] * red, own[1] * green, own[2] * blue, own[3]), None
    return MeshPart(
        vertices, faces, frame.directions(normals), np.array(model.mesh_facenormal[rows]),
        uvs, uv_faces, texture, repeat, own,
    )  # fmt: skip


def geom_triangles(model: Any, data: Any, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [V, 3], m, and triangles [F, 3] of a geom of a posed model; of what is no mesh, its hull's."""
    if kind_of(model, geom) == GEOM.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        first, rows = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        local = np.array(model.mesh_vert[start : start + count], float)
        faces = np.array(model.mesh_face[first : first + rows])
    else:
        local = local_cloud(model, geom)
        hull = ConvexHull(local)
        corners = local[hull.simplices]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        outwards = np.einsum("ij,ij->i", normals, hull.equations[:, :3])
        faces = np.where(outwards[:, None] < 0.0, hull.simplices[:, ::-1], hull.simplices)
    return local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom], faces


def _texture(model: Any, material: int) -> tuple[np.ndarray | None, tuple[float, float]]:
    """Flat texture of a material [H, W, 3], small, and how often it is repeated."""
    texture = int(model.mat_texid[material, _RGB]) if material >= 0 else -1
    if texture < 0 or int(model.tex_type[texture]) != _FLAT:
        return None, (1.0, 1.0)
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels, start = int(model.tex_nchannel[texture]), int(model.tex_adr[texture])
    texels = model.tex_data[start : start + height * width * channels]
    texels = texels.reshape(height, width, channels)
    colors = texels[..., :3] if channels >= 3 else np.repeat(texels[..., :1], 3, axis=2)
    u, v = (float(value) for value in model.mat_texrepeat[material])
    return _smaller(colors), (u, v)


def _smaller(texture: np.ndarray) -> np.ndarray:
    """A texture with at most TEXELS along each side: means of its blocks [H, W, 3]."""
    height, width, _ = texture.shape
    down, right = max(1, -(-height // TEXELS)), max(1, -(-width // TEXELS))
    rows, columns = max(1, height // down), max(1, width // right)
    blocks = texture[: rows * down, : columns * right].reshape(rows, down, columns, right, 3)
    return np.ascontiguousarray(blocks.mean(axis=(1, 3)).round().astype(np.uint8))
