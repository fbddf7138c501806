"""Depth of single pixels (numba): scalar functions, the same for a CPU's loop and for a thread of a GPU.

The painter (`caster.py`) fills one row of pixels after the other, and a GPU wants a thread for each. So here
each geom in the image of a camera gets a record of WIDTH numbers: the pixels that it lies between, and eye and
rays in its frame. A pixel is the nearest hit of its ray on the records whose pixels it is among. Their order
does not matter. `device.py` launches both.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from rearrange.caching import cached_njit
from rearrange.render.projection import BOX, CAPSULE, ELLIPSOID, FAST, HUGE, PLANE, SPHERE
from rearrange.render.rays import (
    _front_of_plane,
    _inside_ball,
    _inside_box,
    _inside_capsule,
    _inside_tube,
)

single = np.float32
ONE = single(1.0)

# Columns of a record: the ray of pixel (i, j) is RAY + j * RIGHT + i * DOWN, in the geom's frame
EYE, RAY, RIGHT, DOWN, SIZE, PIXELS, KIND, WIDTH = 0, 3, 6, 9, 12, 15, 19, 20
SPARE = 0.01  # pixels by which the rectangle of a geom is made larger
NOWHERE = (HUGE, -HUGE, HUGE, -HUGE)

# Row of `views`: the eye, then the world-from-camera rotation row by row (right, up, backward)
VIEW = 12


@numba.njit(**FAST)
def _seen_from(view, x, y, z):
    """Components (right, up, ahead) of a world vector for a camera."""
    return (
        x * view[3] + y * view[6] + z * view[9],
        x * view[4] + y * view[7] + z * view[10],
        -(x * view[5] + y * view[8] + z * view[11]),
    )


@numba.njit(**FAST)
def _frame_axis(view, matrix, k):
    """Axis k of a geom (right, up, ahead), of length 1."""
    return _seen_from(view, matrix[k], matrix[3 + k], matrix[6 + k])


@numba.njit(**FAST)
def _widen(bounds, x, y):
    """The rectangle with one more point in it."""
    x0, x1, y0, y1 = bounds
    return min(x0, x), max(x1, x), min(y0, y), max(y1, y)


@numba.njit(**FAST)
def _widen_by_edge(bounds, near, p, q):
    """The rectangle with what is before the near plane of the edge from p to q, seen one metre ahead."""
    px, py, pw = p
    qx, qy, qw = q
    if pw < near and qw < near:
        return bounds
    if pw < near or qw < near:
        part = (near - pw) / (qw - pw)
        x, y = (px + part * (qx - px)) / near, (py + part * (qy - py)) / near
        bounds = _widen(bounds, x, y)
    if pw >= near:
        bounds = _widen(bounds, px / pw, py / pw)
    if qw >= near:
        bounds = _widen(bounds, qx / qw, qy / qw)
    return bounds


@numba.njit(**FAST)
def _corner(center, a, b, c, sides):
    """Corner of a box by its half axes; bits of `sides` say on which side of each axis it lies."""
    i = ONE if sides & 1 else -ONE
    j = ONE if sides & 2 else -ONE
    k = ONE if sides & 4 else -ONE
    return (
        center[0] + i * a[0] + j * b[0] + k * c[0],
        center[1] + i * a[1] + j * b[1] + k * c[1],
        center[2] + i * a[2] + j * b[2] + k * c[2],
    )


@numba.njit(**FAST)
def _half_extent(kind, size, k):
    """Half extent of a geom along its axis k, metres."""
    if kind == PLANE and k == 2:
        return 0.0
    return size[k] + size[0] if kind == CAPSULE and k == 2 else size[k]


@numba.njit(**FAST)
def _half_axis(view, matrix, kind, size, k):
    x, y, w = _frame_axis(view, matrix, k)
    half = _half_extent(kind, size, k)
    return x * half, y * half, w * half


@numba.njit(**FAST)
def bounds_of_geom(kind, size, position, matrix, view, lens, width, height):
    """First and last column, first and last row that a geom may cover, in fractions of pixels.

    Args:
        kind: mujoco.mjtGeom.
        size: Half sizes along the geom's axes and bounding radius [4], metres.
        position: Of the geom [3], world frame, metres.
        matrix: World-from-geom rotation [9], row by row.
        view: Of the camera [VIEW].
        lens: See `Camera.lens`.
        width: Of the image, pixels.
        height: Of the image, pixels.

    Returns:
        The four; the first of each pair is larger than the second if no pixel is covered.
    """
    if kind == PLANE and (size[0] <= 0.0 or size[1] <= 0.0):
        return -1.0, float(width), -1.0, float(height)
    x, y, z = position[0] - view[0], position[1] - view[1], position[2] - view[2]
    center = _seen_from(view, x, y, z)
    near, far, radius = lens[2], lens[3], size[3]
    if center[2] + radius < near or center[2] - radius > far:
        return NOWHERE
    side_x, side_y = math.sqrt(1.0 + lens[0] * lens[0]), math.sqrt(1.0 + lens[1] * lens[1])
    if abs(center[0]) - center[2] * lens[0] > radius * side_x:
        return NOWHERE
    if abs(center[1]) - center[2] * lens[1] > radius * side_y:
        return NOWHERE
    a = _half_axis(view, matrix, kind, size, 0)
    b = _half_axis(view, matrix, kind, size, 1)
    c = _half_axis(view, matrix, kind, size, 2)
    bounds = NOWHERE
    for corner in range(8):
        for axis in range(3):
            if not corner & (1 << axis):
                p = _corner(center, a, b, c, corner)
                q = _corner(center, a, b, c, corner | (1 << axis))
                bounds = _widen_by_edge(bounds, near, p, q)
    x0, x1, y0, y1 = bounds
    # Pixel j has its centre at (j + 0.5) / width of the image
    per_x, per_y = 0.5 * width / lens[0], 0.5 * height / lens[1]
    return (
        (x0 + lens[0]) * per_x - 0.5 - SPARE,
        (x1 + lens[0]) * per_x - 0.5 + SPARE,
        (lens[1] - y1) * per_y - 0.5 - SPARE,
        (lens[1] - y0) * per_y - 0.5 + SPARE,
    )


@numba.njit(**FAST)
def has_pixels(bounds, width, height):
    """True if some pixel of an image may lie in the rectangle."""
    x0, x1, y0, y1 = bounds
    wide = x0 <= x1 and x1 >= 0.0 and x0 <= width - 1.0
    return wide and y0 <= y1 and y1 >= 0.0 and y0 <= height - 1.0


@numba.njit(**FAST)
def describe_geom(record, bounds, kind, size, position, matrix, view, lens, width, height):
    """Write a geom as one camera sees it into record [WIDTH], float32; arguments as of `bounds_of_geom`."""
    x, y, z = view[0] - position[0], view[1] - position[1], view[2] - position[2]
    step_x, step_y = 2.0 * lens[0] / width, -2.0 * lens[1] / height
    left, top = 0.5 * step_x - lens[0], 0.5 * step_y + lens[1]
    for k in range(3):
        right, up, ahead = _frame_axis(view, matrix, k)
        eye = matrix[k] * x + matrix[3 + k] * y + matrix[6 + k] * z
        # A ball of radius 1 takes the place of every ellipsoid
        scale = 1.0 / size[k] if kind in (SPHERE, ELLIPSOID) else 1.0
        record[EYE + k] = single(scale * eye)
        record[RAY + k] = single(scale * (ahead + left * right + top * up))
        record[RIGHT + k] = single(scale * step_x * right)
        record[DOWN + k] = single(scale * step_y * up)
        record[SIZE + k] = single(size[k])
        record[PIXELS + k] = single(bounds[k])
    record[PIXELS + 3] = single(bounds[3])
    record[KIND] = single(SPHERE if kind == ELLIPSOID else kind)


@numba.njit(**FAST)
def _inside(record, dx, dy, dz):
    """Depths between which a ray is inside a geom, or its hit twice; empty if the first is larger."""
    ox, oy, oz = record[EYE], record[EYE + 1], record[EYE + 2]
    p, q, r = record[SIZE], record[SIZE + 1], record[SIZE + 2]
    kind = int(record[KIND])
    if kind == BOX:
        return _inside_box(ox, oy, oz, dx, dy, dz, p, q, r)
    if kind == PLANE:
        return _front_of_plane(ox, oy, oz, dx, dy, dz, p, q)
    if kind == SPHERE:
        return _inside_ball(ox, oy, oz, dx, dy, dz, ONE)
    if kind == CAPSULE:
        return _inside_capsule(ox, oy, oz, dx, dy, dz, p, r)
    return _inside_tube(ox, oy, oz, dx, dy, dz, p, r)


@numba.njit(**FAST)
def nearer(record, row, column, near, best):
    """Depth of a pixel after one more geom, metres; all in single precision.

    Args:
        record: The geom, see `describe_geom` [WIDTH].
        row: Of the pixel.
        column: Of the pixel.
        near: Smallest depth that is seen.
        best: Depth of the pixel so far; the farthest that is seen, before the first geom.
    """
    x, y = single(column), single(row)
    if x < record[PIXELS] or x > record[PIXELS + 1]:
        return best
    if y < record[PIXELS + 2] or y > record[PIXELS + 3]:
        return best
    dx = record[RAY] + record[RIGHT] * x + record[DOWN] * y
    dy = record[RAY + 1] + record[RIGHT + 1] * x + record[DOWN + 1] * y
    dz = record[RAY + 2] + record[RIGHT + 2] * x + record[DOWN + 2] * y
    enter, leave = _inside(record, dx, dy, dz)
    depth = enter if enter >= near else leave
    return min(best, depth) if enter <= leave and leave >= near else best


@numba.njit(**FAST)
def in_tile(record, left, top, side):
    """True if a geom may cover a pixel of the square of some side at (left, top)."""
    beside = record[PIXELS] > single(left + side - 1) or record[PIXELS + 1] < single(left)
    above = record[PIXELS + 2] > single(top + side - 1) or record[PIXELS + 3] < single(top)
    return not (beside or above)


@cached_njit(nogil=True, error_model="numpy")
def draw_pixels(
    ids: Any, scenes: Any, starts: Any, kinds: Any, sizes: Any, positions: Any, rotations: Any,
    views: Any, lens: Any, unit: float, records: Any, depth: Any,
) -> None:  # fmt: skip
    """Draw what some cameras see, one after the other.

    Args:
        ids: Which cameras.
        scenes: Number of the scene of each camera [N].
        starts: Scene s has the geoms starts[s] to starts[s + 1].
        kinds: mujoco.mjtGeom of the geoms of all scenes [M].
        sizes: Half sizes along their axes and bounding radii [M, 4], metres.
        positions: [M, 3], world frame, metres.
        rotations: World-from-geom rotations [M, 9], row by row.
        views: Of the cameras [N, VIEW].
        lens: See `Camera.lens`.
        unit: In which depth is written [m].
        records: Scratch [>= geoms of a scene, WIDTH] float32.
        depth: Written: depth along the optical axis [N, H, W] float32.
    """
    height, width = depth.shape[1], depth.shape[2]
    near, far, scale = single(lens[2]), single(lens[3]), single(1.0 / unit)
    for i in ids:
        count = 0
        for n in range(starts[scenes[i]], starts[scenes[i] + 1]):
            geom = kinds[n], sizes[n], positions[n], rotations[n], views[i], lens, width, height
            bounds = bounds_of_geom(*geom)
            if has_pixels(bounds, width, height):
                describe_geom(records[count], bounds, *geom)
                count += 1
        for row in range(height):
            for column in range(width):
                best = far
                for n in range(count):
                    best = nearer(records[n], row, column, near, best)
                depth[i, row, column] = best * scale
