"""Floor footprints of everything that the robot can bump into."""

from __future__ import annotations

import numpy as np

from rearrange.scenes.apartment import Apartment, ArticulatedPose, Solid
from rearrange.scenes.compile import CABINET_SIZE, FRIDGE_SIZE

LOWEST, HIGHEST = 0.05, 1.5  # [m], heights between which the robot can touch something


def footprints_of(apartment: Apartment) -> np.ndarray:
    """Footprints of an apartment, doors and drawers closed.

    Returns:
        [M, 6]: centre x, y; half extents along its own axes; yaw; radius of a disc around that
        rectangle (so a cylinder is a rectangle of no size). World frame, metres and radians.
    """
    rows = [
        _of_solid(solid)
        for solid in apartment.solids
        if solid.collides and _spans_robot(solid.position[2], solid.size[1 + (solid.kind == "box")])
    ]
    rows.append(_of_articulated(apartment.fridge, FRIDGE_SIZE))
    rows.append(_of_articulated(apartment.cabinet, CABINET_SIZE))
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def _spans_robot(z: float, half_height: float) -> bool:
    return z + half_height > LOWEST and z - half_height < HIGHEST


def _of_solid(solid: Solid) -> tuple[float, ...]:
    x, y, _ = solid.position
    if solid.kind == "cylinder":
        return x, y, 0.0, 0.0, 0.0, solid.size[0]
    return x, y, solid.size[0], solid.size[1], solid.yaw, 0.0


def _of_articulated(pose: ArticulatedPose, size: tuple[float, float, float]) -> tuple[float, ...]:
    return pose.position[0], pose.position[1], size[0] / 2, size[1] / 2, pose.yaw, 0.0
