"""What furniture is made of: palettes, pieces, and the primitives of which a piece consists.

Frame of a piece: z = 0 on the floor, +x out of its front.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, inf, pi, sin

from rearrange.scenes.apartment import Receptacle, Solid

Color = tuple[float, float, float, float]
Top = tuple[
    float, float, float, float
]  # x_min, x_max, y_min, y_max of what things stand on: no Rect
EDGE = 0.06  # usable rectangles keep this far from edges over which an object could fall [m]


@dataclass(frozen=True)
class Palette:
    """Colours that go together."""

    wall: Color
    accent_wall: Color
    floor: Color
    tile: Color
    wood: Color
    wood_dark: Color
    front: Color
    worktop: Color
    fabric: Color
    cushion: Color
    rug: Color
    bedding: Color
    metal: Color
    fridge: Color
    white: Color = (0.93, 0.92, 0.90, 1.0)
    black: Color = (0.10, 0.10, 0.11, 1.0)
    leaf: Color = (0.24, 0.42, 0.22, 1.0)
    pot: Color = (0.72, 0.48, 0.36, 1.0)
    lamp: Color = (0.97, 0.92, 0.78, 1.0)
    glass: Color = (0.70, 0.83, 0.92, 1.0)


@dataclass(frozen=True)
class Piece:
    """A piece of furniture in its own frame, or placed in the world.

    Attributes:
        name: Name of the piece.
        solids: Its primitives.
        receptacles: Surfaces on which objects may stand.
        keepouts: Rectangles (centre x, y, half sizes, yaw) in which nothing else may stand.
        areas: Its footprint where that is not just its bounding rectangle; own frame, never moved.
    """

    name: str
    solids: tuple[Solid, ...]
    receptacles: tuple[Receptacle, ...] = ()
    keepouts: tuple[tuple[float, float, float, float, float], ...] = ()
    areas: tuple[tuple[float, float, float, float, float], ...] = ()

    def footprints(self) -> tuple[tuple[float, float, float, float, float], ...]:
        """What it covers of the floor, in its own frame: one rectangle, two with a corner."""
        return self._footprints

    @cached_property
    def _footprints(self) -> tuple[tuple[float, float, float, float, float], ...]:
        if self.areas:
            return self.areas
        x0 = y0 = inf
        x1 = y1 = -inf
        for solid in self.solids:
            if not solid.collides:
                continue
            sx = solid.size[0]
            sy = sx if solid.kind == "cylinder" else solid.size[1]
            c, s = abs(cos(solid.yaw)), abs(sin(solid.yaw))
            half_x, half_y = c * sx + s * sy, s * sx + c * sy
            x0, x1 = min(x0, solid.position[0] - half_x), max(x1, solid.position[0] + half_x)
            y0, y1 = min(y0, solid.position[1] - half_y), max(y1, solid.position[1] + half_y)
        return (keepout(x0, x1, y0, y1),) if x0 < inf else ()

    @cached_property
    def box_count(self) -> int:
        """How many of its solids are boxes."""
        return sum(solid.kind == "box" for solid in self.solids)

    @property
    def half_width(self) -> float:
        """Half of its extent along its own y [m]."""
        return max(abs(y) + hy for _, y, _, hy, _ in self.footprints())

    def moved(self, x: float, y: float, yaw: float) -> Piece:
        """The piece turned about its origin and carried to (x, y)."""
        c, s = cos(yaw), sin(yaw)

        def turn(px: float, py: float) -> tuple[float, float]:
            return (x + c * px - s * py, y + s * px + c * py)

        solids = tuple(
            Solid(
                solid.kind,
                (*turn(*solid.position[:2]), solid.position[2]),
                solid.size,
                _wrap(solid.yaw + yaw),
                solid.color,
                solid.group,
                solid.collides,
                solid.part,
            )
            for solid in self.solids
        )
        receptacles = tuple(
            replace(r, position=(*turn(*r.position[:2]), r.position[2]), yaw=_wrap(r.yaw + yaw))
            for r in self.receptacles
        )
        keepouts = tuple((*turn(k[0], k[1]), k[2], k[3], k[4] + yaw) for k in self.keepouts)
        return Piece(self.name, solids, receptacles, keepouts)


def _wrap(angle: float) -> float:
    return (angle + pi) % (2 * pi) - pi


def box(
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    color: Color,
    collides: bool = True,
    group: int = 0,
    yaw: float = 0.0,
) -> Solid:
    """A box between the given bounds along each axis [m]."""
    return Solid(
        "box",
        ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, (z[0] + z[1]) / 2),
        ((x[1] - x[0]) / 2, (y[1] - y[0]) / 2, (z[1] - z[0]) / 2),
        yaw,
        color,
        group,
        collides,
    )


def cylinder(
    x: float, y: float, z: tuple[float, float], radius: float, color: Color, collides: bool = True
) -> Solid:
    """An upright cylinder [m]."""
    return Solid(
        "cylinder",
        (x, y, (z[0] + z[1]) / 2),
        (radius, (z[1] - z[0]) / 2, 0.0),
        0.0,
        color,
        0,
        collides,
    )


def surface(name: str, rect: Top, height: float, clearance: float = 10.0) -> Receptacle:
    """A receptacle from the bounds of its usable rectangle [m]."""
    x0, x1, y0, y1 = rect
    return Receptacle(
        name, ((x0 + x1) / 2, (y0 + y1) / 2, height), ((x1 - x0) / 2, (y1 - y0) / 2), 0.0, clearance
    )


def keepout(x0: float, x1: float, y0: float, y1: float) -> tuple[float, float, float, float, float]:
    """A rectangle in which nothing else may stand, from its bounds [m]."""
    return ((x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, 0.0)


def shade(color: Color, factor: float) -> Color:
    """A darker (factor < 1) or lighter colour."""
    r, g, b = (min(1.0, max(0.0, c * factor)) for c in color[:3])
    return (r, g, b, color[3])
