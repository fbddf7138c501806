"""Homes on generated plans: furnished within the compiled topology, all in reach; the slow test takes 2,000."""

import numpy as np
import pytest
from apartment_checks import check_no_overlap
from test_apartment_properties import faults
from test_generator import check_surfaces

from rearrange.episodes import empty_scene
from rearrange.episodes.generation import source_of
from rearrange.errors import UserError
from rearrange.navigation import OccupancyGrid
from rearrange.scenes import CLOSED_RECEPTACLES, OPEN_RECEPTACLES, Apartment, generate_apartment
from rearrange.scenes.apartment import (
    DEFAULT_HOMES,
    GENERATED,
    VARIATION_COUNT,
    layouts_of,
    split_of_layout,
)
from rearrange.scenes.compile import BOX_SLOT_COUNT, CYLINDER_SLOT_COUNT
from rearrange.scenes.homes import generated_plan
from rearrange.tasks.fitness import can_stand_near

BLOCK = 100  # homes per slow test


def home(index: int, split: str = "val") -> Apartment:
    """One home of each plan of a split."""
    layout = layouts_of(split, GENERATED)[index]
    return generate_apartment(layout, index % VARIATION_COUNT)


def check_home(apartment: Apartment) -> None:
    """What is checked quickly."""
    boxes = sum(solid.kind == "box" for solid in apartment.solids)
    assert boxes <= BOX_SLOT_COUNT
    assert len(apartment.solids) - boxes <= CYLINDER_SLOT_COUNT
    assert set(apartment.receptacles) == set(OPEN_RECEPTACLES + CLOSED_RECEPTACLES)
    parts = {solid.part for solid in apartment.solids}
    beds = sum(part.startswith("bed_") for part in parts)
    assert beds >= sum(name.startswith("bedroom") for name in apartment.rooms)
    grid = OccupancyGrid(apartment)
    for receptacle in apartment.receptacles.values():
        assert can_stand_near(grid, receptacle.position[:2]), (apartment.name, receptacle.name)
    for name, (x0, y0, x1, y1) in apartment.rooms.items():
        low, high = grid.cell_of(x0, y0), grid.cell_of(x1, y1)
        assert grid.island[low[0] : high[0], low[1] : high[1]].any(), (apartment.name, name)


@pytest.mark.parametrize("tens", range(10))
def test_a_hundred_homes_are_sound(tens):
    for index in range(10 * tens, 10 * tens + 10):
        check_home(home(index))


@pytest.mark.parametrize("index", [0, 21, 42, 63, 84])
def test_home_keeps_every_property(index):
    apartment = home(index)
    check_surfaces(apartment)
    assert faults(apartment) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, BLOCK))
def test_two_thousand_homes_keep_every_property(first):
    found = []
    for index in range(first, first + BLOCK):
        apartment = home(index, "train")
        check_home(apartment)
        check_surfaces(apartment)
        found += faults(apartment)
    assert found == []


def test_nothing_overlaps_and_the_same_numbers_give_the_same_home():
    first = home(7)
    check_no_overlap(first)
    generate_apartment.cache_clear()
    assert home(7) == first


def test_scenes_are_drawn_from_the_homes_that_are_asked_for():
    rng = np.random.default_rng(0)
    for split in ("val", "test"):
        layout = empty_scene(source_of(split, GENERATED), rng).apartment.layout
        assert layout >= 1000
        assert split_of_layout(layout) == split
    assert source_of("val") == f"{DEFAULT_HOMES}/val"
    scenes = [empty_scene(of, np.random.default_rng(1)) for of in ("val", source_of("val"))]
    assert scenes[0].apartment == scenes[1].apartment
    with pytest.raises(UserError, match="homes must be one of"):
        source_of("val", "modern")


def test_nothing_hangs_outside():
    outlines = [
        layout for layout in layouts_of("val", GENERATED)[:60] if generated_plan(layout).voids
    ][:8]
    assert outlines
    for layout in outlines:
        voids = generated_plan(layout).voids
        for solid in generate_apartment(layout, 0).solids:
            if solid.part.startswith(("picture", "window")):
                x, y, _ = solid.position
                deep = (min(x - r[0], r[2] - x, y - r[1], r[3] - y) for r in voids)
                assert max(deep) < 0.0, (layout, solid.part)
