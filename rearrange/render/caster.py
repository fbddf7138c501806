"""Depth and segmentation images of MuJoCo geoms, without OpenGL."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from rearrange.caching import cached_njit
from rearrange.render.camera import FAR, NEAR, Camera
from rearrange.render.meshes.library import MeshGeoms, mesh_geoms
from rearrange.render.meshes.painting import paint_meshes
from rearrange.render.meshes.planes import PlaneLooks, plane_looks
from rearrange.render.painting import LANES, paint_geom, write_depth
from rearrange.render.projection import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FAST,
    OCCLUDER,
    PLANE,
    SPHERE,
    TILE,
    WORK_SHAPE,
    bounds_of_sphere,
    describe,
    fill_tiles,
    is_hidden,
)

Array = NDArray[Any]

# For a `cast` without depth. None would be another type, for which the kernel is compiled again.
NO_IMAGE = np.empty((0, 0), np.float32)


@numba.njit(**FAST)
def _locate(xpos, ids, sizes, eye, axes, lens, places):
    """Write right, up, ahead [m] of every geom and whether it may be in the image into places [4, M].

    Loops without branches, so that they vectorise.
    """
    near, far, half_x, half_y = lens[2], lens[3], lens[0], lens[1]
    side_x, side_y = math.sqrt(1.0 + half_x * half_x), math.sqrt(1.0 + half_y * half_y)
    ex, ey, ez = eye[0], eye[1], eye[2]
    a, b, c = axes[0, 0], axes[1, 0], axes[2, 0]
    d, e, f = axes[0, 1], axes[1, 1], axes[2, 1]
    g, h, i = axes[0, 2], axes[1, 2], axes[2, 2]
    rights, ups, aheads, shown = places[0], places[1], places[2], places[3]
    for n in range(ids.size):
        x, y, z = xpos[ids[n], 0] - ex, xpos[ids[n], 1] - ey, xpos[ids[n], 2] - ez
        rights[n] = x * a + y * b + z * c
        ups[n] = x * d + y * e + z * f
        aheads[n] = -(x * g + y * h + z * i)
    for n in range(ids.size):
        ahead, radius = aheads[n], sizes[n, 3]
        inside = (ahead + radius >= near) & (ahead - radius <= far)
        inside &= abs(rights[n]) - ahead * half_x <= radius * side_x
        inside &= abs(ups[n]) - ahead * half_y <= radius * side_y
        shown[n] = 1.0 if inside else 0.0


@numba.njit(**FAST)
def _paint_all(
    kinds, ids, sizes, xpos, xmat, eye, axes, lens, work, buffer, tags, width, rows, tiles, places
):
    """Paint all geoms that may be seen and are not hidden by large ones."""
    near, height = lens[2], buffer.shape[0]
    _locate(xpos, ids, sizes, eye, axes, lens, places)
    tiled = False
    for n in range(ids.size):
        if places[3, n] == 0.0:
            continue
        geom, radius = ids[n], sizes[n, 3]
        right, up, ahead = places[0, n], places[1, n], places[2, n]
        if radius < OCCLUDER and ahead > radius + near:
            if not tiled:
                fill_tiles(buffer, tiles)
                tiled = True
            box = bounds_of_sphere(right, up, ahead, radius, lens, width, height)
            if is_hidden(tiles, box, np.float32(1.0 / (ahead - radius)), height):
                continue
        describe(work, sizes[n], xpos[geom], xmat[geom], eye, axes, lens, width, height)
        center = (right, up, ahead)
        paint_geom(buffer, tags, geom, kinds[n], sizes[n], center, work, rows, lens, width)


@cached_njit(nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def cast(kinds, ids, sizes, xpos, xmat, eye, axes, lens, work, buffer, tags, depth, width, unit):
    """Paint the largest inverse depth into buffer [H, W padded] and geom ids into tags.

    Depth is written into `depth` [H, W], which may be NO_IMAGE, in units of so many metres.
    """
    buffer[:, :] = np.float32(1.0 / lens[3])
    if tags is not None:
        tags[:, :] = -1
    height, padded = buffer.shape
    rows, places = np.empty((2, max(height, padded))), np.empty((4, ids.size))
    tiles = np.empty((height // TILE + 1, padded), np.float32)
    _paint_all(
        kinds, ids, sizes, xpos, xmat, eye, axes, lens, work, buffer, tags, width,
        rows, tiles, places,
    )  # fmt: skip
    write_depth(buffer, depth, lens[3], unit)


@dataclass
class GeomTable:
    """What the caster needs of a model that does not change while an apartment is loaded.

    Scratch images are kept here, so a table serves one thread at a time.

    Attributes:
        geom_count: Number of geoms of the model, the leading size of geom_xpos and geom_xmat.
        ids: Visible geoms [M], int64, large ones first: not in a hidden group, alpha > 0, of a
            known shape.
        kinds: Their mujoco.mjtGeom [M], int64.
        sizes: Half sizes along the geom's axes and bounding radius [M, 4], metres.
        groups: Group of every geom [ngeom].
        rgba: Colour of every geom [ngeom, 4], in [0, 1].
        meshes: The visible geoms that show triangle meshes; None without any.
        planes: Textures of `ids`, which only pictures show; None without any.
    """

    geom_count: int
    ids: Array
    kinds: Array
    sizes: Array
    groups: Array
    rgba: Array
    meshes: MeshGeoms | None = None
    planes: PlaneLooks | None = None
    _work: Array = field(default_factory=lambda: np.zeros(WORK_SHAPE), repr=False)
    _scratch: dict[Any, Array] = field(default_factory=dict, repr=False)

    @classmethod
    def from_model(
        cls,
        model: Any,
        hidden_groups: Collection[int] = (),
        hidden_geoms: Collection[int] = (),
    ) -> "GeomTable":
        """Collect the visible geoms of a model; call it again when sizes or colours change.

        Args:
            model: The model. Planes, spheres, capsules, ellipsoids, cylinders, boxes and
                meshes are drawn; height fields are not.
            hidden_groups: Geom groups that are not drawn.
            hidden_geoms: Further geom ids that are not drawn.
        """
        rgba = _colours(model)
        kinds = np.asarray(model.geom_type, np.int64)
        shown = rgba[:, 3] > 0.0
        shown &= ~np.isin(model.geom_group, np.asarray(list(hidden_groups), int))
        shown[list(hidden_geoms)] = False
        known = np.isin(kinds, (PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX))
        ids = np.flatnonzero(shown & known)
        sizes = _half_sizes(kinds[ids], model.geom_size[ids])
        order = np.argsort(-sizes[:, 3], kind="stable")  # large first: they hide the small
        ids, sizes = ids[order], np.ascontiguousarray(sizes[order])
        return cls(
            geom_count=model.ngeom,
            ids=ids,
            kinds=kinds[ids],
            sizes=sizes,
            groups=np.array(model.geom_group),
            rgba=rgba,
            meshes=mesh_geoms(model, shown),
            planes=plane_looks(model, ids),
        )

    @classmethod
    def of_meshes(cls, meshes: MeshGeoms, rgba: Array | None = None) -> "GeomTable":
        """A table of geoms that all show meshes, without a model.

        Args:
            meshes: The geoms, see `MeshGeoms.of`.
            rgba: Their colours [K, 4], in [0, 1]; None: white.
        """
        count = len(meshes.ids)
        return cls(
            geom_count=count,
            ids=np.empty(0, np.int64),
            kinds=np.empty(0, np.int64),
            sizes=np.empty((0, 4)),
            groups=np.zeros(count, np.int64),
            rgba=np.ones((count, 4)) if rgba is None else np.array(rgba, np.float64),
            meshes=meshes,
        )

    def cast(
        self,
        xpos: Array,
        xmat: Array,
        eye: Array,
        axes: Array,
        lens: Array,
        work: Array,
        buffer: Array,
        tags: Array | None,
        depth: Array,
        width: int,
        unit: float = 1.0,
    ) -> None:
        """Cast primitives and meshes; see `cast`. All arrays are float64 and contiguous but the images."""
        meshes = self.meshes
        cast(
            self.kinds, self.ids, self.sizes, xpos, xmat, eye, axes, lens, work, buffer, tags,
            depth if meshes is None else NO_IMAGE, width, unit,
        )  # fmt: skip
        if meshes is not None:
            faces = None
            if tags is not None:
                height, padded = buffer.shape
                faces = self.scratch("faces", height, padded, np.int32)
            paint_meshes(
                meshes.library.packed, meshes.ids, meshes.ids, meshes.meshes, meshes.scales, xpos,
                xmat, eye, axes, lens, buffer, tags, faces, depth, width, unit,
            )  # fmt: skip

    def scratch(self, name: str, height: int, width: int, dtype: Any) -> Array:
        """An uninitialised image [height, width padded] that lives as long as the table."""
        key = (name, height, width)
        image = self._scratch.get(key)
        if image is None:
            image = self._scratch[key] = scratch_image(height, width, dtype)
        return image


def scratch_image(height: int, width: int, dtype: Any) -> Array:
    """An uninitialised image for `cast` to paint in [height, width padded]."""
    return np.empty((height, -(-width // LANES) * LANES), dtype)


def _colours(model: Any) -> Array:
    """Colour of every geom [ngeom, 4]: its own if one was set, else its material's."""
    rgba = np.array(model.geom_rgba, np.float64)
    default = (rgba == (0.5, 0.5, 0.5, 1.0)).all(axis=1) & (np.asarray(model.geom_matid) >= 0)
    rgba[default] = model.mat_rgba[model.geom_matid[default]]
    return rgba


def _half_sizes(kinds: Array, size: Array) -> Array:
    """Half sizes along x, y, z and bounding radius [M, 4] from MuJoCo's geom_size [M, 3]."""
    sizes = np.empty((len(kinds), 4))
    sizes[:, :3] = size
    ball, tube = kinds == SPHERE, (kinds == CAPSULE) | (kinds == CYLINDER)
    sizes[ball, 1] = sizes[ball, 2] = size[ball, 0]
    sizes[tube, 1], sizes[tube, 2] = size[tube, 0], size[tube, 1]
    sizes[:, 3] = np.linalg.norm(sizes[:, :3], axis=1)
    round_ = ball | (kinds == ELLIPSOID)
    sizes[round_, 3] = sizes[round_, :3].max(axis=1)
    sizes[tube, 3] = np.hypot(size[tube, 0], size[tube, 1])
    capsule, plane = kinds == CAPSULE, kinds == PLANE
    sizes[capsule, 3] = size[capsule, 0] + size[capsule, 1]
    sizes[plane, 3] = np.hypot(size[plane, 0], size[plane, 1])
    sizes[plane & (size[:, :2] <= 0.0).any(axis=1), 3] = 1e9
    return sizes


def _plain(values: Any) -> Array:
    """The same numbers as a writable contiguous float64 array (one kernel signature for all)."""
    if (
        type(values) is np.ndarray
        and values.dtype == np.float64
        and values.flags.c_contiguous
        and values.flags.writeable
    ):
        return values
    return np.array(values, np.float64, order="C")


def _run(
    table: GeomTable,
    geom_xpos: Array,
    geom_xmat: Array,
    camera: Camera,
    position: Array,
    rotation: Array,
    tags: Array | None,
    depth: Array,
    near: float,
    far: float,
) -> None:
    """Cast one image into `tags` [H, W padded] or `depth` [H, W]; see `cast`."""
    if len(geom_xpos) != table.geom_count:
        raise ValueError(f"the table has {table.geom_count} geoms, geom_xpos {len(geom_xpos)}")
    buffer = table.scratch("depth", camera.height, camera.width, np.float32)
    xmat, lens = _plain(geom_xmat).reshape(-1, 9), camera.lens(near, far)
    table.cast(
        _plain(geom_xpos), xmat, _plain(position), _plain(rotation), lens, table._work, buffer,
        tags, depth, camera.width,
    )  # fmt: skip


def render_depth(
    table: GeomTable,
    geom_xpos: Array,
    geom_xmat: Array,
    camera: Camera,
    position: Array,
    rotation: Array,
    out: Array | None = None,
    near: float = NEAR,
    far: float = FAR,
) -> Array:
    """Render depth along the optical axis.

    Rays start at z-depth `near` and, as `mujoco.mj_ray` does, a ray that starts inside a body
    reports the surface where it leaves the body. Planes are seen from their front only.

    Args:
        table: Geoms of the model.
        geom_xpos: Geom positions [ngeom, 3], world frame, metres, as in mjData.
        geom_xmat: Geom rotations [ngeom, 9], row-major, as in mjData.
        camera: Lens and image size.
        position: Camera position [3], world frame, metres.
        rotation: World-from-camera rotation [3, 3], columns (right, up, backward).
        out: Where to write the image [H, W], float32.
        near: Smallest depth that is seen, metres.
        far: Largest depth that is seen, metres.

    Returns:
        `out`, or a new array: z-depth [H, W] in metres, `far` where nothing is hit.
    """
    depth = out
    if depth is None or not depth.flags.c_contiguous or depth.dtype != np.float32:
        depth = np.empty((camera.height, camera.width), np.float32)
    _run(table, geom_xpos, geom_xmat, camera, position, rotation, None, depth, near, far)
    if out is None or out is depth:
        return depth
    out[...] = depth
    return out


def render_segmentation(
    table: GeomTable,
    geom_xpos: Array,
    geom_xmat: Array,
    camera: Camera,
    position: Array,
    rotation: Array,
    out: Array | None = None,
    near: float = NEAR,
    far: float = FAR,
) -> Array:
    """Render which geom each pixel shows; arguments as for `render_depth`.

    Returns:
        Geom ids [H, W], int32, -1 where nothing is hit.
    """
    tags = table.scratch("ids", camera.height, camera.width, np.int32)
    _run(table, geom_xpos, geom_xmat, camera, position, rotation, tags, NO_IMAGE, near, far)
    if out is None:
        return tags[:, : camera.width].copy()
    out[...] = tags[:, : camera.width]
    return out
