from dataclasses import replace

import pytest

from nav import buildings, env, scene
from nav.buildings import PlainBuilding
from rearrange.scenes.pieces import box


def _walled(name, width, depth, *solids):
    """A hall with outer walls 0.1 m thick, 2.5 m high, and a floor."""
    grey, high = (0.5, 0.5, 0.5, 1.0), (0.0, 2.5)
    walls = (
        box((-0.1, width + 0.1), (-0.1, 0.0), high, grey, group=2),
        box((-0.1, width + 0.1), (depth, depth + 0.1), high, grey, group=2),
        box((-0.1, 0.0), (0.0, depth), high, grey, group=2),
        box((width, width + 0.1), (0.0, depth), high, grey, group=2),
        box((0.0, width), (0.0, depth), (-0.03, 0.0), (0.2, 0.4, 0.6, 1.0), collides=False),
    )
    bounds = (0.0, 0.0, width, depth)
    return PlainBuilding(name, bounds, {"hall": bounds}, (*walls, *solids))


HALLS = {
    hall.name: hall
    for hall in (
        # A television on the south wall, which nothing touches.
        _walled(
            "empty_hall", 6.0, 5.0,
            replace(
                box((0.5, 1.5), (0.0, 0.05), (1.0, 1.6), (0.1, 0.1, 0.1, 1.0), collides=False),
                part="tvstand_01",
            ),
        ),
        # A wall from the south to y = 3, and a crate that passes for a table.
        _walled(
            "split_hall", 6.0, 5.0,
            box((2.95, 3.05), (0.0, 3.0), (0.0, 2.5), (0.9, 0.1, 0.1, 1.0)),
            replace(
                box((4.2, 4.8), (3.2, 3.6), (0.0, 0.6), (0.1, 0.9, 0.1, 1.0), yaw=0.4),
                part="table_01",
            ),
        ),
    )
}  # fmt: skip


@pytest.fixture
def walled():
    """Makes a hall: name, width, depth, solids."""
    return _walled


@pytest.fixture(autouse=True)
def halls(monkeypatch):
    """Two small halls in the place of the generated buildings, which take seconds to make."""
    load = buildings.load_building
    monkeypatch.setattr(scene, "load_building", lambda name: HALLS.get(name) or load(name))
    monkeypatch.setattr(env, "building_names", lambda collection, split: tuple(HALLS))
    return HALLS
