"""Apartments: deterministic, furnished without overlap, everything in reach of the robot."""

from functools import lru_cache

import numpy as np
import pytest
from apartment_checks import check_no_overlap, framed, obstacles, points_on, vertical
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from rearrange.errors import UserError
from rearrange.scenes import (
    CLOSED_RECEPTACLES,
    OPEN_RECEPTACLES,
    VARIATION_COUNT,
    Apartment,
    apartments_of_split,
    generate_apartment,
)
from rearrange.scenes.apartment import CLASSIC, KEPT_COUNT, kept_by_apartment
from rearrange.scenes.compile import BOX_SLOT_COUNT, CYLINDER_SLOT_COUNT
from rearrange.scenes.floor_plans import FLOOR_PLANS
from rearrange.scenes.placement import CELL, FloorGrid

LAYOUTS = range(len(FLOOR_PLANS))
ALL = [(layout, variation) for layout in LAYOUTS for variation in range(VARIATION_COUNT)]
SAMPLE = [(layout, variation) for layout in LAYOUTS for variation in (0, 14)]
RADIUS = 0.32  # [m], what the inflated base needs
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
        limit = 0.85 if receptacle.name in CLOSED_RECEPTACLES else 0.72
        assert nearest(cells, points).max() < limit, receptacle.name
    # Where the robot opens the fridge and the cabinet (HAB's start region, 0.2 of its size).
    for pose, x in ((apartment.fridge, (0.9, 1.2)), (apartment.cabinet, (1.15, 1.25))):
        spot = framed(pose, x[0], -0.15, x[1], 0.15)
        assert nearest(cells, np.array([spot[:2]]))[0] < 0.06
    for room, rect in apartment.rooms.items():
        inside = (grid.x > rect[0]) & (grid.x < rect[2]), (grid.y > rect[1]) & (grid.y < rect[3])
        assert cells[np.ix_(*inside)].any(), room


def check_surfaces(apartment: Apartment) -> None:
    """Every open receptacle lies on the top of a solid, 6 cm from edges where things could fall."""
    for name in OPEN_RECEPTACLES:
        receptacle = apartment.receptacles[name]
        tops = [
            s
            for s in apartment.solids
            if s.part == name and abs(vertical(s)[1] - receptacle.position[2]) < 1e-6
        ]
        assert tops, name
        points = points_on(receptacle)
        margin = 0.0 if name == "sink" else 0.059
        for top in tops:
            c, s = np.cos(top.yaw), np.sin(top.yaw)
            d = points - np.array(top.position[:2])
            local = np.abs(np.stack([d[:, 0] * c + d[:, 1] * s, -d[:, 0] * s + d[:, 1] * c], -1))
            if (
                top.kind == "box"
                and (local <= np.array(top.size[:2]) - margin * (name != "sofa")).all()
            ):
                break
            if top.kind == "cylinder" and (np.linalg.norm(d, axis=1) <= top.size[0] - margin).all():
                break
        else:
            pytest.fail(f"{name} sticks out of its surface")


def test_splits_by_layout():
    assert [len(apartments_of_split(split, CLASSIC)) for split in ("train", "val", "test")] == [
        189,
        21,
        21,
    ]
    everything = [
        a for split in ("train", "val", "test") for a in apartments_of_split(split, CLASSIC)
    ]
    assert sorted(everything) == ALL
    with pytest.raises(UserError, match="split"):
        apartments_of_split("training")


def test_unknown_apartment_is_named():
    with pytest.raises(UserError, match="variations 0 to 20"):
        generate_apartment(0, 21)


@pytest.mark.parametrize("name", [(0, 3), (4, 17)])
def test_same_numbers_give_the_same_apartment(name):
    first = generate_apartment(*name)
    generate_apartment.cache_clear()
    assert generate_apartment(*name) == first


def test_classic_apartments_are_kept_and_the_last_of_the_generated_ones():
    made = []

    @kept_by_apartment
    def make(layout: int, variation: int) -> tuple[int, int]:
        made.append((layout, variation))
        return layout, variation

    classic = [(layout, v) for layout in (0, 3, 4) for v in range(VARIATION_COUNT)]
    generated = [(layout, 0) for layout in range(1000, 1000 + KEPT_COUNT + 1)]
    for place in (*classic, *generated):
        assert make(*place) == place
    made.clear()
    for place in (*classic, *generated[1:]):
        make(*place)
    assert made == []
    make(*generated[0])
    assert made == [generated[0]]
    make.cache_clear()
    make(0, 0)
    assert made[-1] == (0, 0)


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
    assert set(apartment.receptacles) == set(OPEN_RECEPTACLES + CLOSED_RECEPTACLES)
    assert len({s.part for s in apartment.solids} - {""}) >= 20
    check_no_overlap(apartment)
    check_surfaces(apartment)
    check_reachable(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_apartment_is_sound(name):
    apartment = generate_apartment(*name)
    assert sum(s.kind == "box" for s in apartment.solids) <= BOX_SLOT_COUNT
    assert sum(s.kind == "cylinder" for s in apartment.solids) <= CYLINDER_SLOT_COUNT
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
