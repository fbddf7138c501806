"""Apartments with the floor on which the base moves."""

from __future__ import annotations

from rearrange.navigation.occupancy import OccupancyGrid
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.registry import kept_by_apartment


@kept_by_apartment
def load_layout(layout: int, variation: int) -> tuple[Apartment, OccupancyGrid]:
    """An apartment and its occupancy grid (cached per process)."""
    apartment = generate_apartment(layout, variation)
    return apartment, OccupancyGrid(apartment)
