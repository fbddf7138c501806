"""Rays through one geom (numba): the slow, exact way, for what comes close to the camera.

Rays are given in the geom's frame as the eye plus depth times a direction. All bodies are convex, so that
a ray is inside for one interval of depths, empty if it begins above its end. No function branches and all
that the loops need is in local variables, so that they vectorise; in single precision, which takes a
quarter of the time.
"""

import math

import numba
import numpy as np

from rearrange.render.projection import BOX, CAPSULE, EYE, FAST, PLANE, RAY, SPHERE

single = np.float32
ZERO, ONE, TINY, HUGE = single(0.0), single(1.0), single(1e-15), single(1e30)


@numba.njit(**FAST)
def _slab(o, d, half):
    """Depths between which |o + t * d| <= half."""
    d = d if abs(d) > TINY else TINY
    a, b = (-half - o) / d, (half - o) / d
    return min(a, b), max(a, b)


@numba.njit(**FAST)
def _quadric(a, b, c):
    """Depths between which a t^2 + 2 b t + c <= 0."""
    a = max(a, TINY * TINY)
    square = b * b - a * c
    root = math.sqrt(max(square, ZERO))
    miss = HUGE if square < ZERO else ZERO
    return (-b - root) / a + miss, (-b + root) / a - miss


@numba.njit(**FAST)
def _inside_box(ox, oy, oz, dx, dy, dz, sx, sy, sz):
    a0, b0 = _slab(ox, dx, sx)
    a1, b1 = _slab(oy, dy, sy)
    a2, b2 = _slab(oz, dz, sz)
    return max(a0, a1, a2), min(b0, b1, b2)


@numba.njit(**FAST)
def _front_of_plane(ox, oy, oz, dx, dy, dz, sx, sy):
    """The depth of the hit twice; planes are met from their front only, sizes of 0 are infinite."""
    t = -oz / min(dz, -TINY)
    miss = (dz > -TINY) | ((sx > ZERO) & (abs(ox + t * dx) > sx))
    miss |= (sy > ZERO) & (abs(oy + t * dy) > sy)
    return (t + HUGE if miss else t), t


@numba.njit(**FAST)
def _inside_ball(ox, oy, oz, dx, dy, dz, radius):
    b, c = ox * dx + oy * dy + oz * dz, ox * ox + oy * oy + oz * oz
    return _quadric(dx * dx + dy * dy + dz * dz, b, c - radius * radius)


@numba.njit(**FAST)
def _inside_tube(ox, oy, oz, dx, dy, dz, radius, half):
    b, c = ox * dx + oy * dy, ox * ox + oy * oy
    a0, b0 = _quadric(dx * dx + dy * dy, b, c - radius * radius)
    a1, b1 = _slab(oz, dz, half)
    return max(a0, a1), min(b0, b1)


@numba.njit(**FAST)
def _inside_capsule(ox, oy, oz, dx, dy, dz, radius, half):
    """Convex: from the first surface of its three parts to the last."""
    a, b = _inside_tube(ox, oy, oz, dx, dy, dz, radius, half)
    enter, leave = (a, b) if a <= b else (HUGE, -HUGE)
    a, b = _inside_ball(ox, oy, oz + half, dx, dy, dz, radius)
    enter, leave = min(enter, a), max(leave, b)
    a, b = _inside_ball(ox, oy, oz - half, dx, dy, dz, radius)
    return min(enter, a), max(leave, b)


@numba.njit(**FAST)
def _keep(row, ids, geom, j, enter, leave, near):
    """Paint the first surface at depth `near` or beyond, if there is one, into pixel j of a row."""
    t = enter if enter >= near else leave
    q = ONE / t if (enter <= leave) & (leave >= near) else ZERO
    if ids is not None:
        ids[j] = geom if q > row[j] else ids[j]
    row[j] = q if q > row[j] else row[j]


@numba.njit(**FAST)
def _paint_row(row, ids, geom, kind, eye, first, step, size, near):
    """Paint what the rays first + j * step meet of a geom into row [W]."""
    ox, oy, oz = eye
    x, y, z = first
    sx, sy, sz = step
    p, q, r = size
    if kind == BOX:
        for j in range(row.size):
            k = single(j)
            dx, dy, dz = x + sx * k, y + sy * k, z + sz * k
            enter, leave = _inside_box(ox, oy, oz, dx, dy, dz, p, q, r)
            _keep(row, ids, geom, j, enter, leave, near)
    elif kind == PLANE:
        for j in range(row.size):
            k = single(j)
            dx, dy, dz = x + sx * k, y + sy * k, z + sz * k
            enter, leave = _front_of_plane(ox, oy, oz, dx, dy, dz, p, q)
            _keep(row, ids, geom, j, enter, leave, near)
    elif kind == SPHERE:
        for j in range(row.size):
            k = single(j)
            dx, dy, dz = x + sx * k, y + sy * k, z + sz * k
            enter, leave = _inside_ball(ox, oy, oz, dx, dy, dz, ONE)
            _keep(row, ids, geom, j, enter, leave, near)
    elif kind == CAPSULE:
        for j in range(row.size):
            k = single(j)
            dx, dy, dz = x + sx * k, y + sy * k, z + sz * k
            enter, leave = _inside_capsule(ox, oy, oz, dx, dy, dz, p, r)
            _keep(row, ids, geom, j, enter, leave, near)
    else:
        for j in range(row.size):
            k = single(j)
            dx, dy, dz = x + sx * k, y + sy * k, z + sz * k
            enter, leave = _inside_tube(ox, oy, oz, dx, dy, dz, p, r)
            _keep(row, ids, geom, j, enter, leave, near)


@numba.njit(**FAST)
def paint_exactly(buffer, ids, geom, kind, size, width, work, near):
    """Paint a geom that touches the near plane or contains the camera; spheres are scaled to 1."""
    eye = (single(work[EYE, 0]), single(work[EYE, 1]), single(work[EYE, 2]))
    step = (single(work[RAY, 1]), single(work[RAY + 1, 1]), single(work[RAY + 2, 1]))
    sizes = (single(size[0]), single(size[1]), single(size[2]))
    for i in range(buffer.shape[0]):
        first = (
            single(work[RAY, 0] + work[RAY, 2] * i),
            single(work[RAY + 1, 0] + work[RAY + 1, 2] * i),
            single(work[RAY + 2, 0] + work[RAY + 2, 2] * i),
        )
        seen = None if ids is None else ids[i, :width]
        row = buffer[i, :width]
        _paint_row(row, seen, geom, kind, eye, first, step, sizes, single(near))
