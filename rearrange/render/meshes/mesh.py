"""Triangle meshes: corners in the order of a tree, and how they look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rearrange.errors import UserError
from rearrange.render.meshes.tree import build_tree

LEAF = 2  # triangles of a leaf
SLIVER = 1e-7  # height over length below which a triangle has no area


@dataclass(frozen=True)
class Mesh:
    """T triangles in the order of their tree, without those that have no area.

    Nothing in it changes, so that any number of worlds may show it.

    Attributes:
        name: For messages.
        nodes: The tree [N], see tree.NODE.
        corners: Three points of each triangle [T, 9], float32, mesh frame, metres.
        faces: Index of each triangle in what the mesh was made of [T], int32.
        normals: At each corner [T, 9], float32, unit length; or [0, 9]: flat triangles.
        uvs: Place in the texture of each corner [T, 6], float32, (0, 0) its first texel; or [0, 6].
        colours: Red, green and blue of each corner [T, 9], uint8, sRGB; or [0, 9].
        sizes: Largest |x|, |y|, |z| and distance of a corner from the origin [4], metres.
    """

    name: str
    nodes: NDArray[Any]
    corners: NDArray[np.float32]
    faces: NDArray[np.int32]
    normals: NDArray[np.float32]
    uvs: NDArray[np.float32]
    colours: NDArray[np.uint8]
    sizes: NDArray[np.float64]


def mesh_of_arrays(
    vertices: ArrayLike,
    faces: ArrayLike,
    normals: ArrayLike | None = None,
    uvs: ArrayLike | None = None,
    colours: ArrayLike | None = None,
    name: str = "mesh",
) -> Mesh:
    """Make a mesh of vertices and of triangles between them.

    Args:
        vertices: Points [V, 3], metres.
        faces: Three vertices of each triangle [T, 3].
        normals: At each vertex [V, 3], any length, for smooth shading; None for flat triangles.
        uvs: Place in the texture of each vertex [V, 2]; None without a texture.
        colours: Of each vertex [V, 3], uint8, sRGB; None for the colour of the geom alone.
        name: For messages.

    Raises:
        UserError: A number is not finite, a vertex does not exist, or an array has another shape.
    """
    points = _floats(vertices, 3, name, "vertices")
    corners = _corner_indices(faces, len(points), name)
    if colours is not None:
        colours = np.asarray(colours)
        if colours.dtype != np.uint8:
            raise UserError(f"{name}: colours must be uint8, 0 to 255, not {colours.dtype}")
    given = {"normals": (normals, 3), "uvs": (uvs, 2), "colours": (colours, 3)}
    of_corners = {
        key: None
        if values is None
        else _of_vertices(values, width, corners, len(points), name, key)
        for key, (values, width) in given.items()
    }
    return mesh_of_corners(points[corners], name=name, **of_corners)


def mesh_of_corners(
    corners: NDArray[Any],
    normals: NDArray[Any] | None = None,
    uvs: NDArray[Any] | None = None,
    colours: NDArray[Any] | None = None,
    name: str = "mesh",
) -> Mesh:
    """Make a mesh of triangles [T, 3, 3]; what is known of each corner [T, 3, k] as in `mesh_of_arrays`."""
    points = _floats(corners.reshape(-1, 3), 3, name, "vertices").reshape(-1, 3, 3)
    kept = np.flatnonzero(_has_area(points)).astype(np.int32)
    nodes, order = build_tree(points[kept].min(axis=1), points[kept].max(axis=1), LEAF)
    order = kept[order]
    if normals is not None:
        length = np.linalg.norm(normals, axis=2, keepdims=True)
        normals = normals / np.where(length > 0.0, length, 1.0)
    reach = np.linalg.norm(points, axis=2).max(initial=0.0)
    return Mesh(
        name=name,
        nodes=nodes,
        corners=points.reshape(-1, 9)[order],
        faces=order,
        normals=_ordered(normals, order, 9, np.float32),
        uvs=_ordered(uvs, order, 6, np.float32),
        colours=_ordered(colours, order, 9, np.uint8),
        sizes=np.append(np.abs(points).max(axis=(0, 1), initial=0.0), reach).astype(float),
    )


def _has_area(points: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which triangles [T, 3, 3] are no lines or points, as far as single precision tells [T]."""
    first, second = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    double = np.linalg.norm(np.cross(first.astype(float), second), axis=1)
    square = np.maximum((first**2).sum(axis=1), (second**2).sum(axis=1))
    return double > SLIVER * square


def _ordered(values: NDArray[Any] | None, order: NDArray[np.int32], width: int, dtype: Any) -> Any:
    if values is None:
        return np.empty((0, width), dtype)
    return np.ascontiguousarray(values, dtype).reshape(-1, width)[order]


def _floats(values: ArrayLike, width: int, name: str, what: str) -> NDArray[np.float32]:
    """Numbers as float32 [n, width], all finite."""
    array = np.asarray(values, np.float32)
    if array.size == 0:
        array = array.reshape(0, width)
    if array.ndim != 2 or array.shape[1] != width:
        raise UserError(f"{name}: {what} must have the shape [n, {width}], not {array.shape}")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise UserError(f"{name}: {what} must be finite numbers, but number {bad} is {array[bad]}")
    return array


def _corner_indices(faces: ArrayLike, count: int, name: str) -> NDArray[np.int64]:
    indices = np.asarray(faces)
    if indices.size == 0:
        return np.empty((0, 3), np.int64)
    if indices.ndim != 2 or indices.shape[1] != 3 or indices.dtype.kind not in "iu":
        raise UserError(f"{name}: faces must be whole numbers [n, 3], not {indices.shape}")
    if indices.min() < 0 or indices.max() >= count:
        bad = int(np.flatnonzero(((indices < 0) | (indices >= count)).any(axis=1))[0])
        raise UserError(
            f"{name}: faces must name vertices 0 to {count - 1}, but face {bad} is {indices[bad]}"
        )
    return indices.astype(np.int64)


def _of_vertices(
    values: ArrayLike, width: int, corners: NDArray[np.int64], count: int, name: str, what: str
) -> NDArray[Any]:
    """What each corner [T, 3, width] has of what each vertex has."""
    array = _floats(values, width, name, what)
    if len(array) != count:
        raise UserError(f"{name}: {what} must be {count}, one for each vertex, not {len(array)}")
    return array[corners]
