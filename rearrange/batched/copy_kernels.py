"""Rows of one array copied to rows of another on a device: a reset."""

from __future__ import annotations

from typing import Any

import warp as wp  # pyright: ignore[reportMissingImports]

wp.set_module_options({"enable_backward": False})


@wp.kernel
def copy_rows(
    rows: wp.array(dtype=wp.int32), source: wp.array2d(dtype=Any), target: wp.array2d(dtype=Any)
):
    """Copy row rows[i] of the source to row i of the target; nothing where it is negative."""
    i, k = wp.tid()
    if rows[i] >= 0:
        target[i, k] = source[rows[i], k]


for _kind in (wp.float32, wp.float64, wp.int32, wp.uint8):
    wp.overload(
        copy_rows, [wp.array(dtype=wp.int32), wp.array2d(dtype=_kind), wp.array2d(dtype=_kind)]
    )


def flat(array: Any, count: int) -> Any:
    """An array of Warp's as rows of plain numbers [count, width], in the same memory; truth values are bytes."""
    scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
    if scalar is wp.bool:
        scalar = wp.uint8
    size = wp.types.type_size_in_bytes(array.dtype) // wp.types.type_size_in_bytes(scalar)
    shape = (count, array.size * size // count)
    return wp.array(ptr=array.ptr, dtype=scalar, shape=shape, device=array.device, copy=False)
