"""Numba kernels that paint a body on one row of an image, in inverse depth; see `painting.py`.

They loop over slices (`row[0:n]`), so that LLVM can prove indices non-negative and vectorises.
"""

import math

import numba
import numpy as np

from rearrange.render.projection import FAST


@numba.njit(**FAST)
def span_faces(row, ids, geom, first, lo, hi, faces):
    """Paint the nearest of up to three faces on the columns [lo, hi] of one row."""
    a0, a1, b0, b1, c0, c1 = faces
    zero = np.float32(0.0)
    for k in range(row.size):
        column = np.float32(k)
        q = a0 + a1 * column
        other = b0 + b1 * column
        q = other if other < q else q
        other = c0 + c1 * column
        q = other if other < q else q
        x = column + first
        q = q if (x >= lo) & (x <= hi) else zero
        if ids is None:
            row[k] = q if q > row[k] else row[k]
        else:
            ids[k] = geom if q > row[k] else ids[k]
            row[k] = q if q > row[k] else row[k]


@numba.njit(**FAST)
def span_face(row, ids, geom, first, lo, hi, a0, a1):
    """Paint a single face on the columns [lo, hi] of one row."""
    zero = np.float32(0.0)
    for k in range(row.size):
        column = np.float32(k)
        q = a0 + a1 * column
        x = column + first
        q = q if (x >= lo) & (x <= hi) else zero
        if ids is None:
            row[k] = q if q > row[k] else row[k]
        else:
            ids[k] = geom if q > row[k] else ids[k]
            row[k] = q if q > row[k] else row[k]


@numba.njit(**FAST)
def span_round(row, ids, geom, first, quadric, caps):
    """Paint a quadric that is cut off by up to three flat faces on one row."""
    b0, b1, p0, p1, p2, enter, leave, always = quadric
    o0, o1, i0, i1, j0, j1 = caps
    zero = np.float32(0.0)
    for k in range(row.size):
        x = np.float32(k) + first
        middle = b0 + b1 * x
        square = p0 + x * (p1 + x * p2)
        root = math.sqrt(square if square > zero else zero)
        q = (root - middle) * enter + always
        other = o0 + o1 * x
        q = other if other < q else q
        last = (-root - middle) * leave
        other = i0 + i1 * x
        last = other if other > last else last
        other = j0 + j1 * x
        last = other if other > last else last
        q = q if (square >= zero) & (q >= last) else zero
        if ids is None:
            row[k] = q if q > row[k] else row[k]
        else:
            ids[k] = geom if q > row[k] else ids[k]
            row[k] = q if q > row[k] else row[k]


@numba.njit(**FAST)
def span_sphere(row, ids, geom, first, quadric):
    """Paint a whole ellipsoid, seen from outside, on one row."""
    b0, b1, p0, p1, p2, enter = quadric
    zero = np.float32(0.0)
    for k in range(row.size):
        x = np.float32(k) + first
        square = p0 + x * (p1 + x * p2)
        root = math.sqrt(square if square > zero else zero)
        q = (root - (b0 + b1 * x)) * enter
        q = q if square >= zero else zero
        if ids is None:
            row[k] = q if q > row[k] else row[k]
        else:
            ids[k] = geom if q > row[k] else ids[k]
            row[k] = q if q > row[k] else row[k]
