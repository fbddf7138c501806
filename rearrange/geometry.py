"""Frame changes over batched arrays; works on NumPy arrays and torch tensors alike."""

from __future__ import annotations

import math
from typing import Any

Array = Any


def distance(xp: Any, first: Array, second: Array) -> Array:
    """Euclidean distance along the last axis: [..., D], [..., D] -> [...]."""
    difference = first - second
    return xp.sqrt(xp.sum(difference * difference, axis=-1))


def to_base_frame(xp: Any, base_pose: Array, point: Array) -> Array:
    """World points [N, 3] in the base frame (x forward, y left) of base poses x, y, yaw [N, 3]."""
    if point.shape[0] == 1:  # a lone world: plain numbers are four times as fast as arrays of one
        ((base_x, base_y, yaw),), ((x, y, z),) = base_pose.tolist(), point.tolist()
        cos, sin, x, y = math.cos(yaw), math.sin(yaw), x - base_x, y - base_y
        return xp.asarray([[cos * x + sin * y, cos * y - sin * x, z]], dtype=point.dtype)
    cos, sin = xp.cos(base_pose[:, 2]), xp.sin(base_pose[:, 2])
    x, y = point[:, 0] - base_pose[:, 0], point[:, 1] - base_pose[:, 1]
    return xp.stack([cos * x + sin * y, cos * y - sin * x, point[:, 2]], axis=-1)


def to_end_effector_frame(position: Array, rotation: Array, point: Array) -> Array:
    """World points [N, 3] in the frame of end effectors at positions [N, 3], rotations [N, 3, 3]."""
    return ((point - position)[:, None, :] @ rotation)[:, 0, :]
