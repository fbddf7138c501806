"""Line of sight between places on the floor."""

from __future__ import annotations

import math

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.occupancy import interpolate

TOLERANCE = 0.01  # [m], by which a line of sight may come nearer to obstacles than the radius


@cached_njit
def sees(
    clearance: np.ndarray,
    origin_x: float,
    origin_y: float,
    cell: float,
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    radius: float,
) -> bool:
    """Sphere tracing: True if clearance stays at or above the radius from (x0, y0) to (x1, y1)."""
    length = math.hypot(x1 - x0, y1 - y0)
    if length == 0.0:
        return True
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    gone = 0.0
    while True:
        spare = interpolate(clearance, origin_x, origin_y, cell, x0 + gone * ux, y0 + gone * uy)
        spare -= radius
        if spare < 0.0:
            return False
        if gone >= length:
            return True
        gone = min(gone + max(spare, 0.2 * cell), length)
