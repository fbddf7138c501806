"""What makes a home of rooms and furniture: plants, lamps, rugs, pictures, windows, the front door.

Frames and origins as in rearrange.scenes.furniture.
"""

from __future__ import annotations

from rearrange.scenes.pieces import Color, Palette, Piece, box, cylinder, shade


def plant(p: Palette, name: str, height: float) -> Piece:
    """A potted plant."""
    solids = (
        cylinder(0, 0, (0.0, 0.32), 0.15, p.pot),
        cylinder(0, 0, (0.32, height * 0.55), 0.02, p.wood_dark),
        cylinder(0, 0, (height * 0.50, height * 0.80), 0.21, p.leaf),
        cylinder(0, 0, (height * 0.80, height), 0.13, shade(p.leaf, 1.2)),
    )
    return Piece(name, solids)


def floor_lamp(p: Palette, name: str) -> Piece:
    """A standing lamp."""
    solids = (
        cylinder(0, 0, (0.0, 0.03), 0.15, p.metal),
        cylinder(0, 0, (0.03, 1.35), 0.015, p.metal),
        cylinder(0, 0, (1.35, 1.65), 0.19, p.lamp),
    )
    return Piece(name, solids)


def pendant(p: Palette) -> Piece:
    """A lamp that hangs over a table."""
    solids = (
        cylinder(0, 0, (1.75, 2.6), 0.008, p.black, collides=False),
        cylinder(0, 0, (1.60, 1.78), 0.20, p.lamp, collides=False),
    )
    return Piece("pendant", solids)


def rug(color: Color, x_half: float, y_half: float) -> Piece:
    """A rug with a darker border; nothing touches it."""
    solids = (
        box((-x_half, x_half), (-y_half, y_half), (0.0, 0.008), shade(color, 0.75), collides=False),
        box(
            (-x_half + 0.08, x_half - 0.08),
            (-y_half + 0.08, y_half - 0.08),
            (0.0, 0.01),
            color,
            collides=False,
        ),
    )
    return Piece("rug", solids)


def round_rug(color: Color, radius: float) -> Piece:
    """A round rug; nothing touches it."""
    solids = (
        cylinder(0, 0, (0.0, 0.008), radius, shade(color, 0.75), collides=False),
        cylinder(0, 0, (0.0, 0.010), radius - 0.08, color, collides=False),
    )
    return Piece("rug", solids)


def picture(frame: Color, color: Color, width: float, height: float, z: float) -> Piece:
    """A picture on a wall, its middle at height z."""
    solids = (
        box(
            (0.0, 0.02), (-width / 2, width / 2), (z - height / 2, z + height / 2), frame, False, 2
        ),
        box(
            (0.0, 0.024),
            (-width / 2 + 0.04, width / 2 - 0.04),
            (z - height / 2 + 0.04, z + height / 2 - 0.04),
            color,
            False,
            2,
        ),
    )
    return Piece("picture", solids)


def window(p: Palette, width: float) -> Piece:
    """A window in an outer wall, as a bright pane in a frame."""
    half = width / 2
    solids = (
        box((0.0, 0.02), (-half - 0.06, half + 0.06), (0.94, 2.16), p.white, False, 2),
        box((0.0, 0.025), (-half, half), (1.0, 2.10), p.glass, False, 2),
    )
    return Piece("window", solids)


def front_door(p: Palette) -> Piece:
    """The closed front door of the apartment."""
    solids = (
        box((0.0, 0.02), (-0.52, 0.52), (0.0, 2.12), p.white, False, 2),
        box((0.0, 0.035), (-0.45, 0.45), (0.0, 2.05), p.wood_dark, False, 2),
        box((0.035, 0.07), (0.32, 0.38), (1.0, 1.06), p.metal, False, 2),
    )
    return Piece("front_door", solids)
