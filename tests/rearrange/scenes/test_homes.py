"""Homes on generated plans: every one works for every task; the slow tests take 2,000 more."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import OccupancyGrid, load_layout
from rearrange.scenes import Apartment, Solid, generate_apartment
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.homes import find_plan, generated_plan
from rearrange.scenes.registry import (
    DEFAULT_HOMES,
    GENERATED,
    VARIATION_COUNT,
    layouts_of,
    split_of_layout,
)
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import TASKS, fitness, make_task, sampling
from rearrange.tasks.fitness import can_stand_near, draw
from rearrange.tasks.sampling import empty_scene, source_of
from rearrange.worlds import START_ATTEMPTS
from tests.helpers.apartment_checks import check_no_overlap, check_surfaces
from tests.helpers.apartment_faults import block, faults

BLOCK = 100  # homes per slow test
QUICK = (0, 3, 7)  # which tens of the hundred the fast suite takes


def numbers(index: int, split: str = "val") -> tuple[int, int]:
    """Layout and variation of one home of each plan of a split."""
    return layouts_of(split, GENERATED)[index], index % VARIATION_COUNT


def home(index: int) -> Apartment:
    """One home of each validation plan."""
    return generate_apartment(*numbers(index))


def home_faults(apartment: Apartment, grid: OccupancyGrid, thorough: bool = False) -> list[str]:
    """What is wrong with a home, in words."""
    found = []
    boxes = sum(solid.kind == "box" for solid in apartment.solids)
    if boxes > APARTMENT.box_count or len(apartment.solids) - boxes > APARTMENT.cylinder_count:
        found.append("more solids than slots")
    missing = set(APARTMENT.open_receptacles + APARTMENT.closed_receptacles) ^ set(
        apartment.receptacles
    )
    found += [f"{name} is missing" for name in sorted(missing)]
    parts = {solid.part for solid in apartment.solids}
    beds = sum(part.startswith("bed_") for part in parts)
    if beds < sum(name.startswith("bedroom") for name in apartment.rooms):
        found.append("a bedroom without a bed")
    for name, receptacle in apartment.receptacles.items():
        if not can_stand_near(grid, receptacle.position[:2]):
            found.append(f"nowhere to stand near {name}")
    for name, (x0, y0, x1, y1) in apartment.rooms.items():
        low, high = grid.cell_of(x0, y0), grid.cell_of(x1, y1)
        if not grid.island[low[0] : high[0], low[1] : high[1]].any():
            found.append(f"{name} is cut off")
    return [f"{apartment.name}: {reason}" for reason in found] + faults(apartment, grid, thorough)


@pytest.fixture(scope="module")
def simulator():
    one = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    yield one
    one.close()


@pytest.fixture
def without_start(simulator, monkeypatch):
    """Which tasks of all cannot start in a home."""

    def find(apartment: Apartment, grid: OccupancyGrid) -> list[str]:
        for module in (sampling, fitness):
            monkeypatch.setattr(module, "load_layout", lambda *_: (apartment, grid))
        found = []
        for name in TASKS:
            sample = partial(make_task(name).sample_episode, "val", np.random.default_rng(0))
            try:
                started = draw(sample, simulator, 0, START_ATTEMPTS) is not None
            except UserError:  # no room for the robot
                started = False
            found += [] if started else [f"{apartment.name}: no start of {name}"]
        return found

    return find


@pytest.mark.parametrize(
    "tens", [pytest.param(k, marks=() if k in QUICK else pytest.mark.slow) for k in range(10)]
)
def test_a_hundred_homes_work(tens, without_start):
    for index in range(10 * tens, 10 * tens + 10):
        place = load_layout(*numbers(index))
        assert home_faults(*place) + without_start(*place) == []


@pytest.mark.parametrize("index", [0, 21, 42, 63, 84])
def test_home_keeps_every_property(index):
    apartment, grid = load_layout(*numbers(index))
    check_surfaces(apartment)
    assert faults(apartment, grid) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, BLOCK))
def test_two_thousand_homes_work(first, without_start):
    found = []
    for index in range(first, first + BLOCK):
        place = load_layout(*numbers(index, "train"))
        check_surfaces(place[0])
        found += home_faults(*place, thorough=True) + without_start(*place)
    assert found == []


def test_what_does_not_work_is_found(without_start):
    apartment, _ = load_layout(*numbers(7))

    def told(changed: Apartment) -> str:
        grid = OccupancyGrid(changed)
        return "\n".join(home_faults(changed, grid) + without_start(changed, grid))

    fewer = {k: v for k, v in apartment.receptacles.items() if k != "sofa"}
    assert "sofa is missing" in "\n".join(
        home_faults(replace(apartment, receptacles=fewer), OccupancyGrid(apartment))
    )
    full = block(apartment.frames["fridge"], 1.3, 0.0, 0.9, 1.2)
    said = told(replace(apartment, solids=(*apartment.solids, full)))
    assert "fridge_door: handle out of reach" in said
    assert "no start of open_fridge" in said
    x0, y0, x1, y1 = apartment.rooms["bath"]
    half = max(x1 - x0, y1 - y0) / 2
    filled = Solid("box", ((x0 + x1) / 2, (y0 + y1) / 2, 0.5), (half, half, 0.5), part="crate")
    assert "bath is cut off" in told(replace(apartment, solids=(*apartment.solids, filled)))


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


def test_same_number_gives_the_same_plan_and_reasons_are_counted():
    rejected: Counter[str] = Counter()
    plans = [find_plan(layout, rejected) for layout in range(5000, 5005)]
    assert plans == [find_plan(layout, Counter()) for layout in range(5000, 5005)]
    assert rejected
    assert all(reason.islower() or " " in reason for reason in rejected)
