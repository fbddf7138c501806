"""The buildings that agents navigate in, by name.

Two collections, each with splits by layout: "floors" are made for navigation (`nav.floors`);
"apartments" are those of the rearrangement tasks, with fridge and cabinet closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from nav import floors
from rearrange.errors import UserError
from rearrange.navigation.footprints import Building
from rearrange.scenes.apartment import LAYOUTS_OF_SPLIT, ArticulatedPose, Solid
from rearrange.scenes.compile import CABINET_SIZE, FRIDGE_SIZE
from rearrange.scenes.generator import apartments_of_split, generate_apartment

FLOORS, APARTMENTS = "floors", "apartments"
_FLOOR = re.compile(r"floor(\d\d)_variation(\d)")
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
    if collection not in (FLOORS, APARTMENTS):
        raise UserError(f"unknown buildings '{collection}': choose one of {FLOORS}, {APARTMENTS}")
    if split not in LAYOUTS_OF_SPLIT:
        raise UserError(f"unknown split '{split}': choose one of {', '.join(LAYOUTS_OF_SPLIT)}")
    if collection == APARTMENTS:
        return tuple(f"layout{layout}_variation{v:02d}" for layout, v in apartments_of_split(split))
    return tuple(
        f"floor{layout:02d}_variation{variation}"
        for layout in floors.LAYOUTS_OF_SPLIT[split]
        for variation in range(floors.VARIATION_COUNT)
    )


@lru_cache(maxsize=1024)
def split_of(name: str) -> str | None:
    """The split that a building of either collection belongs to; None if there is no such building."""
    for split in LAYOUTS_OF_SPLIT:
        if any(name in building_names(each, split) for each in (FLOORS, APARTMENTS)):
            return split
    return None


def find_building(name: str) -> bool:
    """Whether there is a building of that name."""
    return split_of(name) is not None


@lru_cache(maxsize=256)
def load_building(name: str) -> Building:
    """A building by its name (cached per process).

    Raises:
        UserError: There is none of that name.
    """
    if not find_building(name):
        raise UserError(f"unknown building '{name}': floor24_variation0 is one, for example")
    match = _FLOOR.fullmatch(name)
    if match is not None:
        floor = floors.Furnisher(int(match[1]), int(match[2]))
        return PlainBuilding(name, (0.0, 0.0, *floor.size), floor.rooms, tuple(floor.solids))
    layout, variation = (int(number) for number in re.findall(r"\d+", name))
    apartment = generate_apartment(layout, variation)
    closed = (
        _closed("fridge", apartment.fridge, FRIDGE_SIZE, apartment.colors["fridge"]),
        _closed("cabinet", apartment.cabinet, CABINET_SIZE, apartment.colors["cabinet"]),
    )
    return PlainBuilding(name, apartment.bounds, apartment.rooms, (*apartment.solids, *closed))


def _closed(
    part: str,
    pose: ArticulatedPose,
    size: tuple[float, float, float],
    color: tuple[float, float, float, float],
) -> Solid:
    """A fridge or cabinet with all doors and drawers closed, as one box."""
    x, y, z = pose.position
    depth, width, height = size
    center = (x, y, z + height / 2)
    return Solid("box", center, (depth / 2, width / 2, height / 2), pose.yaw, color, part=part)
