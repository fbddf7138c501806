"""Single rays through triangle meshes (numba): scalar code with a small stack, as a GPU wants it too.

For rays that do not part from one point; images are faster by `painting`. Two levels: a tree over the
geoms, and at its leaves that of a geom's mesh, in whose frame the ray goes on.

Triangles have two sides, as for `mujoco.mj_ray`. They are wider by TOLERANCE of themselves, so that rounding
leaves no cracks. Those that are seen exactly edge-on, or have no area, are not there.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from rearrange.caching import cached_njit
from rearrange.render.meshes.library import MeshGeoms, Packed
from rearrange.render.meshes.tree import STACK, build_tree

NOTHING = -1
TINY = 1e-30
TOLERANCE = 1e-5  # share of a triangle by which its edges lie further out
# Share of the product of its corners' distances below which the volume that a triangle spans with the eye is
# rounding: the eye lies in its plane
FLAT = 1e-14
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "nnan"},
}
# No references are counted, see projection.FAST
CALLED: dict[str, Any] = {
    **OPTIONS,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
INLINE: dict[str, Any] = {
    **CALLED,
    "forceinline": True,
}  # a call would copy the nine fields of each array
Array = NDArray[Any]


@numba.njit(**INLINE)
def _enter(node, origin, inverse, far):
    """Where a ray enters a box, in lengths of its direction; infinite where it does not before `far`."""
    x, y, z = node.x - origin[0], node.y - origin[1], node.z - origin[2]
    x, y, z = x * inverse[0], y * inverse[1], z * inverse[2]
    rx, ry, rz = (
        node.half_x * abs(inverse[0]), node.half_y * abs(inverse[1]), node.half_z * abs(inverse[2])
    )  # fmt: skip
    enter = max(max(x - rx, y - ry), max(z - rz, 0.0))
    leave = min(min(x + rx, y + ry), min(z + rz, far))
    # Rounding must not lose a flat box
    return enter if enter <= leave * 1.000001 + TINY else np.inf


@numba.njit(**INLINE)
def _inverse(direction):
    x, y, z = direction
    return (
        1.0 / (x if abs(x) > TINY else TINY),
        1.0 / (y if abs(y) > TINY else TINY),
        1.0 / (z if abs(z) > TINY else TINY),
    )


@numba.njit(**INLINE)
def length(x, y, z):
    """Sum of the sides of a vector, a length that costs no root."""
    return abs(x) + abs(y) + abs(z)


@numba.njit(**INLINE)
def _meet(corners, face, origin, direction):
    """Where a ray meets a triangle, in lengths of its direction; negative where it does not."""
    t, (ox, oy, oz), (dx, dy, dz) = corners[face], origin, direction
    px, py, pz = t[0] - ox, t[1] - oy, t[2] - oz
    qx, qy, qz = t[3] - ox, t[4] - oy, t[5] - oz
    rx, ry, rz = t[6] - ox, t[7] - oy, t[8] - oz
    ax, ay, az = qy * rz - qz * ry, qz * rx - qx * rz, qx * ry - qy * rx
    bx, by, bz = ry * pz - rz * py, rz * px - rx * pz, rx * py - ry * px
    cx, cy, cz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    volume = px * ax + py * ay + pz * az
    a = dx * ax + dy * ay + dz * az
    b = dx * bx + dy * by + dz * bz
    c = dx * cx + dy * cy + dz * cz
    total = a + b + c
    if abs(volume) <= FLAT * length(px, py, pz) * length(qx, qy, qz) * length(rx, ry, rz):
        return -1.0
    if total * volume <= 0.0:
        return -1.0
    least = -TOLERANCE * abs(total)
    sign = 1.0 if total > 0.0 else -1.0
    if a * sign < least or b * sign < least or c * sign < least:
        return -1.0
    return volume / total


@numba.njit(**INLINE)
def hit_mesh(nodes, corners, root, stack, base, origin, direction, near, far):
    """The nearest triangle between `near` and `far`: where, or `far`, and which, or NOTHING.

    Nodes still to be looked at are kept in stack [2, .] from `base` on: where they begin, and which.
    """
    inverse, node, top, found = _inverse(direction), root, base, NOTHING
    if _enter(nodes[root], origin, inverse, far) == np.inf:
        return far, found
    while True:
        count, first = nodes[node].count, nodes[node].first
        if count >= 0:
            for face in range(first, first + count):
                t = _meet(corners, face, origin, direction)
                if near <= t < far:
                    far, found = t, face
        else:
            a = _enter(nodes[first], origin, inverse, far)
            b = _enter(nodes[first + 1], origin, inverse, far)
            if max(a, b) < np.inf:
                stack[0, top], stack[1, top] = max(a, b), first + 1 if a <= b else first
                top += 1
            if min(a, b) < np.inf:
                node = first if a <= b else first + 1
                continue
        while top > base and stack[0, top - 1] >= far:
            top -= 1
        if top == base:
            return far, found
        top -= 1
        node = np.int64(stack[1, top])


@numba.njit(**INLINE)
def _localise(xpos, xmat, scale, origin, direction):
    """A ray in the frame of a mesh."""
    x, y, z = origin[0] - xpos[0], origin[1] - xpos[1], origin[2] - xpos[2]
    (dx, dy, dz), m, s = direction, xmat, scale
    start = (
        (m[0] * x + m[3] * y + m[6] * z) / s[0],
        (m[1] * x + m[4] * y + m[7] * z) / s[1],
        (m[2] * x + m[5] * y + m[8] * z) / s[2],
    )
    turned = (
        (m[0] * dx + m[3] * dy + m[6] * dz) / s[0],
        (m[1] * dx + m[4] * dy + m[7] * dz) / s[1],
        (m[2] * dx + m[5] * dy + m[8] * dz) / s[2],
    )
    return start, turned


@numba.njit(**INLINE)
def closest_hit(
    packed, top_nodes, order, ids, meshes, scales, xpos, xmat, stack, origin, direction, near, far
):
    """What a ray meets first: where, or `far`; which of the geoms; and which triangle, or NOTHING.

    Args:
        packed: Meshes, see library.Packed.
        top_nodes: Tree over the geoms.
        order: Of its leaves [K].
        ids: Geoms [K], rows of xpos and xmat.
        meshes: Mesh of each [K].
        scales: Factors along its axes [K, 3].
        xpos: Positions of geoms [., 3], m.
        xmat: Rotations of geoms [., 9].
        stack: Scratch [2, 2 * STACK].
        origin: Start, three numbers, m.
        direction: Three numbers, of any length; distances are counted in it.
        near: Least distance.
        far: Largest distance.
    """
    inverse, which, face = _inverse(direction), NOTHING, NOTHING
    stack[0, 0], stack[1, 0] = _enter(top_nodes[0], origin, inverse, far), 0
    top = 1
    while top > 0:
        top -= 1
        if stack[0, top] >= far:
            continue
        node = np.int64(stack[1, top])
        first, count = top_nodes[node].first, top_nodes[node].count
        if count >= 0:
            for n in range(first, first + count):
                k = order[n]
                start, turned = _localise(xpos[ids[k]], xmat[ids[k]], scales[k], origin, direction)
                far, found = hit_mesh(
                    packed.nodes, packed.corners, packed.roots[meshes[k]], stack, top, start,
                    turned, near, far,
                )  # fmt: skip
                if found != NOTHING:
                    which, face = k, found
            continue
        a = _enter(top_nodes[first], origin, inverse, far)
        b = _enter(top_nodes[first + 1], origin, inverse, far)
        nearer, farther = (first, first + 1) if a <= b else (first + 1, first)
        stack[0, top], stack[1, top] = max(a, b), farther
        stack[0, top + 1], stack[1, top + 1] = min(a, b), nearer
        top += 2
    return far, which, face


@cached_njit(**OPTIONS)
def _cast(
    packed: Packed, top_nodes, order, ids, meshes, scales, xpos, xmat, origins, directions, near, far,
    distances, geoms, faces,
):  # fmt: skip
    """Write what rays meet [R]."""
    stack = np.empty((2, 2 * STACK))
    for n in range(len(directions)):
        origin = (origins[n, 0], origins[n, 1], origins[n, 2])
        direction = (directions[n, 0], directions[n, 1], directions[n, 2])
        distances[n], k, face = closest_hit(
            packed, top_nodes, order, ids, meshes, scales, xpos, xmat, stack, origin, direction,
            near, far,
        )  # fmt: skip
        geoms[n] = ids[k] if k != NOTHING else NOTHING
        faces[n] = packed.faces[face] if face != NOTHING else NOTHING


def cast_rays(
    geoms: MeshGeoms,
    xpos: Array,
    xmat: Array,
    origins: Array,
    directions: Array,
    near: float = 0.0,
    far: float = np.inf,
) -> tuple[Array, Array, Array]:
    """Cast rays at geoms that show meshes.

    Args:
        geoms: K of a model's geoms.
        xpos: Positions of all geoms [G, 3], metres, as in mjData.
        xmat: Rotations of all geoms [G, 9], row-major, as in mjData.
        origins: Where the rays start [R, 3], metres, world frame.
        directions: Where they go [R, 3]; distances are counted in their lengths.
        near: What is nearer is not met.
        far: Nor is what is farther.

    Returns:
        Distances [R], `far` where nothing is met; geoms [R] and triangles of their meshes [R], -1 likewise.
    """
    rows, (packed, meshes) = geoms.ids, (geoms.library.packed, geoms.meshes)
    xmat = np.array(xmat, np.float64).reshape(-1, 9)
    root = packed.nodes[packed.roots[meshes]]
    middle = np.stack([root[name] for name in ("x", "y", "z")], axis=1) * geoms.scales
    half = np.stack([root[f"half_{name}"] for name in ("x", "y", "z")], axis=1) * geoms.scales
    turn = xmat[rows].reshape(-1, 3, 3)
    middle = np.einsum("kij,kj->ki", turn, middle) + np.asarray(xpos)[rows]
    half = np.einsum("kij,kj->ki", np.abs(turn), half) * (1.0 + 1e-6) + 1e-6 * np.abs(middle)
    top_nodes, order = build_tree(
        (middle - half).astype(np.float32), (middle + half).astype(np.float32), 1
    )
    count = len(directions)
    distances, which = np.empty(count), np.empty(count, np.int64)
    faces = np.empty(count, np.int64)
    _cast(
        packed, top_nodes, order, rows, meshes, geoms.scales, np.array(xpos, np.float64), xmat,
        np.array(origins, np.float64), np.array(directions, np.float64), float(near), float(far),
        distances, which, faces,
    )  # fmt: skip
    return distances, which, faces
