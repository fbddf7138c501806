"""The floors made for navigation."""

from itertools import combinations

import numpy as np
import pytest

from nav.agent import AgentConfig
from nav.buildings import load_building
from nav.floors import CORRIDOR, LAYOUTS_OF_SPLIT, Plan
from nav.scene import Scene

LAYOUTS = [layout for layouts in LAYOUTS_OF_SPLIT.values() for layout in layouts]


@pytest.fixture(scope="module")
def plans():
    return {layout: Plan(layout) for layout in LAYOUTS}


def test_splits_share_no_layout(plans):
    assert len(LAYOUTS) == len(set(LAYOUTS))
    assert [len(LAYOUTS_OF_SPLIT[split]) for split in ("train", "val", "test")] == [72, 6, 6]
    for a, b in combinations(plans.values(), 2):
        assert a.size != b.size
        assert list(a.rooms.values()) != list(b.rooms.values())


def test_layouts_have_3_to_8_rooms_that_fill_the_floor(plans):
    counts = set()
    for plan in plans.values():
        rooms = [room for name, room in plan.rooms.items() if name != CORRIDOR]
        counts.add(len(rooms))
        assert min(min(x1 - x0, y1 - y0) for x0, y0, x1, y1 in rooms) > 1.8
        area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in plan.rooms.values())
        assert area == pytest.approx(plan.size[0] * plan.size[1])
        assert len(plan.lintels) >= len(plan.rooms) - 1  # a tree of doors at least
    assert {3, 4, 5, 6, 7, 8} == counts
    assert sum(CORRIDOR in plan.rooms for plan in plans.values()) > len(plans) / 3


@pytest.mark.parametrize("name", ["floor00_variation0", "floor25_variation1", "floor33_variation2"])
def test_the_agent_gets_into_every_room(name):
    building = load_building(name)
    scene = Scene(building, AgentConfig().radius)
    x, y = scene.cells.T
    for x0, y0, x1, y1 in building.rooms.values():
        within = ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).sum() * scene.grid.cell**2
        assert within > 0.25 * (x1 - x0) * (y1 - y0)
    free = scene.grid.clearance >= scene.radius
    assert scene.island.sum() > 0.95 * free.sum()
    assert len(scene.landmarks) == 64
    assert all(scene.is_free(*point) for point in scene.landmarks)
    kinds = {solid.kind for solid in building.solids}
    assert kinds <= {"box", "cylinder"}
    assert len(building.solids) > 50


def test_the_same_name_is_the_same_floor_and_variations_differ():
    first = load_building("floor24_variation0")
    load_building.cache_clear()
    assert load_building("floor24_variation0") == first
    other = load_building("floor24_variation1")
    assert other.solids != first.solids
    assert other.bounds == first.bounds


def test_distances_are_the_same_both_ways():
    scene = Scene(load_building("floor24_variation0"), AgentConfig().radius)
    points = scene.landmarks[:6]
    there = np.array([scene.distances(np.array(points), goal) for goal in points])
    np.testing.assert_allclose(there, there.T, rtol=0.03, atol=0.05)
    straight = np.linalg.norm(np.subtract.outer(points, points).diagonal(0, 1, 3), axis=-1)
    assert (there >= straight * 0.995 - 0.05).all()
