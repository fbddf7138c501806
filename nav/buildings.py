"""The buildings that agents navigate in, by name: the homes of the rearrangement tasks, all doors closed.

Splits and collections of homes are those of `rearrange.scenes.registry`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rearrange.errors import UserError
from rearrange.navigation.footprints import Building
from rearrange.scenes.apartment import Apartment, Solid
from rearrange.scenes.compile import DEFAULT_COLOR
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import (
    CLASSIC,
    VARIATION_COUNT,
    layouts_of,
    spec_of_layout,
    split_of_layout,
)
from rearrange.scenes.spec import Furniture

PLANS = (
    256  # generated plans of a split, at most: a process keeps so many scenes and their distances
)
_NAME = re.compile(r"layout(0|[1-9]\d*)_variation(\d\d)")
Rect = tuple[float, float, float, float]


@dataclass(frozen=True)
class PlainBuilding:
    """A building of nothing but static solids; see `Building`."""

    name: str
    bounds: Rect
    rooms: dict[str, Rect]
    solids: tuple[Solid, ...]


def building_names(homes: str, split: str) -> tuple[str, ...]:
    """Names of the buildings of a split, "train", "val" or "test", of a collection of homes.

    Of generated homes they are of different plans, each furnished once.

    Raises:
        UserError: Unknown collection or split.
    """
    layouts = layouts_of(split, homes)[:PLANS]
    variations = range(VARIATION_COUNT if homes == CLASSIC else 1)
    return tuple(f"layout{layout}_variation{v:02d}" for layout in layouts for v in variations)


def split_of(name: str) -> str | None:
    """The split that a building belongs to; None if there is no such building."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[2]) >= VARIATION_COUNT:
        return None
    return split_of_layout(int(match[1]))


def find_building(name: str) -> bool:
    """Return whether there is a building of that name."""
    return split_of(name) is not None


@lru_cache(maxsize=PLANS)
def load_building(name: str) -> Building:
    """A building by its name (cached per process).

    Raises:
        UserError: There is none of that name.
    """
    match = _NAME.fullmatch(name)
    if match is None or not find_building(name):
        raise UserError(f"unknown building '{name}': layout1000_variation00 is one, for example")
    apartment = generate_apartment(int(match[1]), int(match[2]))
    closed = (_closed(apartment, piece) for piece in spec_of_layout(apartment.layout).furniture)
    return PlainBuilding(name, apartment.bounds, apartment.rooms, (*apartment.solids, *closed))


def _closed(apartment: Apartment, piece: Furniture) -> Solid:
    """A piece of furniture with all doors and drawers closed, as one box."""
    pose = apartment.frames[piece.name]
    color = apartment.colors.get(piece.name, DEFAULT_COLOR)
    x, y, z = pose.position
    depth, width, height = piece.size
    center, half = (x, y, z + height / 2), (depth / 2, width / 2, height / 2)
    return Solid("box", center, half, pose.yaw, color, part=piece.name)
