"""What several tasks observe or reward, of one world: compiled, for use in compiled tasks."""

from __future__ import annotations

import math
from typing import Any

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.geometry import Vector
from rearrange.sim.base import NOTHING

PER_JOINT = -1  # in place of an observation's size: as many numbers as the robot has joints
_PLACE, _WAY = ("x", "y", "z"), ("distance", "bearing")
SENSOR_PARTS = {  # of vector observations but `joint`, names of their numbers [m, rad]
    "is_holding": ("held",),
    "obj_start_sensor": _PLACE,
    "obj_goal_sensor": _PLACE,
    "relative_resting_position": _PLACE,
    "ee_pos": _PLACE,
    "goal_to_agent_gps_compass": _WAY,
    "obj_start_gps_compass": _WAY,
    "obj_goal_gps_compass": _WAY,
    "gps_compass": ("x", "y", "cosine", "sine"),  # since the start of the episode
}


@cached_njit
def copy_into(numbers: Any, values: Any) -> None:
    """Write values [K] into an array of single precision."""
    for k in range(len(numbers)):
        numbers[k] = values[k]


@cached_njit
def from_rest(world: Any) -> Vector:
    """Resting target minus end effector, base frame [m], of a world's record."""
    rest, tip = world.resting_tip, world.end_effector_in_base
    return rest[0] - tip[0], rest[1] - tip[1], rest[2] - tip[2]


@cached_njit
def is_holding(world: Any) -> bool:
    """Whether an object or a handle is held."""
    return world.held_object != NOTHING or world.held_handle != NOTHING


@cached_njit
def polar(base_pose: Any, point: Any) -> tuple[float, float]:
    """Horizontal distance [m] and bearing in [-pi, pi] [rad] of a point in the frame of a base pose.

    habitat-lab's GPS+Compass of a point is the distance and minus the bearing.

    Args:
        base_pose: x, y, yaw in the world frame [3].
        point: World frame [3], m.
    """
    x, y = point[0] - base_pose[0], point[1] - base_pose[1]
    bearing = math.atan2(y, x) - base_pose[2]
    return math.sqrt(x * x + y * y), bearing - 2 * math.pi * round(bearing / (2 * math.pi))


@cached_njit
def gps_compass(start: Any, base_pose: Any) -> tuple[float, float, float, float]:
    """Pose relative to the episode's start: x, y [m] in the start frame, cos and sin of the turn."""
    x, y, yaw = geometry.to_base_frame(start, base_pose)
    turn = yaw - start[2]
    return x, y, math.cos(turn), math.sin(turn)


@cached_njit
def in_hand(world: Any, point: Any) -> Vector:
    """A world point [3] in the end-effector frame [m]."""
    return geometry.to_end_effector_frame(
        world.end_effector_position, world.end_effector_rotation, point
    )
