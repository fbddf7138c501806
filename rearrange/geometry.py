"""Frame changes over batched arrays; works on NumPy arrays and torch tensors alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any


def array_of_one(xp: Any, values: tuple[float, ...], dtype: Any) -> Array:
    """Numbers as an array of one row [1, D]; NumPy's own call spares the half of the time."""
    return (np.array if isinstance(dtype, np.dtype) else xp.asarray)([values], dtype=dtype)


def rows_at(array: Array, worlds: Array, index: Array) -> Array:
    """Row index[i] of world i: [N, K, ...], worlds 0..N-1 [N], [N] -> [N, ...]."""
    if array.shape[0] == 1:  # a view: indexing by arrays costs three times as much
        return array[:, int(index[0])]
    return array[worlds, index]


def norm(xp: Any, vectors: Array) -> Array:
    """Euclidean length along the last axis: [..., D] -> [...]."""
    return xp.sqrt(xp.linalg.vecdot(vectors, vectors))


def distance(xp: Any, first: Array, second: Array) -> Array:
    """Euclidean distance along the last axis: [..., D], [..., D] -> [...]."""
    return norm(xp, first - second)


def to_base_frame(xp: Any, base_pose: Array, point: Array) -> Array:
    """World points [N, 3] in the base frame (x forward, y left) of base poses x, y, yaw [N, 3]."""
    if point.shape[0] == 1:  # a lone world: plain numbers are four times as fast as arrays of one
        ((base_x, base_y, yaw),), ((x, y, z),) = base_pose.tolist(), point.tolist()
        cos, sin, x, y = math.cos(yaw), math.sin(yaw), x - base_x, y - base_y
        return array_of_one(xp, (cos * x + sin * y, cos * y - sin * x, z), point.dtype)
    cos, sin = xp.cos(base_pose[:, 2]), xp.sin(base_pose[:, 2])
    x, y = point[:, 0] - base_pose[:, 0], point[:, 1] - base_pose[:, 1]
    return xp.stack([cos * x + sin * y, cos * y - sin * x, point[:, 2]], axis=-1)


def to_end_effector_frame(position: Array, rotation: Array, point: Array) -> Array:
    """World points [N, 3] in the frame of end effectors at positions [N, 3], rotations [N, 3, 3]."""
    return ((point - position)[:, None, :] @ rotation)[:, 0, :]
