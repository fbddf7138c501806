"""Floor footprints of everything that the robot can bump into."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rearrange.scenes.apartment import Apartment, ArticulatedPose, Solid
from rearrange.scenes.compile import CABINET_SIZE, FRIDGE_SIZE

LOWEST, HIGHEST = 0.05, 1.5  # [m], heights between which the robot can touch something


class Building(Protocol):
    """What the floor of a building is worked out from; an `Apartment` is one."""

    @property
    def name(self) -> str:
        """Stable identifier."""
        ...

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Inner rectangle (x_min, y_min, x_max, y_max) [m]."""
        ...

    @property
    def rooms(self) -> dict[str, tuple[float, float, float, float]]:
        """Named room rectangles, likewise [m]."""
        ...

    @property
    def solids(self) -> tuple[Solid, ...]:
        """All static geometry."""
        ...


def footprints_of(building: Building) -> np.ndarray:
    """Footprints of what stands in a building; an apartment's doors and drawers are closed.

    Returns:
        [M, 6]: centre x, y; half extents along its own axes; yaw; radius of a disc around that
        rectangle (so a cylinder is a rectangle of no size). World frame, metres and radians.
    """
    rows = [
        _of_solid(solid)
        for solid in building.solids
        if solid.collides and _spans_robot(solid.position[2], solid.size[1 + (solid.kind == "box")])
    ]
    if isinstance(building, Apartment):
        rows.append(_of_articulated(building.fridge, FRIDGE_SIZE))
        rows.append(_of_articulated(building.cabinet, CABINET_SIZE))
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
