"""The CUDA kernels that draw depth, a thread per pixel; all arithmetic is that of `pixels.py`.

Import it from `device.py` alone: it needs numba-cuda.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import int32
from numba import cuda as numba_cuda

from rearrange.render.pixels import bounds_of_geom, describe_geom, has_pixels, in_tile, nearer

cuda: Any = numba_cuda  # whose stubs do not know what kernels may ask for
np.__dict__.setdefault(
    "row_stack", np.vstack
)  # gone from NumPy 2.5, and numba-cuda 0.30 asks for it

SIDE = 16  # of the tile that a block of threads draws [pixels]
THREADS = SIDE * SIDE
LANES_X, LANES_Y = 8, 4  # pixels of a warp: those beside each other mostly meet the same geoms


def prepare(
    ids: Any, scenes: Any, starts: Any, kinds: Any, sizes: Any, positions: Any, rotations: Any,
    views: Any, lens: Any, width: int, height: int, records: Any, counts: Any,
) -> None:  # fmt: skip
    """Write what some cameras see, a thread per geom and camera.

    Args:
        ids: Which cameras [B].
        scenes: See `pixels.draw_pixels`, as all that follow.
        starts: Likewise.
        kinds: Likewise.
        sizes: Likewise.
        positions: Likewise.
        rotations: Likewise.
        views: Likewise.
        lens: Likewise.
        width: Of the image, pixels.
        height: Of the image, pixels.
        records: Written, in whatever order [B, >= geoms of a scene, WIDTH] float32.
        counts: Written: how many [B] int32; zeros before.
    """
    k, n = cuda.grid(2)
    if n >= ids.size:
        return
    i = ids[n]
    g = starts[scenes[i]] + k
    if g >= starts[scenes[i] + 1]:
        return
    kind, size, position, matrix, view = kinds[g], sizes[g], positions[g], rotations[g], views[i]
    bounds = bounds_of_geom(kind, size, position, matrix, view, lens, width, height)
    if has_pixels(bounds, width, height):
        record = records[n, cuda.atomic.add(counts, n, 1)]
        describe_geom(
            record, bounds, kind, size, position, matrix, view, lens, width, height,
        )  # fmt: skip


def draw(ids: Any, records: Any, counts: Any, near: Any, far: Any, scale: Any, depth: Any) -> None:
    """Draw what some cameras see, a block per tile (x, y) and camera (z), a thread per pixel.

    Args:
        ids: Which cameras [B].
        records: See `prepare`.
        counts: Likewise.
        near: Smallest depth that is seen, float32, metres.
        far: Largest, likewise.
        scale: What depth is multiplied by, float32.
        depth: Written [N, H, W] float32.
    """
    chosen = cuda.shared.array(THREADS, int32)  # geoms that may be in this tile
    found = cuda.shared.array(1, int32)
    height, width = depth.shape[1], depth.shape[2]
    left, top, n = SIDE * cuda.blockIdx.x, SIDE * cuda.blockIdx.y, cuda.blockIdx.z
    thread = cuda.threadIdx.x
    warp, lane = thread // (LANES_X * LANES_Y), thread % (LANES_X * LANES_Y)
    column = left + warp % (SIDE // LANES_X) * LANES_X + lane % LANES_X
    row = top + warp // (SIDE // LANES_X) * LANES_Y + lane // LANES_X
    best, count = far, counts[n]
    for first in range(0, count, THREADS):
        if thread == 0:
            found[0] = 0
        cuda.syncthreads()
        if first + thread < count and in_tile(records[n, first + thread], left, top, SIDE):
            chosen[cuda.atomic.add(found, 0, 1)] = first + thread
        cuda.syncthreads()
        for k in range(found[0]):
            best = nearer(records[n, chosen[k]], row, column, near, best)
        cuda.syncthreads()
    if row < height and column < width:
        depth[ids[n], row, column] = best * scale


@lru_cache
def compiled() -> tuple[Any, Any]:
    """Both kernels, `prepare` and `draw`, which are compiled when they are launched first."""
    cuda.dispatcher.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few agents fill no GPU: no fault
    return cuda.jit(prepare), cuda.jit(draw, fastmath=True)
