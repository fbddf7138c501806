"""Quantities that several tasks observe or reward, over batched arrays."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from rearrange.geometry import array_of_one, norm
from rearrange.robot import kinematics
from rearrange.sim.base import NOTHING, Array, SimState


def from_rest(xp: Any, state: SimState) -> Array:
    """Resting target minus end effector, base frame [N, 3] m."""
    tip = state.end_effector_in_base
    return _resting_place(xp, tip.dtype) - tip


@lru_cache
def _resting_place(xp: Any, dtype: Any) -> Array:
    return xp.asarray(kinematics.RESTING_END_EFFECTOR, dtype=dtype)


def polar(xp: Any, base_pose: Array, points: Array) -> tuple[Array, Array]:
    """Horizontal distance and bearing of points in the frame of base poses x, y, yaw [N, 3].

    Args:
        xp: Array library.
        base_pose: World frame [N, 3].
        points: World frame [N, ..., 3], m.

    Returns:
        Distance [N, ...] m and bearing [N, ...] rad in [-pi, pi].
    """
    if points.ndim == 2 and points.shape[0] == 1:
        single = array_of_one(xp, _polar_of_one(base_pose, points), points.dtype)
        return single[:, 0], single[:, 1]
    poses = xp.reshape(base_pose, (-1, *(1,) * (points.ndim - 2), 3))
    offset = points[..., :2] - poses[..., :2]
    bearing = xp.atan2(offset[..., 1], offset[..., 0]) - poses[..., 2]
    turns = xp.round(bearing / (2 * math.pi))
    return norm(xp, offset), bearing - 2 * math.pi * turns


def polar_sensor(xp: Any, base_pose: Array, points: Array) -> Array:
    """habitat-lab's GPS+Compass of points [N, ..., 3]: distance [m], minus bearing [rad] [N, ..., 2]."""
    if points.ndim == 2 and points.shape[0] == 1:
        distance, bearing = _polar_of_one(base_pose, points)
        return array_of_one(xp, (distance, -bearing), points.dtype)
    result = xp.empty((*points.shape[:-1], 2), dtype=points.dtype)
    result[..., 0], bearing = polar(xp, base_pose, points)
    result[..., 1] = -bearing
    return result


def _polar_of_one(base_pose: Array, points: Array) -> tuple[float, float]:
    """Polar place of a lone world's point: plain numbers are faster than arrays of one."""
    ((base_x, base_y, yaw),), ((x, y, _),) = base_pose.tolist(), points.tolist()
    x, y = x - base_x, y - base_y
    return math.hypot(x, y), math.remainder(math.atan2(y, x) - yaw, 2 * math.pi)


def is_holding(xp: Any, state: SimState) -> Array:
    """Whether an object or a handle is held [N, 1] bool."""
    return (xp.maximum(state.held_object, state.held_handle) > NOTHING)[:, None]
