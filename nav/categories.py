"""Categories of furniture: the 21 names of ObjectNav on MP3D, of which our pieces use thirteen.

The vocabulary is that of Habitat's ObjectNav challenge of 2020, in its order. Which of our pieces goes
by which name is our choice: doubtful ones (bookcases, lamps, rugs, fridges, pictures) have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rearrange.navigation.footprints import Building
from rearrange.scenes.apartment import Solid

CATEGORIES = (
    "chair", "table", "picture", "cabinet", "cushion", "sofa", "bed", "chest_of_drawers", "plant",
    "sink", "toilet", "stool", "towel", "tv_monitor", "shower", "bathtub", "counter", "fireplace",
    "gym_equipment", "seating", "clothes",
)  # fmt: skip
# Category of a piece by its name without its number, see rearrange.scenes.furniture.
CATEGORY_OF_PIECE = {
    "chair": "chair",
    "armchair": "chair",
    "office_chair": "chair",
    "table": "table",
    "bistro_table": "table",
    "desk": "table",
    "console": "table",
    "cabinet": "cabinet",
    "pantry": "cabinet",
    "cupboard": "cabinet",
    "wardrobe": "cabinet",
    "tvstand": "cabinet",
    "sofa": "sofa",
    "bed": "bed",
    "dresser": "chest_of_drawers",
    "nightstand": "chest_of_drawers",
    "plant": "plant",
    "sink": "sink",
    "washbasin": "sink",
    "toilet": "toilet",
    "stool": "stool",
    "bathtub": "bathtub",
    "counter": "counter",
    "counter_left": "counter",
    "counter_right": "counter",
    "island": "counter",
}
HUNG = 1.0  # [m], height above which a solid's middle lies if it hangs over the piece
# Of what hangs over a piece: screens, wall cupboards, and mirrors, which have none.
CATEGORY_OVER_PIECE = {
    "tvstand": "tv_monitor",
    "desk": "tv_monitor",
    "counter": "cabinet",
    "counter_left": "cabinet",
    "counter_right": "cabinet",
    "dresser": None,
    "washbasin": None,
}


@dataclass(frozen=True)
class NavObject:
    """A thing that can be looked for.

    Attributes:
        name: Of its own in its building.
        category: One of CATEGORIES.
        solids: Indices of its solids in the building.
        position: Centre of the box around their centres [3], m.
    """

    name: str
    category: str
    solids: tuple[int, ...]
    position: tuple[float, float, float]


def objects_of(building: Building) -> tuple[NavObject, ...]:
    """All objects of a building that have a category, in the order of its solids."""
    members: dict[tuple[str, str], list[int]] = {}
    for index, solid in enumerate(building.solids):
        category = category_of(solid)
        if category is not None:
            members.setdefault((solid.part, category), []).append(index)
    found = []
    for (part, category), indices in members.items():
        centers = np.array([building.solids[index].position for index in indices])
        x, y, z = ((centers.min(axis=0) + centers.max(axis=0)) / 2).tolist()
        found.append(NavObject(f"{part}:{category}", category, tuple(indices), (x, y, z)))
    return tuple(found)


def category_of(solid: Solid) -> str | None:
    """Category of the piece that a solid belongs to; None where it has none."""
    kind = re.sub(r"[_\d]+$", "", solid.part)
    if kind in CATEGORY_OVER_PIECE and solid.position[2] > HUNG:
        return CATEGORY_OVER_PIECE[kind]
    return CATEGORY_OF_PIECE.get(kind)
