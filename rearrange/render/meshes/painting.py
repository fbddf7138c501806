"""Images of triangle meshes (numba): trees are painted from front to back into inverse depth.

The rays of an image part from one point through a grid. Hence the column and row of a point are quotients
of two affine functions of it, which gives the pixels that a node of a tree may cover; and along the rays of
the grid the inverse depth q of a triangle's plane, and the share of each of its corners times q, are affine
in column and row. A node is left out when no pixel's centre lies in its rectangle, or when all of that is
painted nearer than the node begins. So no ray goes through a tree alone, nothing is divided per pixel, and
an image costs by what is seen in it.

Triangles have two sides, as for `mujoco.mj_ray`. They are wider by TOLERANCE of themselves, so that single
precision leaves no cracks. Those that are seen exactly edge-on, or have no area, are not there.
"""

import math

import numba
import numpy as np

from rearrange.caching import cached_njit
from rearrange.render.meshes.library import Packed
from rearrange.render.meshes.tree import STACK
from rearrange.render.painting import write_depth
from rearrange.render.projection import HUGE

TOLERANCE = 1e-5  # share of a triangle by which its edges lie further out
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz", "nnan"}}
INLINE = OPTIONS | {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
SINGLE = np.float32
SLACK = 0.001  # pixels by which a rectangle is wider
LARGE = 256  # pixels from which on it is not asked whether a rectangle is hidden: its parts are
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


@numba.njit(**INLINE)
def _project(node, view, near, around):
    """Pixels x0, x1, y0, y1 that a node may cover, within `around`, and its largest inverse depth.

    Off the middle of the box a point's column differs by its product with (COLUMN - column of the middle *
    AHEAD) over its depth: at most the sum over the half sides, at the least depth. Exact but for that.
    """
    x, y, z = node.x - view[EYE, 0], node.y - view[EYE, 1], node.z - view[EYE, 2]
    rx, ry, rz = np.float64(node.half_x), np.float64(node.half_y), np.float64(node.half_z)
    fx, fy, fz = view[AHEAD, 0], view[AHEAD, 1], view[AHEAD, 2]
    depth = fx * x + fy * y + fz * z
    reach = abs(fx) * rx + abs(fy) * ry + abs(fz) * rz
    x0, x1, y0, y1 = around
    if depth + reach < near:
        return 0, 0, 0, 0, 0.0
    if depth - reach <= 0.5 * near:
        return x0, x1, y0, y1, HUGE
    nearest, inverse = 1.0 / (depth - reach), 1.0 / depth
    a, b, c = view[COLUMN, 0], view[COLUMN, 1], view[COLUMN, 2]
    middle = (a * x + b * y + c * z) * inverse
    a, b, c = a - middle * fx, b - middle * fy, c - middle * fz
    half = (abs(a) * rx + abs(b) * ry + abs(c) * rz) * nearest + SLACK
    low, high = max(middle - half, x0 - 0.5), min(middle + half, x1 - 0.5)
    if low > high:
        return 0, 0, 0, 0, 0.0
    x0, x1 = int(math.ceil(low)), int(math.floor(high)) + 1
    a, b, c = view[ROW, 0], view[ROW, 1], view[ROW, 2]
    middle = (a * x + b * y + c * z) * inverse
    a, b, c = a - middle * fx, b - middle * fy, c - middle * fz
    half = (abs(a) * rx + abs(b) * ry + abs(c) * rz) * nearest + SLACK
    low, high = max(middle - half, y0 - 0.5), min(middle + half, y1 - 0.5)
    if low > high:
        return 0, 0, 0, 0, 0.0
    return x0, x1, int(math.ceil(low)), int(math.floor(high)) + 1, nearest


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


@numba.njit(**INLINE)
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
    if abs(volume) < 1e-30:
        return
    inverse = 1.0 / volume
    a, a_column, a_row = _affine(ax * inverse, ay * inverse, az * inverse, view, box)
    b, b_column, b_row = _affine(bx * inverse, by * inverse, bz * inverse, view, box)
    c, c_column, c_row = _affine(cx * inverse, cy * inverse, cz * inverse, view, box)
    q, q_column, q_row = a + b + c, a_column + b_column + c_column, a_row + b_row + c_row
    x0, x1, y0, y1 = box
    for i in range(y0, y1):
        k = i - y0
        here = q + q_row * k
        wider = TOLERANCE * here
        _paint_row(
            buffer[i, x0:x1],
            None if tags is None else tags[i, x0:x1],
            None if faces is None else faces[i, x0:x1],
            tag,
            face,
            (here, q_column),
            (a + a_row * k + wider, a_column + TOLERANCE * q_column),
            (b + b_row * k + wider, b_column + TOLERANCE * q_column),
            (c + c_row * k + wider, c_column + TOLERANCE * q_column),
            most,
        )


@numba.njit(**INLINE)
def _paint_tree(buffer, tags, faces, tag, nodes, corners, node, box, view, near, stack, depths):
    """Paint a node, whose rectangle is `box`, and all below it, nearer children first."""
    top, most = 0, 1.0 / near
    while True:
        count, first = nodes[node].count, nodes[node].first
        if count < 0:
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
                packed.roots[meshes[k]], box, views[k], near, stack, depths,
            )  # fmt: skip
    write_depth(buffer, depth, lens[3], unit)
