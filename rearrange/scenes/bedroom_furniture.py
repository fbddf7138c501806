"""Furniture of bedrooms, baths and halls; see `furniture` for frames."""

from __future__ import annotations

import numpy as np

from rearrange.scenes.pieces import (
    Color,
    Palette,
    Piece,
    box,
    cylinder,
    keepout,
    shade,
)


def bed(p: Palette, width: float) -> Piece:
    """A bed with its head against the wall."""
    half = width / 2
    solids = [
        box((0.0, 0.07), (-half - 0.04, half + 0.04), (0.0, 1.05), p.wood),
        box((0.07, 2.08), (-half, half), (0.06, 0.30), p.wood_dark),
        box((0.07, 2.06), (-half + 0.02, half - 0.02), (0.30, 0.50), p.white),
        box((0.72, 2.08), (-half - 0.01, half + 0.01), (0.28, 0.54), p.bedding),
    ]
    pillows = (-0.5, 0.5) if width > 1.2 else (0.0,)
    solids += [
        box((0.14, 0.54), (s * half - 0.30, s * half + 0.30), (0.50, 0.61), p.white)
        for s in pillows
    ]
    return Piece("bed", tuple(solids))


def nightstand(p: Palette, name: str, lamp: bool) -> Piece:
    """A small cabinet beside a bed, with or without a lamp."""
    solids = [
        box((0.0, 0.40), (-0.22, 0.22), (0.04, 0.50), p.wood),
        box((0.40, 0.41), (-0.20, 0.20), (0.28, 0.48), p.front, collides=False),
    ]
    if lamp:
        solids.append(cylinder(0.18, 0.0, (0.50, 0.68), 0.03, p.metal))
        solids.append(cylinder(0.18, 0.0, (0.68, 0.90), 0.11, p.lamp))
    return Piece(name, tuple(solids))


def wardrobe(p: Palette, width: float) -> Piece:
    """A tall two-door wardrobe."""
    half = width / 2
    solids = (
        box((0.0, 0.60), (-half, half), (0.0, 2.10), p.front),
        box((0.60, 0.604), (-0.008, 0.008), (0.06, 2.06), shade(p.front, 0.5), collides=False),
        *(
            box(
                (0.60, 0.63),
                (s * 0.06 - 0.012, s * 0.06 + 0.012),
                (0.95, 1.25),
                p.metal,
                collides=False,
            )
            for s in (-1, 1)
        ),
    )
    return Piece("wardrobe", solids, (), (keepout(0.6, 1.2, -half, half),))


def dresser(p: Palette, width: float) -> Piece:
    """A chest of drawers (they do not open) with a mirror on the wall."""
    half = width / 2
    solids = (
        box((0.0, 0.46), (-half, half), (0.06, 0.84), p.wood),
        box((0.02, 0.42), (-half + 0.04, half - 0.04), (0.0, 0.06), p.black),
        *(
            box((0.46, 0.47), (-half + 0.04, half - 0.04), (z, z + 0.21), p.front, collides=False)
            for z in (0.10, 0.34, 0.58)
        ),
        box((0.0, 0.02), (-0.30, 0.30), (1.05, 1.90), p.glass, collides=False),
    )
    return Piece("dresser", solids)


def bookcase(p: Palette, name: str, width: float, height: float, books: tuple[Color, ...]) -> Piece:
    """An open bookcase with rows of books."""
    half = width / 2
    rows = np.linspace(0.08, height - 0.04, 5)
    solids = [
        box((0.0, 0.02), (-half, half), (0.0, height), p.wood_dark),
        box((0.02, 0.32), (-half, -half + 0.03), (0.0, height), p.wood),
        box((0.02, 0.32), (half - 0.03, half), (0.0, height), p.wood),
        box((0.02, 0.32), (-half + 0.03, half - 0.03), (height - 0.03, height), p.wood),
    ]
    for row, color in zip(rows[:4], books, strict=False):
        z = float(row)
        solids.append(
            box(
                (0.02, 0.26),
                (-half + 0.03, half - 0.03),
                (z, z + 0.72 * float(rows[1] - rows[0])),
                color,
            )
        )
    return Piece(name, tuple(solids))


def desk(p: Palette, width: float) -> Piece:
    """A desk with a monitor."""
    half = width / 2
    solids = (
        box((0.0, 0.65), (-half, half), (0.71, 0.75), p.wood),
        box((0.02, 0.60), (-half, -half + 0.04), (0.0, 0.71), p.wood_dark),
        box((0.02, 0.60), (half - 0.40, half), (0.0, 0.71), p.front),
        box((0.10, 0.13), (-0.30, 0.30), (0.87, 1.22), p.black),
        box((0.08, 0.24), (-0.10, 0.10), (0.75, 0.87), p.metal),
        box((0.34, 0.50), (-0.22, 0.22), (0.75, 0.77), p.white, collides=False),
    )
    return Piece("desk", solids)


def bathtub(p: Palette) -> Piece:
    """A bathtub along y."""
    solids = (
        box((0.0, 0.75), (-0.85, 0.85), (0.0, 0.55), p.white),
        box((0.08, 0.67), (-0.77, 0.77), (0.55, 0.552), p.glass, collides=False),
    )
    return Piece("bathtub", solids)


def toilet(p: Palette) -> Piece:
    """A toilet."""
    solids = (
        box((0.0, 0.18), (-0.19, 0.19), (0.36, 0.80), p.white),
        box((0.0, 0.40), (-0.14, 0.14), (0.0, 0.36), p.white),
        cylinder(0.42, 0.0, (0.30, 0.42), 0.19, p.white),
    )
    return Piece("toilet", solids, (), (keepout(0.6, 1.1, -0.3, 0.3),))


def washbasin(p: Palette) -> Piece:
    """A washbasin on a cabinet, with a mirror."""
    solids = (
        box((0.0, 0.44), (-0.36, 0.36), (0.30, 0.76), p.front),
        box((0.0, 0.48), (-0.40, 0.40), (0.76, 0.86), p.white),
        box((0.10, 0.42), (-0.28, 0.28), (0.86, 0.862), p.glass, collides=False),
        box((0.0, 0.02), (-0.34, 0.34), (1.15, 1.90), p.glass, collides=False),
    )
    return Piece("washbasin", solids, (), (keepout(0.48, 1.0, -0.4, 0.4),))


def console(p: Palette, width: float) -> Piece:
    """A narrow hall table."""
    half = width / 2
    solids = (
        box((0.0, 0.32), (-half, half), (0.74, 0.78), p.wood),
        box((0.02, 0.30), (-half, -half + 0.04), (0.0, 0.74), p.wood_dark),
        box((0.02, 0.30), (half - 0.04, half), (0.0, 0.74), p.wood_dark),
        box((0.02, 0.30), (-half + 0.04, half - 0.04), (0.20, 0.23), p.wood),
    )
    return Piece("console", solids)


def shoe_bench(p: Palette, width: float) -> Piece:
    """A low bench with a cushion."""
    half = width / 2
    solids = (
        box((0.0, 0.36), (-half, half), (0.06, 0.42), p.wood),
        box((0.0, 0.36), (-half, half), (0.42, 0.48), p.cushion),
    )
    return Piece("bench", solids)
