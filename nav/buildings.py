"""The buildings that agents navigate in, by name.

Two collections, each with splits by layout: "apartments" are those of the rearrangement tasks, with
fridge and cabinet closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rearrange.errors import UserError
from rearrange.navigation.footprints import Building
from rearrange.scenes.apartment import LAYOUTS_OF_SPLIT, VARIATION_COUNT, ArticulatedPose, Solid
from rearrange.scenes.compile import CABINET_SIZE, FRIDGE_SIZE
from rearrange.scenes.generator import apartments_of_split, generate_apartment

APARTMENTS = "apartments"
_APARTMENT = re.compile(r"layout(\d)_variation(\d\d)")
Rect = tuple[float, float, float, float]


@dataclass(frozen=True)
class PlainBuilding:
    """A building of nothing but static solids; see `Building`."""

    name: str
    bounds: Rect
    rooms: dict[str, Rect]
    solids: tuple[Solid, ...]


def building_names(collection: str, split: str) -> tuple[str, ...]:
    """Names of the buildings of a split, "train", "val" or "test".

    Raises:
        UserError: Unknown collection or split.
    """
    if collection != APARTMENTS:
        raise UserError(f"unknown buildings '{collection}': choose one of {APARTMENTS}")
    return tuple(f"layout{layout}_variation{v:02d}" for layout, v in apartments_of_split(split))


def find_building(name: str) -> bool:
    """Whether there is a building of that name."""
    match = _APARTMENT.fullmatch(name)
    if match is None:
        return False
    layouts = [layout for split in LAYOUTS_OF_SPLIT.values() for layout in split]
    return int(match[1]) in layouts and int(match[2]) < VARIATION_COUNT


@lru_cache(maxsize=256)
def load_building(name: str) -> Building:
    """A building by its name (cached per process).

    Raises:
        UserError: There is none of that name.
    """
    match = _APARTMENT.fullmatch(name)
    if match is None or not find_building(name):
        raise UserError(f"unknown building '{name}': layout0_variation00 is one, for example")
    apartment = generate_apartment(int(match[1]), int(match[2]))
    closed = (
        _closed(apartment.fridge, FRIDGE_SIZE, apartment.colors["fridge"]),
        _closed(apartment.cabinet, CABINET_SIZE, apartment.colors["cabinet"]),
    )
    return PlainBuilding(name, apartment.bounds, apartment.rooms, (*apartment.solids, *closed))


def _closed(
    pose: ArticulatedPose,
    size: tuple[float, float, float],
    color: tuple[float, float, float, float],
) -> Solid:
    """A fridge or cabinet with all doors and drawers closed, as one box."""
    x, y, z = pose.position
    depth, width, height = size
    center = (x, y, z + height / 2)
    return Solid("box", center, (depth / 2, width / 2, height / 2), pose.yaw, color)
