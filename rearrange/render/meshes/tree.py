"""Bounding volume hierarchies (numba): a binary tree of boxes around triangles, or around whole meshes.

Splits are those of the least expected cost of a ray (surface area heuristic, in bins). Below a certain
depth a node is halved instead, so that every tree fits on a stack of STACK nodes.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from rearrange.caching import cached_njit

# A box by its middle and half sides, in the mesh's frame [m]. Two children lie side by side at `first`, which
# is even, so that both are in one line of the cache; a leaf holds the `count` triangles from `first` on.
NODE = np.dtype(
    [
        *((name, np.float32) for name in ("x", "y", "z", "half_x", "half_y", "half_z")),
        *((name, np.int32) for name in ("first", "count")),
    ]
)
CACHE_LINE = 64  # bytes
INNER = -1  # count of a node that is no leaf
BINS = 16
SAH_DEPTH = 48  # nodes below that are halved
STACK = 96  # SAH_DEPTH and the depth of 2^48 halved items
WIDEN = 1.0 + 2.0**-22  # covers what rounding the half sides to single precision takes off
OPTIONS = {"nogil": True, "error_model": "numpy"}


def build_tree(
    low: NDArray[np.float32], high: NDArray[np.float32], leaf: int
) -> tuple[np.ndarray, NDArray[np.int32]]:
    """Build a tree over boxes.

    Args:
        low: Lower corner of each box [T, 3].
        high: Upper corner of each [T, 3].
        leaf: A node of no more boxes is a leaf.

    Returns:
        Nodes [N] of type NODE, the root first, the second of no use; the order [T] in which the leaves
        hold the boxes.
    """
    count = len(low)
    nodes = np.zeros(max(2 * count, 2), NODE)
    order = np.arange(count, dtype=np.int32)
    used = _fill(np.ascontiguousarray(low), np.ascontiguousarray(high), leaf, nodes, order)
    return nodes[:used].copy(), order


def aligned(nodes: np.ndarray) -> np.ndarray:
    """A copy of nodes that begins with a line of the cache."""
    room = np.empty(nodes.nbytes + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    copied = room[start : start + nodes.nbytes].view(NODE)
    copied[:] = nodes
    return copied


@numba.njit(**OPTIONS)
def _enclose(low, high, order, begin, end, box, spread):
    """Write the bounds [6] of some boxes into `box`, and those of their middles, doubled, into `spread`."""
    for k in range(3):
        box[k] = spread[k] = np.inf
        box[3 + k] = spread[3 + k] = -np.inf
    for n in range(begin, end):
        t = order[n]
        for k in range(3):
            a, b = low[t, k], high[t, k]
            box[k], box[3 + k] = min(box[k], a), max(box[3 + k], b)
            spread[k], spread[3 + k] = min(spread[k], a + b), max(spread[3 + k], a + b)


@numba.njit(**OPTIONS)
def _bin_of(low, high, t, axis, spread):
    """The bin of a box along an axis; the same arithmetic wherever it is asked."""
    scale = BINS * np.float32(0.9999) / (spread[3 + axis] - spread[axis])
    return min(int((low[t, axis] + high[t, axis] - spread[axis]) * scale), BINS - 1)


@numba.njit(**OPTIONS)
def _fill_bins(low, high, order, begin, end, axis, spread, counts, bins):
    """Count the boxes of each bin [BINS] and bound them [BINS, 6]."""
    counts[:] = 0
    bins[:, :3], bins[:, 3:] = np.inf, -np.inf
    for n in range(begin, end):
        t = order[n]
        i = _bin_of(low, high, t, axis, spread)
        counts[i] += 1
        for k in range(3):
            bins[i, k] = min(bins[i, k], low[t, k])
            bins[i, 3 + k] = max(bins[i, 3 + k], high[t, k])


@numba.njit(**OPTIONS)
def _grow(box, other):
    """Widen a box [6] to hold another; return half its surface."""
    for k in range(3):
        box[k], box[3 + k] = min(box[k], other[k]), max(box[3 + k], other[3 + k])
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


@numba.njit(**OPTIONS)
def _best_split(low, high, order, begin, end, spread, counts, bins, costs, box):
    """Axis and last bin of the lower part of the cheapest split; axis -1 where all middles coincide."""
    best, axis, cut = np.inf, -1, 0
    for k in range(3):
        if not spread[3 + k] > spread[k]:
            continue
        _fill_bins(low, high, order, begin, end, k, spread, counts, bins)
        box[:3], box[3:], number = np.inf, -np.inf, 0
        for i in range(BINS - 1, 0, -1):
            number += counts[i]
            if counts[i] > 0:
                costs[i] = number * _grow(box, bins[i])
            else:
                costs[i] = costs[i + 1] if i < BINS - 1 else 0.0
        box[:3], box[3:], number, area = np.inf, -np.inf, 0, 0.0
        for i in range(BINS - 1):
            number += counts[i]
            if counts[i] > 0:
                area = _grow(box, bins[i])
            if 0 < number < end - begin and number * area + costs[i + 1] < best:
                best, axis, cut = number * area + costs[i + 1], k, i
    return axis, cut


@numba.njit(**OPTIONS)
def _partition(low, high, order, begin, end, axis, cut, spread):
    """Sort the boxes up to a bin before the others; return where those begin."""
    i, j = begin, end - 1
    while i <= j:
        if _bin_of(low, high, order[i], axis, spread) <= cut:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@numba.njit(**OPTIONS)
def _write(node, box, first, count):
    """Write a node around a box [6]; rounding never makes it smaller."""
    node.first, node.count = first, count
    low_x, low_y, low_z = np.float64(box[0]), np.float64(box[1]), np.float64(box[2])
    high_x, high_y, high_z = np.float64(box[3]), np.float64(box[4]), np.float64(box[5])
    node.x, node.y, node.z = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0.5 * (low_z + high_z)
    node.half_x = max(high_x - node.x, node.x - low_x) * WIDEN
    node.half_y = max(high_y - node.y, node.y - low_y) * WIDEN
    node.half_z = max(high_z - node.z, node.z - low_z) * WIDEN


@cached_njit(**OPTIONS)
def _fill(low, high, leaf, nodes, order):
    """Build the tree into `nodes`, change `order` accordingly; return the number of nodes."""
    count = len(order)
    if count == 0:
        return 2  # a leaf of nothing
    work = np.empty((STACK, 4), np.int64)  # node, first item, end of its items, depth
    box, spread, scratch = np.empty(6, np.float32), np.empty(6, np.float32), np.empty(6, np.float32)
    counts, bins = np.empty(BINS, np.int64), np.empty((BINS, 6), np.float32)
    costs = np.empty(BINS, np.float64)
    work[0, 0], work[0, 1], work[0, 2], work[0, 3] = 0, 0, count, 0
    top, used = 1, 2
    while top > 0:
        top -= 1
        at, begin, end, depth = work[top, 0], work[top, 1], work[top, 2], work[top, 3]
        _enclose(low, high, order, begin, end, box, spread)
        if end - begin <= leaf:
            _write(nodes[at], box, begin, end - begin)
            continue
        _write(nodes[at], box, used, INNER)
        axis, cut, middle = -1, 0, (begin + end) // 2
        if depth < SAH_DEPTH:
            axis, cut = _best_split(
                low, high, order, begin, end, spread, counts, bins, costs, scratch
            )
        if axis >= 0:
            middle = _partition(low, high, order, begin, end, axis, cut, spread)
        for child, first, last in ((used, begin, middle), (used + 1, middle, end)):
            work[top, 0], work[top, 1], work[top, 2], work[top, 3] = child, first, last, depth + 1
            top += 1
        used += 2
    return used
