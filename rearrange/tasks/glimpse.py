"""Glimpse: what the head camera sees closely around a point, as a second image.

A policy's image has a pixel for some four centimetres a metre and a half away: too coarse to tell a thing from
its neighbour. So it is also shown the window of the camera's own, finer image in which the point is: as wide in
metres wherever that is, upright, with depths told from the point on, so that heights of centimetres stand out.
The point is one that the robot is told. What is not in the camera's view stays unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rearrange.caching import cached_njit
from rearrange.render.camera import Camera, look_at
from rearrange.sim.base import Simulator
from rearrange.sim.kernels import place_camera
from rearrange.threads import ALONE, Threads

GLIMPSE = "glimpse"  # key of the observation
FINE = 192  # pixels along each side of the camera's own image
HALF = 0.25  # half the window's width where the point is [m]
RELIEF = 0.25  # depths that are told before and behind the point [m]
UNKNOWN = 1.0
NEAREST = 0.1  # [m], from the camera to a point


def glimpse_space(size: int) -> spaces.Box:
    """Space of glimpses of so many pixels along each side."""
    return spaces.Box(0.0, 1.0, (size, size, 1), np.float32)


def glimpses(
    simulator: Simulator,
    points: np.ndarray,
    size: int,
    ids: np.ndarray,
    threads: Threads = ALONE,
) -> np.ndarray:
    """What the head cameras see closely around a point in each of K worlds.

    Args:
        simulator: With N worlds.
        points: World frame [N, 3], m.
        size: Pixels along each side.
        ids: Of these worlds [K].
        threads: That share the work.

    Returns:
        [K, size, size, 1] float32 in [0, 1]: a half is as far as the point, 0 and 1 RELIEF nearer and farther.
    """
    fine, camera = simulator.render_depth(FINE, ids=ids), simulator.state.robot.camera
    share = Camera(FINE, FINE, camera.field_of_view).half_width
    # Where the camera should be: a robot does not know by how much it is off (`randomise`)
    mount = look_at(camera.position, camera.target)
    seen = np.empty((len(fine), size, size, 1), np.float32)

    def look(k: int, thread: int) -> None:
        del thread
        position, rotation = np.empty(3), np.empty((3, 3))
        place_camera(simulator.state.base_pose[ids[k]], camera.position, mount, position, rotation)
        _glimpse(fine[k], share, position, rotation, points[ids[k]], seen[k, ..., 0])

    threads.each(look, len(ids))
    return seen


@cached_njit(nogil=True, error_model="numpy")
def _glimpse(depth: Any, share: float, position: Any, rotation: Any, point: Any, seen: Any) -> None:
    """Write the window of a depth image around a point.

    Args:
        depth: [F, F], m.
        share: Half the width of what the camera sees, a metre ahead [m].
        position: Of the camera [3].
        rotation: World from camera [3, 3]: right, up, backward.
        point: In the window's middle [3].
        seen: Written [H, H].
    """
    ahead = point - position
    distance = max(np.sqrt((ahead * ahead).sum()), NEAREST)
    level = max(np.hypot(ahead[0], ahead[1]), 1e-6)
    forward = ahead / distance
    right = np.array((ahead[1] / level, -ahead[0] / level, 0.0))
    turned = rotation.T.copy()
    along, beside = turned @ forward, turned @ right
    above = turned @ np.cross(right, forward)
    count, half, middle = len(seen), HALF / distance, 0.5 * len(depth)
    relief = 0.5 / RELIEF
    for row in range(count):
        # A metre along the way to the point, in the camera's frame
        start = along + (1.0 - (2.0 * row + 1.0) / count) * half * above
        for column in range(count):
            u = ((2.0 * column + 1.0) / count - 1.0) * half
            x, y, z = (
                start[0] + u * beside[0],
                start[1] + u * beside[1],
                -(start[2] + u * beside[2]),
            )
            edge = share * z
            if abs(x) >= edge or abs(y) >= edge:
                seen[row, column] = UNKNOWN
                continue
            scale = middle / edge
            away = depth[int(middle - y * scale), int(middle + x * scale)] / z - distance
            seen[row, column] = min(max(0.5 + away * relief, 0.0), 1.0)
