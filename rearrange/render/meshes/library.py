"""Meshes and textures packed for the kernels, shared by all who show them."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rearrange.compiled_models import mesh_arrays, texture_colors
from rearrange.errors import UserError
from rearrange.render.meshes.mesh import Mesh, mesh_of_corners
from rearrange.render.meshes.tree import INNER, NODE, aligned

MESH = 7  # mujoco.mjtGeom
NO_TEXTURE = -1
_FLAT, _RGB_ROLE = 0, 1  # mujoco.mjtTexture and mjtTextureRole: two-dimensional, colour
Array = NDArray[Any]


class Packed(NamedTuple):
    """Triangles of M meshes end to end, in the order of their trees.

    `looks` says where a mesh has its normals, uvs and colours: the row of its first triangle minus that in
    `corners`, or ABSENT.
    """

    nodes: Array  # [N] tree.NODE; `first` counts from the start of the pack
    roots: Array  # of each mesh [M], int32
    corners: Array  # [T, 9] float32, metres
    faces: Array  # index of each triangle in its mesh as given [T], int32
    looks: Array  # of normals, uvs and colours [M, 3], int64
    normals: Array  # [., 9] float32
    uvs: Array  # [., 6] float32
    colours: Array  # [., 9] uint8
    textures: Array  # first texel, height and width of each texture [X, 3], int64
    texels: Array  # [., 3] uint8, sRGB


ABSENT = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class MeshLibrary:
    """Some meshes and textures, packed. Nothing in it changes, and any number of worlds may use it.

    Attributes:
        packed: For the kernels.
        sizes: `Mesh.sizes` of each mesh [M, 4], metres.
    """

    packed: Packed
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, meshes: Sequence[Mesh], textures: Sequence[Array] = ()) -> MeshLibrary:
        """Pack meshes and textures [H, W, 3], uint8, sRGB."""
        counts = np.array([len(mesh.corners) for mesh in meshes], np.int64)
        node_counts = np.array([len(mesh.nodes) for mesh in meshes], np.int64)
        firsts, roots = np.cumsum(counts) - counts, np.cumsum(node_counts) - node_counts
        nodes = np.concatenate([mesh.nodes for mesh in meshes] or [np.empty(0, NODE)])
        # Children count from the start of the pack, and so do triangles.
        inner = nodes["count"] == INNER
        nodes["first"] += np.where(
            inner, np.repeat(roots, node_counts), np.repeat(firsts, node_counts)
        ).astype(np.int32)
        looks = np.stack(
            [_starts([getattr(mesh, name) for mesh in meshes], firsts) for name in _LOOKS], axis=1
        )
        for texture in textures:
            if texture.ndim != 3 or texture.shape[2] != 3 or texture.dtype != np.uint8:
                raise UserError(f"a texture must be uint8 [H, W, 3], not {texture.shape}")
        areas = np.array([texture.shape[0] * texture.shape[1] for texture in textures], np.int64)
        places = [
            (end - area, texture.shape[0], texture.shape[1])
            for texture, area, end in zip(textures, areas, np.cumsum(areas), strict=True)
        ]
        packed = Packed(
            aligned(nodes),
            roots.astype(np.int32),
            _joined([mesh.corners for mesh in meshes], (0, 9), np.float32),
            _joined([mesh.faces for mesh in meshes], (0,), np.int32),
            looks,
            _joined([mesh.normals for mesh in meshes], (0, 9), np.float32),
            _joined([mesh.uvs for mesh in meshes], (0, 6), np.float32),
            _joined([mesh.colours for mesh in meshes], (0, 9), np.uint8),
            np.array(places, np.int64).reshape(-1, 3),
            _joined([texture.reshape(-1, 3) for texture in textures], (0, 3), np.uint8),
        )
        return cls(packed, np.array([mesh.sizes for mesh in meshes]).reshape(-1, 4))


_LOOKS = ("normals", "uvs", "colours")


def _joined(parts: Sequence[Array], empty: tuple[int, ...], dtype: Any) -> Array:
    return np.ascontiguousarray(np.concatenate([np.empty(empty, dtype), *parts]))


def _starts(parts: Sequence[Array], firsts: Array) -> Array:
    """Offsets from rows of `corners` to rows of something that only some meshes have [M]."""
    counts = np.array([len(part) for part in parts], np.int64)
    return np.where(counts > 0, np.cumsum(counts) - counts - firsts, ABSENT)


_KNOWN: weakref.WeakValueDictionary[bytes, MeshLibrary] = weakref.WeakValueDictionary()


def library_of_model(model: Any) -> MeshLibrary:
    """Meshes and flat textures of a compiled model, by their ids there.

    Models with the same meshes and textures have the same library, as long as one of them is in use.
    """
    parts = [np.ascontiguousarray(getattr(model, name)) for name in _FIELDS]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr((part.dtype, part.shape)).encode())
        digest.update(part.tobytes())
    key = digest.digest()
    library = _KNOWN.get(key)
    if library is None:
        meshes = [_mesh_of_model(model, i) for i in range(model.nmesh)]
        textures = [np.array(texture_colors(model, i)) for i in range(model.ntex)]
        library = _KNOWN[key] = MeshLibrary.of(meshes, textures)
    return library


_FIELDS = (
    *("mesh_vert", "mesh_face", "mesh_normal", "mesh_facenormal", "mesh_texcoord"),
    *("mesh_facetexcoord", "mesh_vertadr", "mesh_faceadr", "mesh_facenum", "mesh_normaladr"),
    *("mesh_texcoordadr", "tex_data", "tex_adr", "tex_type", "tex_height", "tex_width"),
    "tex_nchannel",
)


def _mesh_of_model(model: Any, i: int) -> Mesh:
    """Mesh i of a compiled model, in the frame of its geoms: MuJoCo has centred and turned it."""
    found = mesh_arrays(model, i)
    uvs = None if found.uvs is None else found.uvs[found.uv_faces]
    return mesh_of_corners(
        found.vertices[found.faces],
        found.normals[found.normal_faces],
        uvs,
        name=f"mesh '{model.mesh(i).name}'",
    )


@dataclass(frozen=True)
class MeshGeoms:
    """Geoms of a model that show meshes, K of them.

    Attributes:
        library: The meshes.
        ids: Geoms [K], int64.
        meshes: Mesh of each [K], int64.
        scales: Factors along the mesh's axes, by which it is stretched before it is turned [K, 3].
        textures: Texture of each, or NO_TEXTURE [K], int64.
        repeats: How often the texture is repeated along u and v [K, 2].
    """

    library: MeshLibrary
    ids: NDArray[np.int64]
    meshes: NDArray[np.int64]
    scales: NDArray[np.float64]
    textures: NDArray[np.int64]
    repeats: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        library: MeshLibrary,
        meshes: Sequence[int] | None = None,
        scales: Sequence[Sequence[float]] | None = None,
        textures: Sequence[int] | None = None,
    ) -> MeshGeoms:
        """Geoms 0 to K - 1, without a model.

        Args:
            library: The meshes.
            meshes: Mesh of each [K]; None: each mesh of the library once.
            scales: See above [K, 3]; None: as they are.
            textures: See above [K]; None: without.
        """
        chosen = np.arange(len(library.sizes)) if meshes is None else np.array(meshes, np.int64)
        count = len(chosen)
        stretch = np.ones((count, 3)) if scales is None else np.array(scales, np.float64)
        if not (np.isfinite(stretch).all() and (stretch > 0.0).all()):
            raise UserError(f"scales of meshes must be above zero, not {stretch.tolist()}")
        return cls(
            library=library,
            ids=np.arange(count),
            meshes=chosen,
            scales=stretch,
            textures=np.full(count, NO_TEXTURE)
            if textures is None
            else np.array(textures, np.int64),
            repeats=np.ones((count, 2)),
        )

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Half sizes of a box around each geom's origin, and a bounding radius [K, 4], metres."""
        sizes = self.library.sizes[self.meshes]
        sizes[:, :3] *= self.scales
        sizes[:, 3] *= self.scales.max(axis=1, initial=0.0)
        return sizes

    def keep(self, mask: NDArray[np.bool_]) -> MeshGeoms:
        """The geoms where mask [K] is true."""
        return MeshGeoms(
            self.library,
            self.ids[mask],
            self.meshes[mask],
            self.scales[mask],
            self.textures[mask],
            self.repeats[mask],
        )


def mesh_geoms(model: Any, shown: NDArray[np.bool_]) -> MeshGeoms | None:
    """The geoms of a model that show meshes and are shown [ngeom]; None if there are none."""
    ids = np.flatnonzero(shown & (np.asarray(model.geom_type) == MESH))
    if ids.size == 0:
        return None
    textures, repeats = np.full(len(ids), NO_TEXTURE), np.ones((len(ids), 2))
    for k, material in enumerate(model.geom_matid[ids]):
        if material >= 0:
            texture = int(model.mat_texid[material, _RGB_ROLE])
            if texture >= 0 and model.tex_type[texture] == _FLAT:
                textures[k], repeats[k] = texture, model.mat_texrepeat[material]
    meshes = np.asarray(model.geom_dataid[ids], np.int64)
    return MeshGeoms(
        library_of_model(model), ids, meshes, np.ones((len(ids), 3)), textures, repeats
    )
