"""Furniture as a few primitives: one builder per kind, in its own frame.

Frame of a piece: z = 0 on the floor, +x out of its front. Pieces that stand against a wall have
their origin at the middle of their back; tables, rugs and plants have it in their centre.
"""

from __future__ import annotations

from rearrange.scenes.apartment import Solid
from rearrange.scenes.pieces import (
    EDGE,
    Color,
    Palette,
    Piece,
    box,
    cylinder,
    keepout,
    shade,
    surface,
)


def _legs(x: float, y: float, top: float, radius: float, color: Color) -> list[Solid]:
    return [cylinder(sx * x, sy * y, (0.0, top), radius, color) for sx in (-1, 1) for sy in (-1, 1)]


# --- tables and seats ----------------------------------------------------------------------------


def dining_table(p: Palette, length: float, depth: float, height: float, side: int) -> Piece:
    """Table along y; `side` 0: usable all over, +1 or -1: the half towards that x."""
    top = box((-depth / 2, depth / 2), (-length / 2, length / 2), (height - 0.04, height), p.wood)
    legs = _legs(depth / 2 - 0.06, length / 2 - 0.08, height - 0.04, 0.03, p.wood_dark)
    near, far = depth / 2 - EDGE, depth / 2 - EDGE
    if side:
        far = -(depth / 2 - 0.33)  # only what is in reach from one side
    x0, x1 = (-near, far) if side < 0 else (-far, near)
    rect = (x0, x1, -length / 2 + EDGE, length / 2 - EDGE)
    return Piece("table_01", (top, *legs), (surface("table_01", rect, height),))


def round_coffee_table(p: Palette, radius: float, height: float) -> Piece:
    """A round low table on one foot."""
    solids = (
        cylinder(0, 0, (height - 0.035, height), radius, p.wood),
        cylinder(0, 0, (0.02, height - 0.035), 0.05, p.wood_dark),
        cylinder(0, 0, (0.0, 0.02), radius * 0.6, p.wood_dark),
    )
    half = (radius - EDGE) / 2**0.5
    return Piece("table_02", solids, (surface("table_02", (-half, half, -half, half), height),))


def coffee_table(p: Palette, depth: float, length: float, height: float) -> Piece:
    """A low table with a shelf, long along y."""
    solids = (
        box((-depth / 2, depth / 2), (-length / 2, length / 2), (height - 0.04, height), p.wood),
        box(
            (-depth / 2 + 0.04, depth / 2 - 0.04),
            (-length / 2 + 0.06, length / 2 - 0.06),
            (0.10, 0.13),
            p.wood_dark,
        ),
        *(
            box(
                (-depth / 2 + 0.03, depth / 2 - 0.03),
                (sy * (length / 2 - 0.04) - 0.02, sy * (length / 2 - 0.04) + 0.02),
                (0.0, height - 0.04),
                p.wood_dark,
            )
            for sy in (-1, 1)
        ),
    )
    rect = (-depth / 2 + EDGE, depth / 2 - EDGE, -length / 2 + EDGE, length / 2 - EDGE)
    return Piece("table_02", solids, (surface("table_02", rect, height),))


def chair(p: Palette, name: str, seat_color: Color, width: float = 0.44) -> Piece:
    """A plain chair; its seat is usable if it is chair_01. Origin in the middle of the seat."""
    half = width / 2
    solids = (
        box((-half, half), (-half, half), (0.42, 0.46), seat_color),
        box((-half, -half + 0.04), (-half, half), (0.46, 0.88), p.wood),
        *_legs(half - 0.03, half - 0.03, 0.42, 0.018, p.wood_dark),
    )
    rect = (-half + 0.07, half - EDGE, -half + EDGE, half - EDGE)
    return Piece(name, solids, (surface(name, rect, 0.46),) if name == "chair_01" else ())


def armchair(p: Palette, name: str, color: Color) -> Piece:
    """A low armchair with thin arms; origin in the middle of the seat."""
    solids = (
        box((-0.28, 0.30), (-0.27, 0.27), (0.14, 0.44), color),
        box((-0.40, -0.28), (-0.33, 0.33), (0.14, 0.86), color),
        *(
            box(
                (-0.28, 0.24),
                (min(s * 0.27, s * 0.33), max(s * 0.27, s * 0.33)),
                (0.14, 0.60),
                shade(color, 0.9),
            )
            for s in (-1, 1)
        ),
        box((-0.34, 0.24), (-0.27, 0.27), (0.0, 0.14), p.wood_dark),
    )
    rect = (-0.14, 0.30 - EDGE, -0.20, 0.20)
    return Piece(name, solids, (surface(name, rect, 0.44),) if name == "chair_01" else ())


def office_chair(p: Palette) -> Piece:
    """A desk chair on a round foot; origin in the middle of the seat."""
    solids = (
        box((-0.22, 0.22), (-0.22, 0.22), (0.44, 0.50), p.black),
        box((-0.26, -0.21), (-0.20, 0.20), (0.52, 0.98), p.black),
        cylinder(0, 0, (0.04, 0.44), 0.03, p.metal),
        cylinder(0, 0, (0.0, 0.04), 0.24, p.metal),
    )
    return Piece("office_chair", solids)


def stool(p: Palette, name: str = "stool", radius: float = 0.17, height: float = 0.46) -> Piece:
    """A round stool or pouf."""
    solids = (
        cylinder(0, 0, (height - 0.08, height), radius, p.cushion),
        cylinder(0, 0, (0.0, height - 0.08), radius * 0.8, p.wood_dark),
    )
    return Piece(name, solids)


def sofa(p: Palette, length: float, chaise: int) -> Piece:
    """A sofa with its back to -x; `chaise` +1 or -1 adds a long seat at that end along y."""
    half, seat = length / 2, 0.42
    inner = half - 0.16
    solids = [
        box((0.22, 0.88), (-inner, inner), (0.08, seat), p.fabric),
        box((0.0, 0.22), (-half, half), (0.05, 0.80), p.fabric),
        *(
            box(
                (0.22, 0.86),
                (min(s * inner, s * half), max(s * inner, s * half)),
                (0.05, 0.58),
                shade(p.fabric, 0.92),
            )
            for s in (-1, 1)
        ),
        *(
            box(
                (0.22, 0.34),
                (s * (inner - 0.30) - 0.21, s * (inner - 0.30) + 0.21),
                (seat, seat + 0.36),
                p.cushion,
            )
            for s in (-1, 1)
        ),
    ]
    y0, y1 = -inner + 0.03, inner - 0.03
    if chaise:
        c0, c1 = sorted((chaise * inner, chaise * (inner - 0.62)))
        solids.append(box((0.88, 1.45), (c0, c1), (0.08, seat), p.fabric))
        y0, y1 = (y0, c0 - 0.05) if chaise > 0 else (c1 + 0.05, y1)
    rect = (0.55, 0.88 - EDGE, y0, y1)
    areas = [keepout(0.0, 0.88, -half, half)]
    if chaise:
        areas.append(keepout(0.88, 1.45, *sorted((chaise * inner, chaise * (inner - 0.62)))))
    front = keepout(0.88, 1.6, y0, y1)
    return Piece("sofa", tuple(solids), (surface("sofa", rect, seat),), (front,), tuple(areas))


def tv_stand(p: Palette, length: float, height: float, tv_length: float) -> Piece:
    """A low sideboard with a flat television on the wall behind it."""
    half = length / 2
    solids = (
        box((0.0, 0.42), (-half, half), (height - 0.04, height), p.wood),
        box((0.0, 0.40), (-half + 0.02, half - 0.02), (0.08, height - 0.04), p.front),
        box((0.04, 0.36), (-half + 0.08, half - 0.08), (0.0, 0.08), p.black),
        box((0.40, 0.405), (-0.006, 0.006), (0.10, height - 0.06), p.wood_dark, collides=False),
        box((0.0, 0.05), (-tv_length / 2, tv_length / 2), (0.95, 0.95 + tv_length * 0.56), p.black),
    )
    rect = (0.11, 0.42 - EDGE, -half + EDGE, half - EDGE)
    return Piece(
        "tvstand",
        solids,
        (surface("tvstand", rect, height, 0.45),),
        (keepout(0.42, 1.15, -half, half),),
    )


# --- kitchen -------------------------------------------------------------------------------------

COUNTER_DEPTH = 0.62
COUNTER_HEIGHT = 0.90


def counter(p: Palette, name: str, width: float, upper: bool, hob: bool = False) -> Piece:
    """A base unit with a worktop, optionally with a wall unit above and a hob at the back."""
    half, depth, height = width / 2, COUNTER_DEPTH, COUNTER_HEIGHT
    solids = [
        box((0.0, depth), (-half, half), (height - 0.04, height), p.worktop),
        box((0.0, depth - 0.03), (-half, half), (0.10, height - 0.04), p.front),
        box((0.0, depth - 0.08), (-half, half), (0.0, 0.10), shade(p.front, 0.45)),
        box(
            (depth - 0.03, depth - 0.022),
            (-half + 0.10, half - 0.10),
            (0.80, 0.82),
            p.metal,
            collides=False,
        ),
    ]
    if upper:
        solids.append(box((0.0, 0.32), (-half, half), (1.48, 2.15), p.front))
        solids.append(
            box((0.32, 0.325), (-0.005, 0.005), (1.50, 2.13), shade(p.front, 0.6), collides=False)
        )
    if hob:
        solids.append(
            box((0.06, 0.28), (-0.28, 0.28), (height, height + 0.006), p.black, collides=False)
        )
    rect = (depth - 0.32, depth - EDGE, -half + EDGE, half - EDGE)
    return Piece(
        name,
        tuple(solids),
        (surface(name, rect, height, 0.55 if upper else 10.0),),
        (keepout(depth, depth + 0.72, -half, half),),
    )


def pantry(p: Palette, width: float) -> Piece:
    """A tall narrow kitchen cupboard."""
    half = width / 2
    solids = (
        box((0.0, COUNTER_DEPTH), (-half, half), (0.0, 2.15), p.front),
        box(
            (COUNTER_DEPTH, COUNTER_DEPTH + 0.03),
            (half - 0.07, half - 0.05),
            (0.95, 1.25),
            p.metal,
            False,
        ),
    )
    return Piece("pantry", solids)


def sink(p: Palette, width: float) -> Piece:
    """A base unit with a shallow basin near its front edge; objects stand in the basin."""
    half, depth, height = width / 2, COUNTER_DEPTH, COUNTER_HEIGHT
    floor = height - 0.05
    x0, x1, side = depth - 0.36, depth - 0.05, half - 0.05
    solids = (
        box((0.0, depth - 0.03), (-half, half), (0.10, floor - 0.01), p.front),
        box((0.0, depth - 0.08), (-half, half), (0.0, 0.10), shade(p.front, 0.45)),
        box((x0, x1), (-side, side), (floor - 0.01, floor), p.metal),
        box((0.0, x0), (-half, half), (floor - 0.01, height), p.worktop),
        box((x1, depth), (-half, half), (floor - 0.01, height), p.worktop),
        box((x0, x1), (-half, -side), (floor - 0.01, height), p.worktop),
        box((x0, x1), (side, half), (floor - 0.01, height), p.worktop),
        cylinder(0.12, 0.0, (height, height + 0.26), 0.014, p.metal),
        box((0.12, 0.27), (-0.012, 0.012), (height + 0.24, height + 0.265), p.metal),
    )
    rect = (x0 + 0.03, x1 - 0.03, -side + 0.03, side - 0.03)
    return Piece(
        "sink",
        solids,
        (surface("sink", rect, floor),),
        (keepout(depth, depth + 0.72, -half, half),),
    )


def island(p: Palette, length: float) -> Piece:
    """A free-standing kitchen block, long along y; origin in its centre."""
    half = length / 2
    solids = (
        box((-0.36, 0.36), (-half, half), (0.88, 0.92), p.worktop),
        box((-0.30, 0.30), (-half + 0.04, half - 0.04), (0.0, 0.88), p.front),
    )
    return Piece("island", solids)


def bistro_table(p: Palette) -> Piece:
    """A small round table on one foot; origin in its centre."""
    solids = (
        cylinder(0, 0, (0.70, 0.73), 0.36, p.wood),
        cylinder(0, 0, (0.03, 0.70), 0.035, p.metal),
        cylinder(0, 0, (0.0, 0.03), 0.22, p.metal),
    )
    return Piece("bistro_table", solids)


def bin_(p: Palette) -> Piece:
    """A pedal bin."""
    return Piece(
        "bin",
        (cylinder(0, 0, (0.0, 0.55), 0.14, p.metal), cylinder(0, 0, (0.55, 0.62), 0.145, p.black)),
    )


# --- bedroom, study, bathroom --------------------------------------------------------------------


# --- small things --------------------------------------------------------------------------------
