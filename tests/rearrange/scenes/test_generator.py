"""Apartments: deterministic, furnished without overlap, everything in reach of the robot."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from rearrange.errors import UserError
from rearrange.scenes import VARIATION_COUNT, generate_apartment
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.floor_plans import FLOOR_PLANS
from rearrange.scenes.generator import draw_apartment
from rearrange.scenes.placement import CELL, FloorGrid
from tests.helpers.apartment_checks import (
    check_no_overlap,
    check_surfaces,
    framed,
    obstacles,
    points_on,
)
from tests.helpers.apartment_faults import block, faults

LAYOUTS = range(len(FLOOR_PLANS))
ALL = [(layout, variation) for layout in LAYOUTS for variation in range(VARIATION_COUNT)]
SAMPLE = [(layout, variation) for layout in LAYOUTS for variation in (0, 14)]
RADIUS = 0.32  # [m], what the inflated base needs
VARIATIONS = 100  # of each layout
BLOCK = 25  # apartments per slow test
FEW = [(layout, v) for layout in LAYOUTS for v in (2, 57, 199)]
apartments = st.sampled_from(ALL)


@lru_cache(maxsize=128)
def standing(name: tuple[int, int]) -> tuple[FloorGrid, np.ndarray]:
    apartment = generate_apartment(*name)
    size = (apartment.bounds[2], apartment.bounds[3])
    grid = FloorGrid(size, obstacles(apartment), RADIUS)
    return grid, grid.main_component()


def nearest(cells: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance from each point [P, 2] to the nearest of the cells, to about half a cell [P], m."""
    distance = np.asarray(ndimage.distance_transform_edt(~cells))
    i, j = np.clip((points / CELL).astype(int), 0, np.array(cells.shape) - 1).T
    return distance[i, j] * CELL


def check_reachable(name: tuple[int, int]) -> None:
    apartment = generate_apartment(*name)
    grid, cells = standing(name)
    for receptacle in apartment.receptacles.values():
        points = points_on(receptacle)
        assert (points > apartment.bounds[:2]).all()
        assert (points < apartment.bounds[2:]).all()
        limit = 0.85 if receptacle.name in APARTMENT.closed_receptacles else 0.72
        assert nearest(cells, points).max() < limit, receptacle.name
    # Where the robot opens the fridge and the cabinet (HAB's start region, 0.2 of its size).
    for pose, x in (
        (apartment.frames["fridge"], (0.9, 1.2)),
        (apartment.frames["cabinet"], (1.15, 1.25)),
    ):
        spot = framed(pose, x[0], -0.15, x[1], 0.15)
        assert nearest(cells, np.array([spot[:2]]))[0] < 0.06
    for room, rect in apartment.rooms.items():
        inside = (grid.x > rect[0]) & (grid.x < rect[2]), (grid.y > rect[1]) & (grid.y < rect[3])
        assert cells[np.ix_(*inside)].any(), room


def test_unknown_apartment_is_named():
    with pytest.raises(UserError, match="variations 0 to 20"):
        generate_apartment(0, 21)


@pytest.mark.parametrize("name", [(0, 3), (4, 17)])
def test_same_numbers_give_the_same_apartment(name):
    first = generate_apartment(*name)
    generate_apartment.cache_clear()
    assert generate_apartment(*name) == first


def test_variations_differ():
    sofas = {
        tuple(np.round(generate_apartment(0, v).receptacles["sofa"].position, 3))
        for v in range(0, VARIATION_COUNT, 3)
    }
    assert len(sofas) == 7


@given(apartments)
@settings(max_examples=20, derandomize=True)
def test_apartment_is_sound(name):
    apartment = generate_apartment(*name)
    assert set(apartment.receptacles) == set(
        APARTMENT.open_receptacles + APARTMENT.closed_receptacles
    )
    assert len({s.part for s in apartment.solids} - {""}) >= 20
    check_no_overlap(apartment)
    check_surfaces(apartment)
    check_reachable(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_apartment_is_sound(name):
    apartment = generate_apartment(*name)
    assert sum(s.kind == "box" for s in apartment.solids) <= APARTMENT.box_count
    assert sum(s.kind == "cylinder" for s in apartment.solids) <= APARTMENT.cylinder_count
    check_no_overlap(apartment)
    check_surfaces(apartment)
    check_reachable(name)


def test_heights_are_those_of_homes():
    for name in SAMPLE[::3]:
        heights = {k: r.position[2] for k, r in generate_apartment(*name).receptacles.items()}
        assert 0.72 <= heights["table_01"] <= 0.78
        assert 0.38 <= heights["table_02"] <= 0.50
        assert 0.40 <= heights["sofa"] <= 0.46
        assert 0.42 <= heights["chair_01"] <= 0.48
        assert heights["counter_left"] == heights["counter_right"] == pytest.approx(0.90)
        assert 0.84 <= heights["sink"] <= 0.90


@pytest.mark.slow
def test_an_apartment_that_is_seldom_drawn_is_made():
    """Among 128 worlds that train Pick one was in it, and ended."""
    rejected: Counter[str] = Counter()
    assert faults(draw_apartment(4814, 5, rejected)) == []
    assert rejected.total() > 400


@pytest.mark.parametrize(("layout", "variation"), FEW)
def test_apartment_keeps_every_property(layout, variation):
    assert faults(draw_apartment(layout, variation)) == []


def test_what_stands_in_the_way_is_found():
    apartment = draw_apartment(3, 5)
    fridge, cabinet = apartment.frames["fridge"], apartment.frames["cabinet"]
    before_fridge = ("fridge_middle: ", "fridge_door: handle out of reach")
    for column, expected in (
        (block(fridge, 0.8, 0.1, 0.1, 1.2), ("fridge_door_panel at",)),
        (block(cabinet, 0.6, 0.2, 0.1, 0.8), ("drawer_right_top_front at",)),
        (block(cabinet, 1.3, 0.0, 0.6, 0.8), ("no room to stand before the cabinet",)),
        (block(fridge, 1.3, 0.0, 0.9, 1.2), before_fridge),
        (block(fridge, 0.8, -0.6, 0.1, 1.2), ("no room beside the open fridge",)),
        (block(cabinet, 1.7, 0.25, 0.1, 0.8), ("no room to stand before the open drawer",)),
    ):
        found = faults(replace(apartment, solids=(*apartment.solids, column)))
        assert all(any(words in fault for fault in found) for words in expected), found


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, VARIATIONS, BLOCK))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_thousand_apartments_keep_every_property(layout, first):
    drawn = (draw_apartment(layout, v) for v in range(first, first + BLOCK))
    assert [fault for apartment in drawn for fault in faults(apartment)] == []
