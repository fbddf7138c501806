"""An apartment, or a home of another kind, as plain data: rooms, furniture and receptacles.

World frame: right-handed, z up, metres, radians; the floor is z = 0. Nothing here knows MuJoCo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

# The eight open receptacles of Tidy House (facts: habitat-lab v0.3.4).
OPEN_RECEPTACLES = (
    "table_01",
    "table_02",
    "chair_01",
    "sofa",
    "tvstand",
    "sink",
    "counter_left",
    "counter_right",
)
BOX_SLOT_COUNT, CYLINDER_SLOT_COUNT = 160, 68  # solids that an apartment may have
VARIATION_COUNT = 21  # of a layout, at most


WALL_GROUP, CEILING_GROUP = 2, 3  # of geoms, which views from above hide; furniture has 0


@dataclass(frozen=True)
class Solid:
    """One primitive of a piece of furniture or of the building.

    Attributes:
        kind: MuJoCo primitive.
        position: Centre in the world frame [m].
        size: MuJoCo half sizes: box (x, y, z), cylinder (radius, half height, 0) [m].
        yaw: Rotation about z [rad].
        color: RGBA in [0, 1].
        group: 0, WALL_GROUP or CEILING_GROUP.
        collides: False for decoration that nothing can touch (rugs, pictures).
        part: Name of the piece of furniture it belongs to ("" for the building).
    """

    kind: Literal["box", "cylinder"]
    position: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw: float = 0.0
    color: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    group: int = 0
    collides: bool = True
    part: str = ""


@dataclass(frozen=True)
class Receptacle:
    """A flat rectangle on which objects may stand; keep whole footprints inside it.

    Attributes:
        name: One of SceneSpec.receptacles.
        position: Centre of the surface, world frame, all doors and drawers closed [m].
        half_extents: Half sizes of the usable rectangle along its own x and y [m].
        yaw: Rotation of the rectangle about z [rad].
        clearance: Free height above the surface [m].
        joint: Name of the articulated joint that carries it (drawers), or None.
    """

    name: str
    position: tuple[float, float, float]
    half_extents: tuple[float, float]
    yaw: float
    clearance: float = 10.0
    joint: str | None = None


@dataclass(frozen=True)
class ArticulatedPose:
    """Where a piece of furniture that opens stands.

    Attributes:
        position: Centre of its footprint, on the floor [m]; the front is half its depth further
        along +x. yaw: Direction of +x, out of its front [rad].
    """

    position: tuple[float, float, float]
    yaw: float

    def to_world(self, point: tuple[float, float]) -> tuple[float, float]:
        """A point of the floor plane in the furniture's frame, in the world [m]."""
        (u, v), c, s = point, math.cos(self.yaw), math.sin(self.yaw)
        return self.position[0] + c * u - s * v, self.position[1] + s * u + c * v


@dataclass(frozen=True)
class Apartment:
    """One home: an apartment, or a home of another kind.

    Attributes:
        layout: Number of the floor plan (decides the kind of home and the split).
        variation: Variation of the layout, 0 to 20.
        bounds: Inner rectangle of the building (x_min, y_min, x_max, y_max) [m].
        rooms: Named room rectangles (x_min, y_min, x_max, y_max) [m].
        solids: All static geometry.
        receptacles: By name.
        frames: Where the furniture that opens stands, by name.
        colors: RGBA of what is not a Solid: "ground", and the keys of Furniture.painted.
    """

    layout: int
    variation: int
    bounds: tuple[float, float, float, float]
    rooms: dict[str, tuple[float, float, float, float]]
    solids: tuple[Solid, ...]
    receptacles: dict[str, Receptacle]
    frames: dict[str, ArticulatedPose]
    colors: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Stable identifier, also written to episode files."""
        return f"layout{self.layout}_variation{self.variation:02d}"
