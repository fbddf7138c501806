"""The numba kernels behind depth and segmentation images.

Everything is worked out in inverse depth q = 1/z. Along the ray of pixel (i, j) the plane of a
face has q = (n.d) / (s - n.o), which is affine in i and j because the ray direction d is. So a
convex body is an interval of q per pixel: it starts at the smallest q of the faces that the
camera is outside of, and ends at the largest q of the others. No division is left in the inner
loops; a box costs one to three fused multiply-adds per pixel, and its extent on each row follows
from straight lines. A round body adds one square root. The image keeps the largest q.

Rays start on the near plane. As in `mujoco.mj_ray`, a ray that starts inside a body reports the
surface where it leaves it, and planes are seen from their front only. Bodies that come close
enough to the camera for this to matter take a slow exact path (`paint_exactly`).
"""

import math

import numba
import numpy as np

from rearrange.render.projection import (
    AXIS,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    EYE,
    FAST,
    HIGH,
    HUGE,
    IN,
    LOW,
    OUT,
    PLANE,
    RAY,
    SPHERE,
    bounds_of_corners,
    bounds_of_sphere,
    distance,
)
from rearrange.render.rays import paint_exactly
from rearrange.render.spans import span_face, span_faces, span_round, span_sphere

LANES = 16  # spans are widened to this many pixels; image buffers are padded to it


@numba.njit(**FAST)
def _add_edge(work, lows, highs, offset, by_column, by_row):
    """Keep the pixels where offset + by_column * column + by_row * row >= 0."""
    if abs(by_column) < 1e-30:
        by_column = 1e-30
    if by_column > 0.0:
        slot = LOW + lows
        lows += 1
    else:
        slot = HIGH + highs
        highs += 1
    work[slot, 0] = -offset / by_column
    work[slot, 1] = -by_row / by_column
    return lows, highs


@numba.njit(**FAST)
def _set_face(work, slot, axis, sign, gap):
    """Store the inverse depth of a face at `gap` along sign * axis as seen from the camera."""
    scale = sign / gap
    work[slot, 0] = work[RAY + axis, 0] * scale
    work[slot, 1] = work[RAY + axis, 1] * scale
    work[slot, 2] = work[RAY + axis, 2] * scale
    work[slot, 3] = axis


@numba.njit(**FAST)
def _sort_faces(work, axis, half, outs, ins):
    """Sort the two faces of a slab |x_axis| <= half into entry and exit faces."""
    for side in range(2):
        sign = 1.0 - 2.0 * side
        gap = half - sign * work[EYE, axis]
        if gap < -1e-9:
            _set_face(work, OUT + outs, axis, sign, gap)
            outs += 1
        else:
            _set_face(work, IN + ins, axis, sign, max(gap, 1e-9))
            ins += 1
    return outs, ins


@numba.njit(**FAST)
def _at(work, slot, column, row):
    """Value of an affine function of the pixel."""
    return np.float32(work[slot, 0] + work[slot, 1] * column + work[slot, 2] * row)


@numba.njit(**FAST)
def _paint_faces(buffer, ids, geom, bounds, work, rows, outs, lows, highs):
    """Paint a body of flat faces: the nearest entry face between its edges."""
    x0, x1, y0, y1 = bounds
    second, third = min(1, outs - 1), min(2, outs - 1)
    lows_of, highs_of = rows[0, : y1 - y0], rows[1, : y1 - y0]
    for k in range(lows_of.size):
        lows_of[k], highs_of[k] = x0, x1 - 1
    for e in range(LOW, LOW + lows):
        edge, slope = work[e, 0] + work[e, 1] * y0, work[e, 1]
        for k in range(lows_of.size):
            at = edge + slope * k
            lows_of[k] = at if at > lows_of[k] else lows_of[k]
    for e in range(HIGH, HIGH + highs):
        edge, slope = work[e, 0] + work[e, 1] * y0, work[e, 1]
        for k in range(highs_of.size):
            at = edge + slope * k
            highs_of[k] = at if at < highs_of[k] else highs_of[k]
    for i in range(y0, y1):
        lo, hi = math.ceil(lows_of[i - y0]), math.floor(highs_of[i - y0])
        if lo > hi:
            continue
        start = int(lo) & ~(LANES - 1)
        stop = (int(hi) | (LANES - 1)) + 1
        row = buffer[i, start:stop]
        tags = None if ids is None else ids[i, start:stop]
        first, lo32, hi32 = np.float32(start), np.float32(lo), np.float32(hi)
        a0, a1 = _at(work, OUT, start, i), np.float32(work[OUT, 1])
        if outs == 1:
            span_face(row, tags, geom, first, lo32, hi32, a0, a1)
        else:
            b0, b1 = _at(work, OUT + second, start, i), np.float32(work[OUT + second, 1])
            c0, c1 = _at(work, OUT + third, start, i), np.float32(work[OUT + third, 1])
            faces = (a0, a1, b0, b1, c0, c1)
            span_faces(row, tags, geom, first, lo32, hi32, faces)


@numba.njit(**FAST)
def _quadric_row(work, axes, constant, center, i):
    """Coefficients on row i, by column - center, of m = o.d and m^2 - constant * d.d."""
    b0, b1, a0, a1, a2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(axes):
        slope = work[RAY + k, 1]
        ray = work[RAY + k, 0] + slope * center + work[RAY + k, 2] * i
        b0 += work[EYE, k] * ray
        b1 += work[EYE, k] * slope
        a0 += ray * ray
        a1 += 2.0 * ray * slope
        a2 += slope * slope
    p0 = b0 * b0 - constant * a0
    p1 = 2.0 * b0 * b1 - constant * a1
    return b0, b1, p0, p1, b1 * b1 - constant * a2


@numba.njit(**FAST)
def _paint_sphere(buffer, ids, geom, bounds, work, constant):
    """Paint an ellipsoid whose frame has been scaled to make it a unit sphere."""
    x0, x1, y0, y1 = bounds
    start = x0 & ~(LANES - 1)
    stop = ((x1 - 1) | (LANES - 1)) + 1
    center = 0.5 * (x0 + x1 - 1)
    first = np.float32(start - center)
    enter = np.float32(1.0 / constant)
    for i in range(y0, y1):
        b0, b1, p0, p1, p2 = _quadric_row(work, 3, constant, center, i)
        if p2 < 0.0 and p1 * p1 < 4.0 * p2 * p0:  # no root, nothing on this row
            continue
        tags = None if ids is None else ids[i, start:stop]
        quadric = (
            np.float32(b0), np.float32(b1),
            np.float32(p0), np.float32(p1), np.float32(p2), enter,
        )  # fmt: skip
        span_sphere(buffer[i, start:stop], tags, geom, first, quadric)


@numba.njit(**FAST)
def _line(work, slot, center, i):
    """Offset at `center` on row i and slope of an affine function of the pixel."""
    return _at(work, slot, center, i), np.float32(work[slot, 1])


@numba.njit(**FAST)
def _paint_cylinder(buffer, ids, geom, bounds, work, constant, outs, ins):
    """Paint a cylinder along the geom's z axis, seen from outside."""
    x0, x1, y0, y1 = bounds
    start = x0 & ~(LANES - 1)
    stop = ((x1 - 1) | (LANES - 1)) + 1
    center = 0.5 * (x0 + x1 - 1)
    first = np.float32(start - center)
    around = constant > 0.0
    enter = np.float32(1.0 / constant) if around else np.float32(0.0)
    always = np.float32(0.0) if around else np.float32(HUGE)
    leave = np.float32(1.0 / constant)
    if outs == 0:
        work[OUT, 0], work[OUT, 1], work[OUT, 2] = HUGE, 0.0, 0.0
    if ins == 1:
        for k in range(3):
            work[IN + 1, k] = work[IN, k]
    for i in range(y0, y1):
        b0, b1, p0, p1, p2 = _quadric_row(work, 2, constant, center, i)
        if p2 < 0.0 and p1 * p1 < 4.0 * p2 * p0:  # no root, nothing on this row
            continue
        o0, o1 = _line(work, OUT, center, i)
        i0, i1 = _line(work, IN, center, i)
        j0, j1 = _line(work, IN + 1, center, i)
        quadric = (
            np.float32(b0), np.float32(b1),
            np.float32(p0), np.float32(p1), np.float32(p2), enter, leave, always,
        )  # fmt: skip
        tags = None if ids is None else ids[i, start:stop]
        caps = (o0, o1, i0, i1, j0, j1)
        span_round(buffer[i, start:stop], tags, geom, first, quadric, caps)


@numba.njit(**FAST)
def _paint_plane(buffer, ids, geom, size, center, work, rows, lens, width):
    """Paint the front of a plane, finite where its sizes are positive."""
    height = work[EYE, 2]
    if height <= 0.0:
        return
    _set_face(work, OUT, 2, 1.0, -height)
    q0, q1, q2 = work[OUT, 0], work[OUT, 1], work[OUT, 2]
    lows, highs = _add_edge(work, 0, 0, q0 - 1.0 / lens[3], q1, q2)
    bounds = (0, width, 0, buffer.shape[0])
    if size[0] > 0.0 and size[1] > 0.0:
        work[AXIS + 2, 0], work[AXIS + 2, 1], work[AXIS + 2, 2] = 0.0, 0.0, 0.0
        bounds = bounds_of_corners(
            work, center[0], center[1], center[2], lens, width, buffer.shape[0]
        )
    for axis in range(2):
        if size[axis] <= 0.0:
            continue
        for sign in (-1.0, 1.0):
            gap = size[axis] - sign * work[EYE, axis]
            lows, highs = _add_edge(
                work,
                lows,
                highs,
                gap * q0 - sign * work[RAY + axis, 0],
                gap * q1 - sign * work[RAY + axis, 1],
                gap * q2 - sign * work[RAY + axis, 2],
            )
    _paint_faces(buffer, ids, geom, bounds, work, rows, 1, lows, highs)


@numba.njit(**FAST)
def _paint_box(buffer, ids, geom, size, center, work, rows, lens, width):
    """Paint a box, seen from outside."""
    bounds = bounds_of_corners(work, center[0], center[1], center[2], lens, width, buffer.shape[0])
    if bounds[1] == 0:
        return
    outs, ins, lows, highs = 0, 0, 0, 0
    for axis in range(3):
        outs, ins = _sort_faces(work, axis, size[axis], outs, ins)
    for p in range(OUT, OUT + outs):
        for q in range(IN, IN + ins):
            if work[p, 3] != work[q, 3]:
                lows, highs = _add_edge(
                work, lows, highs,
                    work[p, 0] - work[q, 0], work[p, 1] - work[q, 1], work[p, 2] - work[q, 2],
                )  # fmt: skip
    _paint_faces(buffer, ids, geom, bounds, work, rows, outs, lows, highs)


@numba.njit(**FAST)
def _shrink(work, axis, size):
    """Measure the geom's frame in units of `size` along an axis."""
    work[EYE, axis] /= size
    for k in range(3):
        work[RAY + axis, k] /= size


@numba.njit(**FAST)
def _paint_ball(buffer, ids, geom, size, offset, radius, center, work, lens, width):
    """Paint an ellipsoid, or the half of a capsule's ends that lies at `offset` along z."""
    constant = -1.0
    work[EYE, 2] -= offset
    for k in range(3):
        _shrink(work, k, size[k])
        constant += work[EYE, k] ** 2
    bounds = bounds_of_sphere(center[0], center[1], center[2], radius, lens, width, buffer.shape[0])
    if bounds[1] > 0:
        _paint_sphere(buffer, ids, geom, bounds, work, constant)


@numba.njit(**FAST)
def _paint_tube(buffer, ids, geom, size, center, work, lens, width):
    """Paint a cylinder: the whole geom, or the middle of a capsule."""
    cx, cy, cw = center
    ax, ay, aw = work[AXIS + 2, 0], work[AXIS + 2, 1], work[AXIS + 2, 2]
    sx, sy, sw = ay * cw - aw * cy, aw * cx - ax * cw, ax * cy - ay * cx
    length = math.sqrt(sx * sx + sy * sy + sw * sw)
    if length > 1e-9:  # turn the bounding box about the cylinder's axis to face the camera
        scale = size[0] / length
        sx, sy, sw = sx * scale, sy * scale, sw * scale
        work[AXIS, 0], work[AXIS, 1], work[AXIS, 2] = sx, sy, sw
        work[AXIS + 1, 0] = (ay * sw - aw * sy) / size[2]
        work[AXIS + 1, 1] = (aw * sx - ax * sw) / size[2]
        work[AXIS + 1, 2] = (ax * sy - ay * sx) / size[2]
    bounds = bounds_of_corners(work, cx, cy, cw, lens, width, buffer.shape[0])
    if bounds[1] > 0:
        constant = work[EYE, 0] ** 2 + work[EYE, 1] ** 2 - size[0] ** 2
        if abs(constant) < 1e-12:
            constant = 1e-12
        outs, ins = _sort_faces(work, 2, size[2], 0, 0)
        _paint_cylinder(buffer, ids, geom, bounds, work, constant, outs, ins)


@numba.njit(**FAST)
def _paint_capsule(buffer, ids, geom, size, center, work, lens, width):
    """Paint a capsule as a cylinder and two spheres."""
    cx, cy, cw = center
    ax, ay, aw = work[AXIS + 2, 0], work[AXIS + 2, 1], work[AXIS + 2, 2]
    _paint_tube(buffer, ids, geom, size, center, work, lens, width)
    ball = (size[0], size[0], size[0])
    lower, upper = (cx - ax, cy - ay, cw - aw), (cx + ax, cy + ay, cw + aw)
    _paint_ball(buffer, ids, geom, ball, -size[2], size[0], lower, work, lens, width)
    unit = (1.0, 1.0, 1.0)
    work[EYE, 2] -= 2.0 * size[2] / size[0]
    _paint_ball(buffer, ids, geom, unit, 0.0, size[0], upper, work, lens, width)


@numba.njit(**FAST)
def paint_geom(buffer, ids, geom, kind, size, center, work, rows, lens, width):
    """Paint one geom, described in `work`, into the inverse depth image `buffer`."""
    reach = lens[2] * math.sqrt(1.0 + lens[0] * lens[0] + lens[1] * lens[1])
    if distance(kind, size, work) < 1.001 * reach + 1e-6:
        if kind in (ELLIPSOID, SPHERE):
            for k in range(3):
                _shrink(work, k, size[k])
            kind = SPHERE
        paint_exactly(buffer, ids, geom, kind, size, width, work, lens[2])
    elif kind == BOX:
        _paint_box(buffer, ids, geom, size, center, work, rows, lens, width)
    elif kind == CYLINDER:
        _paint_tube(buffer, ids, geom, size, center, work, lens, width)
    elif kind == CAPSULE:
        _paint_capsule(buffer, ids, geom, size, center, work, lens, width)
    elif kind == PLANE:
        _paint_plane(buffer, ids, geom, size, center, work, rows, lens, width)
    else:
        ball = (size[0], size[1], size[2])
        radius = max(size[0], size[1], size[2])
        _paint_ball(buffer, ids, geom, ball, 0.0, radius, center, work, lens, width)


@numba.njit(**FAST)
def write_depth(buffer, out, far, unit):
    """Write 1 / buffer [H, W padded] into out [H, W], `far` where nothing was painted, in units [m]."""
    least, one, farthest = np.float32(1.0 / far), np.float32(1.0 / unit), np.float32(far / unit)
    for i in range(out.shape[0]):
        row, target = buffer[i, : out.shape[1]], out[i]
        for j in range(target.size):
            target[j] = one / row[j] if row[j] > least else farthest
