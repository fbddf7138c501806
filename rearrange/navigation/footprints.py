"""Floor footprints of everything that the robot can bump into."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rearrange.scenes.apartment import Apartment, ArticulatedPose, Solid
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import Door

LOWEST, HIGHEST = 0.05, 1.5  # [m], heights between which the robot can touch something
ARM_HEIGHTS = (1.0, 1.3)  # [m], what spans them the arm reaches neither over nor under


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


@dataclass(frozen=True)
class Floor:
    """A building of which only the floor is known."""

    name: str
    bounds: tuple[float, float, float, float]
    rooms: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    solids: tuple[Solid, ...] = ()


def footprints_of(building: Building) -> np.ndarray:
    """Footprints of what stands in a building; an apartment's doors and drawers are closed.

    Returns:
        [M, 6]: centre x, y; half extents along its own axes; yaw; radius of a disc around that
        rectangle (so a cylinder is a rectangle of no size). World frame, metres and radians.
    """
    rows = _of_solids(building, top=LOWEST, bottom=HIGHEST)
    if isinstance(building, Apartment):
        furniture = spec_of_layout(building.layout).furniture
        rows += [_of_articulated(building.frames[f.name], f.size) for f in furniture]
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def tall_footprints_of(building: Building) -> np.ndarray:
    """Footprints [M, 6] of walls and of furniture behind which an arm gets at nothing; see `footprints_of`."""
    low, high = ARM_HEIGHTS
    rows = _of_solids(building, top=high, bottom=low)
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def door_footprint(door: Door, frame: ArticulatedPose, angle: float) -> np.ndarray:
    """Footprint [1, 6] of a door, with what is fixed to its inside, that is open by an angle [rad].

    Args:
        door: The door.
        frame: Where its furniture stands.
        angle: How far it is open.
    """
    turned, length = frame.yaw + door.sense * angle, 0.5 * door.width
    half_x = 0.5 * (door.depth[1] - door.depth[0])
    x, y = (
        0.5 * (door.depth[0] + door.depth[1]),
        -door.sense * length,
    )  # its middle from the hinge, in its own frame
    hinge_x, hinge_y = frame.to_world(door.hinge)
    c, s = math.cos(turned), math.sin(turned)
    centre = (hinge_x + c * x - s * y, hinge_y + s * x + c * y)
    return np.array([(*centre, half_x, length, turned, 0.0)])


def _of_solids(building: Building, top: float, bottom: float) -> list[tuple[float, ...]]:
    """Rows of the solids that end above `top` and begin below `bottom` [m]."""
    rows = []
    for solid in building.solids:
        z, half_height = solid.position[2], solid.size[1 + (solid.kind == "box")]
        if solid.collides and z + half_height > top and z - half_height < bottom:
            rows.append(_of_solid(solid))
    return rows


def _of_solid(solid: Solid) -> tuple[float, ...]:
    x, y, _ = solid.position
    if solid.kind == "cylinder":
        return x, y, 0.0, 0.0, 0.0, solid.size[0]
    return x, y, solid.size[0], solid.size[1], solid.yaw, 0.0


def _of_articulated(pose: ArticulatedPose, size: tuple[float, float, float]) -> tuple[float, ...]:
    return pose.position[0], pose.position[1], size[0] / 2, size[1] / 2, pose.yaw, 0.0
