"""Frame changes of points, compiled, for use in compiled code: plain numbers in and out."""

from __future__ import annotations

import math
from typing import Any

from rearrange.caching import cached_njit

Vector = tuple[float, float, float]


@cached_njit
def norm(vector: Vector) -> float:
    """Euclidean length of a vector (x, y, z)."""
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


@cached_njit
def distance(first: Any, second: Any) -> float:
    """Distance of two points, arrays [3] or tuples."""
    return norm((first[0] - second[0], first[1] - second[1], first[2] - second[2]))


@cached_njit
def to_base_frame(base_pose: Any, point: Any) -> Vector:
    """A world point [3] in the base frame (x forward, y left) of a base pose x, y, yaw [3]."""
    cos, sin = math.cos(base_pose[2]), math.sin(base_pose[2])
    x, y = point[0] - base_pose[0], point[1] - base_pose[1]
    return cos * x + sin * y, cos * y - sin * x, point[2]


@cached_njit
def to_end_effector_frame(position: Any, rotation: Any, point: Any) -> Vector:
    """A world point [3] in the frame of an end effector at a position [3], rotation [3, 3]."""
    x, y, z = point[0] - position[0], point[1] - position[1], point[2] - position[2]
    return (
        rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z,
        rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z,
        rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z,
    )
