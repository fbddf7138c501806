"""Images of triangle meshes (numba): trees are painted from front to back into inverse depth.

The rays of an image part from one point through a grid. Hence the column and row of a point are quotients
of two affine functions of it, which gives the pixels that a node of a tree may cover; and along the rays of
the grid the inverse depth q of a triangle's plane, and the share of each of its corners times q, are affine
in column and row. A node is left out when no pixel's centre lies in its rectangle, or when all of that is
painted nearer than the node begins. When a single pixel is left, its ray goes on alone. So an image costs by
what is seen in it, and nothing is divided per pixel but there. What counts as met is as in `rays`.
"""

import math

import numba
import numpy as np

from rearrange.caching import cached_njit
from rearrange.render.meshes.library import Packed
from rearrange.render.meshes.rays import (
    CALLED,
    FLAT,
    INLINE,
    NOTHING,
    OPTIONS,
    TOLERANCE,
    hit_mesh,
    length,
)
from rearrange.render.meshes.tree import STACK
from rearrange.render.painting import write_depth
from rearrange.render.projection import HUGE

SINGLE = np.float32
SLACK = 0.001  # pixels by which a rectangle is wider
LARGE = 256  # pixels from which on it is not asked whether a rectangle is hidden: its parts are
LONG = 1.25  # depth of a box's middle over its least depth from which on its corners are projected
NARROW = 8  # columns up to which pixels are painted one by one
FEW = 4  # pixels from which on down their rays go on alone: four cost less than where a node lies
EYE, COLUMN, ROW, AHEAD, FIRST, BY_COLUMN, BY_ROW, VIEW_ROWS = 0, 1, 2, 3, 4, 5, 6, 7


@numba.njit(**INLINE)
def _look(view, position, matrix, scale, eye, axes, lens, width, height):
    """Write a camera as a mesh in some pose sees it into view [VIEW_ROWS, 3].

    EYE is the camera. Less the eye, a point's products with COLUMN and ROW over that with AHEAD are its
    place in the image. FIRST + column * BY_COLUMN + row * BY_ROW is a ray, per metre of z-depth.
    """
    x, y, z = eye[0] - position[0], eye[1] - position[1], eye[2] - position[2]
    step_x, step_y = 2.0 * lens[0] / width, -2.0 * lens[1] / height
    left, top = 0.5 * step_x - lens[0], 0.5 * step_y + lens[1]
    for k in range(3):
        p, q, r, s = matrix[k], matrix[3 + k], matrix[6 + k], scale[k]
        right = p * axes[0, 0] + q * axes[1, 0] + r * axes[2, 0]
        up = p * axes[0, 1] + q * axes[1, 1] + r * axes[2, 1]
        ahead = -(p * axes[0, 2] + q * axes[1, 2] + r * axes[2, 2])
        view[EYE, k] = (p * x + q * y + r * z) / s
        view[COLUMN, k] = (right - left * ahead) / step_x * s
        view[ROW, k] = (up - top * ahead) / step_y * s
        view[AHEAD, k] = ahead * s
        view[FIRST, k] = (ahead + left * right + top * up) / s
        view[BY_COLUMN, k] = step_x * right / s
        view[BY_ROW, k] = step_y * up / s


@numba.njit(**CALLED)
def _is_beside(x, y, z, rx, ry, rz, view, around):
    """Whether a box, by its middle less the eye and its half sides, lies beside a rectangle of pixels."""
    x0, x1, y0, y1 = around
    for side in range(4):
        of, sign = COLUMN if side < 2 else ROW, 1.0 if side % 2 == 0 else -1.0
        if side < 2:
            edge = x0 - SLACK if side == 0 else x1 - 1 + SLACK
        else:
            edge = y0 - SLACK if side == 2 else y1 - 1 + SLACK
        a = sign * (view[of, 0] - edge * view[AHEAD, 0])
        b = sign * (view[of, 1] - edge * view[AHEAD, 1])
        c = sign * (view[of, 2] - edge * view[AHEAD, 2])
        if a * x + b * y + c * z + abs(a) * rx + abs(b) * ry + abs(c) * rz < 0.0:
            return True
    return False


@numba.njit(**CALLED)
def _bounds_of_corners(x, y, z, rx, ry, rz, view):
    """Least and largest column and row of a box's corners, all before the camera."""
    left, right, top, bottom = HUGE, -HUGE, HUGE, -HUGE
    for corner in range(8):
        px = x + rx if corner & 1 else x - rx
        py = y + ry if corner & 2 else y - ry
        pz = z + rz if corner & 4 else z - rz
        inverse = 1.0 / (view[AHEAD, 0] * px + view[AHEAD, 1] * py + view[AHEAD, 2] * pz)
        column = (view[COLUMN, 0] * px + view[COLUMN, 1] * py + view[COLUMN, 2] * pz) * inverse
        row = (view[ROW, 0] * px + view[ROW, 1] * py + view[ROW, 2] * pz) * inverse
        left, right = min(left, column), max(right, column)
        top, bottom = min(top, row), max(bottom, row)
    return left - SLACK, right + SLACK, top - SLACK, bottom + SLACK


@numba.njit(**INLINE)
def _bounds_of_middle(x, y, z, rx, ry, rz, view, of, inverse, nearest):
    """Bounds of a box's columns or rows, a little wide.

    Off the middle a point's column differs by its product with (COLUMN - column of the middle * AHEAD) over
    its depth: at most the sum over the half sides, at the least depth.
    """
    a, b, c = view[of, 0], view[of, 1], view[of, 2]
    middle = (a * x + b * y + c * z) * inverse
    a, b, c = (
        a - middle * view[AHEAD, 0], b - middle * view[AHEAD, 1], c - middle * view[AHEAD, 2]
    )  # fmt: skip
    half = (abs(a) * rx + abs(b) * ry + abs(c) * rz) * nearest + SLACK
    return middle - half, middle + half


@numba.njit(**INLINE)
def _project(node, view, near, around):
    """Pixels x0, x1, y0, y1 that a node may cover, within `around`, and its largest inverse depth."""
    x, y, z = node.x - view[EYE, 0], node.y - view[EYE, 1], node.z - view[EYE, 2]
    rx, ry, rz = np.float64(node.half_x), np.float64(node.half_y), np.float64(node.half_z)
    fx, fy, fz = view[AHEAD, 0], view[AHEAD, 1], view[AHEAD, 2]
    depth = fx * x + fy * y + fz * z
    reach = abs(fx) * rx + abs(fy) * ry + abs(fz) * rz
    x0, x1, y0, y1 = around
    if depth + reach < near:
        return 0, 0, 0, 0, 0.0
    if depth - reach <= 0.5 * near:
        if _is_beside(x, y, z, rx, ry, rz, view, around):
            return 0, 0, 0, 0, 0.0
        return x0, x1, y0, y1, HUGE
    nearest = 1.0 / (depth - reach)
    if depth * nearest > LONG:
        left, right, top, bottom = _bounds_of_corners(x, y, z, rx, ry, rz, view)
    else:
        inverse = 1.0 / depth
        left, right = _bounds_of_middle(x, y, z, rx, ry, rz, view, COLUMN, inverse, nearest)
        top, bottom = _bounds_of_middle(x, y, z, rx, ry, rz, view, ROW, inverse, nearest)
    left, right = max(left, x0 - 0.5), min(right, x1 - 0.5)
    top, bottom = max(top, y0 - 0.5), min(bottom, y1 - 0.5)
    if left > right or top > bottom:
        return 0, 0, 0, 0, 0.0
    x0, x1 = math.ceil(left), math.floor(right) + 1
    return x0, x1, math.ceil(top), math.floor(bottom) + 1, nearest


@numba.njit(**INLINE)
def _is_seen(buffer, box, nearest):
    """Whether a pixel of a rectangle shows something farther than 1 / nearest."""
    x0, x1, y0, y1 = box
    if x0 >= x1 or y0 >= y1:
        return False
    if (x1 - x0) * (y1 - y0) > LARGE:
        return True
    q = SINGLE(nearest)
    for i in range(y0, y1):
        for j in range(x0, x1):
            if buffer[i, j] < q:
                return True
    return False


@numba.njit(**CALLED)
def _paint_row(row, tags, faces, tag, face, q, a, b, c, most):
    """Paint a triangle into a row of pixels; q, a, b, c: values at its start and steps."""
    q0, dq, a0, da = SINGLE(q[0]), SINGLE(q[1]), SINGLE(a[0]), SINGLE(a[1])
    b0, db, c0, dc = SINGLE(b[0]), SINGLE(b[1]), SINGLE(c[0]), SINGLE(c[1])
    zero, most = SINGLE(0.0), SINGLE(most)
    for j in range(row.size):
        k = SINGLE(j)
        here = q0 + dq * k
        hit = (a0 + da * k >= zero) & (b0 + db * k >= zero) & (c0 + dc * k >= zero)
        hit &= (here > row[j]) & (here <= most)
        if tags is not None:
            tags[j] = tag if hit else tags[j]
            faces[j] = face if hit else faces[j]
        row[j] = here if hit else row[j]


@numba.njit(**INLINE)
def _affine(x, y, z, view, box):
    """Product of a vector with the ray of the first pixel of a rectangle, and its steps by column and row."""
    column = x * view[BY_COLUMN, 0] + y * view[BY_COLUMN, 1] + z * view[BY_COLUMN, 2]
    row = x * view[BY_ROW, 0] + y * view[BY_ROW, 1] + z * view[BY_ROW, 2]
    first = x * view[FIRST, 0] + y * view[FIRST, 1] + z * view[FIRST, 2]
    return first + column * box[0] + row * box[2], column, row


@numba.njit(**INLINE)
def _paint_few(buffer, tags, faces, tag, face, q, a, b, c, box, most):
    """Paint a triangle into a narrow rectangle; q, a, b, c: values at its first pixel and steps."""
    x0, x1, y0, y1 = box
    for i in range(y0, y1):
        for j in range(x0, x1):
            column, row = np.float64(j - x0), np.float64(i - y0)
            here = q[0] + q[1] * column + q[2] * row
            if not buffer[i, j] < here <= most:
                continue
            least = -TOLERANCE * here
            if a[0] + a[1] * column + a[2] * row < least:
                continue
            if b[0] + b[1] * column + b[2] * row < least:
                continue
            if c[0] + c[1] * column + c[2] * row < least:
                continue
            buffer[i, j] = here
            if tags is not None:
                tags[i, j] = tag
                faces[i, j] = face


@numba.njit(**INLINE)
def _paint_triangle(buffer, tags, faces, tag, face, corners, view, box, most):
    """Paint a triangle into a rectangle of pixels."""
    t, ex, ey, ez = corners[face], view[EYE, 0], view[EYE, 1], view[EYE, 2]
    px, py, pz = t[0] - ex, t[1] - ey, t[2] - ez
    qx, qy, qz = t[3] - ex, t[4] - ey, t[5] - ez
    rx, ry, rz = t[6] - ex, t[7] - ey, t[8] - ez
    # Normals of the planes through the eye and an edge
    ax, ay, az = qy * rz - qz * ry, qz * rx - qx * rz, qx * ry - qy * rx
    bx, by, bz = ry * pz - rz * py, rz * px - rx * pz, rx * py - ry * px
    cx, cy, cz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    volume = px * ax + py * ay + pz * az
    if abs(volume) <= FLAT * length(px, py, pz) * length(qx, qy, qz) * length(rx, ry, rz):
        return
    inverse = 1.0 / volume
    a = _affine(ax * inverse, ay * inverse, az * inverse, view, box)
    b = _affine(bx * inverse, by * inverse, bz * inverse, view, box)
    c = _affine(cx * inverse, cy * inverse, cz * inverse, view, box)
    q = (a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2])
    x0, x1, y0, y1 = box
    if x1 - x0 < NARROW:
        _paint_few(buffer, tags, faces, tag, face, q, a, b, c, box, most)
        return
    for i in range(y0, y1):
        k = i - y0
        here = q[0] + q[2] * k
        wider, more = TOLERANCE * here, TOLERANCE * q[1]
        _paint_row(
            buffer[i, x0:x1],
            None if tags is None else tags[i, x0:x1],
            None if faces is None else faces[i, x0:x1],
            tag,
            face,
            (here, q[1]),
            (a[0] + a[2] * k + wider, a[1] + more),
            (b[0] + b[2] * k + wider, b[1] + more),
            (c[0] + c[2] * k + wider, c[1] + more),
            most,
        )


@numba.njit(**INLINE)
def _paint_pixel(
    buffer, tags, faces, tag, nodes, corners, node, row, column, view, near, of_ray
):  # fmt: skip
    """Paint what the ray of a pixel meets below a node."""
    eye = (view[EYE, 0], view[EYE, 1], view[EYE, 2])
    direction = (
        view[FIRST, 0] + column * view[BY_COLUMN, 0] + row * view[BY_ROW, 0],
        view[FIRST, 1] + column * view[BY_COLUMN, 1] + row * view[BY_ROW, 1],
        view[FIRST, 2] + column * view[BY_COLUMN, 2] + row * view[BY_ROW, 2],
    )
    far = 1.0 / np.float64(buffer[row, column])
    depth, face = hit_mesh(nodes, corners, node, of_ray, 0, eye, direction, near, far)
    if face != NOTHING:
        buffer[row, column] = 1.0 / depth
        if tags is not None:
            tags[row, column] = tag
            faces[row, column] = face


@numba.njit(**CALLED)
def _paint_tree(
    buffer, tags, faces, tag, nodes, corners, node, box, view, near, stack, depths, of_ray
):
    """Paint a node, whose rectangle is `box`, and all below it, nearer children first."""
    top, most = 0, 1.0 / near
    while True:
        count, first = nodes[node].count, nodes[node].first
        if (box[1] - box[0]) * (box[3] - box[2]) <= FEW:
            for row in range(box[2], box[3]):
                for column in range(box[0], box[1]):
                    _paint_pixel(
                        buffer,
                        tags,
                        faces,
                        tag,
                        nodes,
                        corners,
                        node,
                        row,
                        column,
                        view,
                        near,
                        of_ray,
                    )
        elif count < 0:
            ax0, ax1, ay0, ay1, a = _project(nodes[first], view, near, box)
            bx0, bx1, by0, by1, b = _project(nodes[first + 1], view, near, box)
            see_a = _is_seen(buffer, (ax0, ax1, ay0, ay1), a)
            see_b = _is_seen(buffer, (bx0, bx1, by0, by1), b)
            if see_a and see_b:
                keep = stack[top]
                if a >= b:
                    keep[0], keep[1], keep[2], keep[3], keep[4] = first + 1, bx0, bx1, by0, by1
                    depths[top] = b
                    node, box = first, (ax0, ax1, ay0, ay1)
                else:
                    keep[0], keep[1], keep[2], keep[3], keep[4] = first, ax0, ax1, ay0, ay1
                    depths[top] = a
                    node, box = first + 1, (bx0, bx1, by0, by1)
                top += 1
                continue
            if see_a:
                node, box = first, (ax0, ax1, ay0, ay1)
                continue
            if see_b:
                node, box = first + 1, (bx0, bx1, by0, by1)
                continue
        else:
            for face in range(first, first + count):
                _paint_triangle(buffer, tags, faces, tag, face, corners, view, box, most)
        while True:
            if top == 0:
                return
            top -= 1
            keep = stack[top]
            node, box = keep[0], (keep[1], keep[2], keep[3], keep[4])
            if _is_seen(buffer, box, depths[top]):
                break


@cached_njit(**OPTIONS)
def paint_meshes(
    packed: Packed, ids, tags_of, meshes, scales, xpos, xmat, eye, axes, lens, buffer, tags, faces, depth,
    width, unit,
):  # fmt: skip
    """Paint geoms that show meshes over what is in an image.

    Args:
        packed: Meshes, see library.Packed.
        ids: Geoms [K], rows of xpos and xmat.
        tags_of: What is written into `tags` for each [K].
        meshes: Mesh of each [K].
        scales: Factors along its axes [K, 3].
        xpos: Positions of geoms [., 3], m.
        xmat: Rotations of geoms [., 9].
        eye: Camera [3], m.
        axes: World-from-camera rotation [3, 3].
        lens: See `Camera.lens`.
        buffer: Inverse depth [H, W padded], changed.
        tags: Changed where a mesh is seen [H, W padded]; None where not asked.
        faces: Triangles of `packed`, likewise.
        depth: Written: see `write_depth`; may be NO_IMAGE.
        width: Of the image.
        unit: Of the depth [m].
    """
    height, near, count = buffer.shape[0], lens[2], len(ids)
    views, boxes = np.empty((count, VIEW_ROWS, 3)), np.empty((count, 4), np.int64)
    stack, depths, nearest = np.empty((STACK, 5), np.int64), np.empty(STACK), np.empty(count)
    of_ray = np.empty((2, STACK))
    for k in range(count):
        geom, root = ids[k], packed.roots[meshes[k]]
        _look(views[k], xpos[geom], xmat[geom], scales[k], eye, axes, lens, width, height)
        around = (0, width, 0, height)
        x0, x1, y0, y1, q = _project(packed.nodes[root], views[k], near, around)
        boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = x0, x1, y0, y1
        nearest[k] = q if x0 < x1 and y0 < y1 else -1.0
    for k in np.argsort(-nearest):
        box = (boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3])
        if nearest[k] > 0.0 and _is_seen(buffer, box, nearest[k]):
            _paint_tree(
                buffer, tags, faces, tags_of[k], packed.nodes, packed.corners,
                packed.roots[meshes[k]], box, views[k], near, stack, depths, of_ray,
            )  # fmt: skip
    write_depth(buffer, depth, lens[3], unit)
