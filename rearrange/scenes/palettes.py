"""Colours of homes: a few schemes that hold together, each variation a slightly different shade."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from rearrange.scenes.pieces import Palette


def _palette(**colors: str) -> Palette:
    """A palette from hex colours."""
    return Palette(
        **{
            name: (
                int(value[0:2], 16) / 255,
                int(value[2:4], 16) / 255,
                int(value[4:6], 16) / 255,
                1.0,
            )
            for name, value in colors.items()
        }
    )


# wall, accent wall, floor, tile, wood, dark wood, fronts, worktop, fabric, cushion, rug, bedding,
# metal, fridge
_SCHEMES = (
    _palette(  # Scandinavian: pale oak, white and sage
        wall="EFEDE7",
        accent_wall="C4CFC2",
        floor="CFAE86",
        tile="C9C6BE",
        wood="D9B98C",
        wood_dark="A98356",
        front="F1EFEA",
        worktop="8C7355",
        fabric="8F9AA0",
        cushion="6F8A78",
        rug="DDD5C5",
        bedding="9DB0A5",
        metal="8E9296",
        fridge="E6E8E9",
    ),
    _palette(  # warm: walnut, terracotta
        wall="F3E9DC",
        accent_wall="D9A98A",
        floor="A9764C",
        tile="BFA48A",
        wood="8A5A3A",
        wood_dark="5B3A26",
        front="EADFCB",
        worktop="4A4643",
        fabric="B5674A",
        cushion="E0B47C",
        rug="C9A78A",
        bedding="C98B6B",
        metal="6F6A66",
        fridge="C9CBCC",
    ),
    _palette(  # sea: white and navy
        wall="F0F2F3",
        accent_wall="9DB4C6",
        floor="C6A680",
        tile="B4BEC4",
        wood="C49A6C",
        wood_dark="8A6A48",
        front="3F5F7F",
        worktop="EDEBE6",
        fabric="35506E",
        cushion="E3C77F",
        rug="AFC1CF",
        bedding="5F86A8",
        metal="A3A8AC",
        fridge="DADDDF",
    ),
    _palette(  # loft: concrete, black, mustard
        wall="D9D7D3",
        accent_wall="A8614B",
        floor="9B8F82",
        tile="8C8C8A",
        wood="7A5C42",
        wood_dark="3B332D",
        front="4A4D50",
        worktop="B9A58C",
        fabric="5C5F63",
        cushion="D8A634",
        rug="8F8577",
        bedding="7C7F86",
        metal="33353A",
        fridge="7D8083",
    ),
    _palette(  # fresh: mint and birch
        wall="F4F3EC",
        accent_wall="BFD8CC",
        floor="DCC39D",
        tile="D5DAD3",
        wood="E0C69A",
        wood_dark="B08D5F",
        front="A9CBBB",
        worktop="F2EFE8",
        fabric="E2DBCB",
        cushion="E58F70",
        rug="BFD3CB",
        bedding="F0B9A0",
        metal="9A9EA0",
        fridge="EDF0EF",
    ),
    _palette(  # plum: dusty pink and dark wood
        wall="F1E8E6",
        accent_wall="C7A2A5",
        floor="8E6A50",
        tile="B5A6A2",
        wood="6E4A38",
        wood_dark="452E24",
        front="E8DCD8",
        worktop="5A5456",
        fabric="7B4F62",
        cushion="D7A7A0",
        rug="C9B3AE",
        bedding="A86F7E",
        metal="8A8486",
        fridge="D5D3D3",
    ),
    _palette(  # forest: green kitchen, leather sofa
        wall="EFECE3",
        accent_wall="6F8468",
        floor="B58B5E",
        tile="A9A694",
        wood="A87648",
        wood_dark="6B4A2E",
        front="4F6B57",
        worktop="E4DCCB",
        fabric="A3683A",
        cushion="44604C",
        rug="D3C6A6",
        bedding="7F9377",
        metal="B08D4F",
        fridge="D9DCD6",
    ),
)

_KEEP = {"white", "black", "lamp", "glass"}


def palette_of(layout: int, variation: int) -> Palette:
    """The colours of one apartment; neighbours in number get different schemes."""
    rng = np.random.default_rng([layout, variation, 7919])
    scheme = _SCHEMES[(variation + 3 * layout) % len(_SCHEMES)]
    colors = {}
    for item in fields(Palette):
        r, g, b, a = getattr(scheme, item.name)
        if item.name not in _KEEP:
            bright = float(rng.uniform(0.93, 1.05))
            tint = rng.uniform(-0.015, 0.015, 3)
            r, g, b = (
                min(max(c * bright + t, 0.02), 0.98)
                for c, t in zip((r, g, b), tint.tolist(), strict=True)
            )
        colors[item.name] = (r, g, b, a)
    return Palette(**colors)


def mixed_palette(layout: int, variation: int) -> Palette:
    """As `palette_of`, with the floors of a second scheme and the fronts and worktops of a third."""
    rng = np.random.default_rng([layout, variation, 7927])
    floors, fronts = (
        palette_of(layout + int(k), variation) for k in rng.integers(len(_SCHEMES), size=2)
    )
    return replace(
        palette_of(layout, variation),
        floor=floors.floor,
        tile=floors.tile,
        front=fronts.front,
        worktop=fronts.worktop,
    )
