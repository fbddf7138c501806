"""Where rays are inside one geom (numba): the slow, exact way, for what comes close to the camera.

Rays are given in the geom's frame as the eye plus depth times a direction. All bodies are convex, so that
a ray is inside for one interval of depths, empty if it begins above its end. No function branches and all
that the loops need is in local variables, so that they vectorise.
"""

import math

import numba
import numpy as np

from rearrange.render.projection import BOX, CAPSULE, EYE, FAST, HUGE, PLANE, RAY, SPHERE


@numba.njit(**FAST)
def _slab(o, d, half):
    """Depths between which |o + t * d| <= half."""
    d = d if abs(d) > 1e-15 else 1e-15
    a, b = (-half - o) / d, (half - o) / d
    return min(a, b), max(a, b)


@numba.njit(**FAST)
def _quadric(a, b, c):
    """Depths between which a t^2 + 2 b t + c <= 0."""
    a = max(a, 1e-18)
    square = b * b - a * c
    root = math.sqrt(max(square, 0.0))
    miss = HUGE if square < 0.0 else 0.0
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
    t = -oz / min(dz, -1e-15)
    miss = (dz > -1e-15) | ((sx > 0.0) & (abs(ox + t * dx) > sx))
    miss |= (sy > 0.0) & (abs(oy + t * dy) > sy)
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
def _cast_row(enter, leave, kind, eye, first, step, size):
    """Depths [W] at which the rays first + j * step enter and leave a geom."""
    ox, oy, oz = eye
    x, y, z = first
    sx, sy, sz = step
    p, q, r = size
    if kind == BOX:
        for j in range(enter.size):
            dx, dy, dz = x + sx * j, y + sy * j, z + sz * j
            enter[j], leave[j] = _inside_box(ox, oy, oz, dx, dy, dz, p, q, r)
    elif kind == PLANE:
        for j in range(enter.size):
            dx, dy, dz = x + sx * j, y + sy * j, z + sz * j
            enter[j], leave[j] = _front_of_plane(ox, oy, oz, dx, dy, dz, p, q)
    elif kind == SPHERE:
        for j in range(enter.size):
            dx, dy, dz = x + sx * j, y + sy * j, z + sz * j
            enter[j], leave[j] = _inside_ball(ox, oy, oz, dx, dy, dz, 1.0)
    else:
        for j in range(enter.size):
            dx, dy, dz = x + sx * j, y + sy * j, z + sz * j
            a, b = _inside_tube(ox, oy, oz, dx, dy, dz, p, r)
            enter[j], leave[j] = (a, b) if a <= b else (HUGE, -HUGE)
    if kind == CAPSULE:  # convex: from the first surface of its three parts to the last
        for side in (-1.0, 1.0):
            end = oz - side * r
            for j in range(enter.size):
                dx, dy, dz = x + sx * j, y + sy * j, z + sz * j
                a, b = _inside_ball(ox, oy, end, dx, dy, dz, p)
                enter[j], leave[j] = min(enter[j], a), max(leave[j], b)


@numba.njit(**FAST)
def _nearest(enter, leave, near):
    """Inverse depth of the first surface at `near` or beyond, 0 if there is none."""
    t = enter if enter >= near else leave
    return np.float32(1.0 / t if (enter <= leave) & (leave >= near) else 0.0)


@numba.njit(**FAST)
def paint_exactly(buffer, ids, geom, kind, size, width, work, near, rows):
    """Paint a geom that touches the near plane or contains the camera; spheres are scaled to 1.

    `rows` [2, W padded or more] is scratch.
    """
    eye = (work[EYE, 0], work[EYE, 1], work[EYE, 2])
    step = (work[RAY, 1], work[RAY + 1, 1], work[RAY + 2, 1])
    sizes = (size[0], size[1], size[2])
    enter, leave = rows[0, :width], rows[1, :width]
    for i in range(buffer.shape[0]):
        first = (
            work[RAY, 0] + work[RAY, 2] * i,
            work[RAY + 1, 0] + work[RAY + 1, 2] * i,
            work[RAY + 2, 0] + work[RAY + 2, 2] * i,
        )
        _cast_row(enter, leave, kind, eye, first, step, sizes)
        row = buffer[i, :width]
        for j in range(row.size):
            q = _nearest(enter[j], leave[j], near)
            if ids is not None:
                ids[i, j] = geom if q > row[j] else ids[i, j]
            row[j] = q if q > row[j] else row[j]
