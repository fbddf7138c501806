import pytest

from rearrange.navigation import (
    OccupancyGrid,
    distance_field,
)
from rearrange.scenes.apartment import Apartment, ArticulatedPose, Solid
from tests.helpers.taut_string import GOAL


def make_apartment(solids: tuple[Solid, ...] = ()) -> Apartment:
    """A 10 x 8 m hall, fridge and cabinet in the upper corners."""
    return Apartment(
        layout=0,
        variation=0,
        bounds=(0.0, 0.0, 10.0, 8.0),
        rooms={"hall": (0.0, 0.0, 10.0, 8.0)},
        solids=solids,
        receptacles={},
        frames={
            "fridge": ArticulatedPose((0.5, 7.5, 0.0), 0.0),
            "cabinet": ArticulatedPose((9.5, 7.5, 0.0), 0.0),
        },
    )


@pytest.fixture(scope="session")
def make_grid():
    """Builds the grid of the hall with these solids in it."""
    return lambda *solids: OccupancyGrid(make_apartment(solids))


@pytest.fixture(scope="session")
def grid() -> OccupancyGrid:
    """The hall with a wall from the south to its middle, a crate, a column and more."""
    return OccupancyGrid(
        make_apartment(
            (
                Solid("box", (5.0, 2.0, 1.0), (0.05, 2.0, 1.0)),
                Solid("box", (2.0, 6.0, 0.4), (0.4, 0.2, 0.4), yaw=0.5),
                Solid("cylinder", (7.0, 6.0, 0.4), (0.4, 0.4, 0.0)),
                Solid("box", (8.0, 2.0, 2.0), (0.5, 0.5, 0.2)),  # overhead
                Solid("box", (8.0, 4.0, 0.01), (0.5, 0.5, 0.01)),  # a rug
                Solid("box", (2.0, 3.0, 0.5), (0.5, 0.5, 0.5), collides=False),
            )
        )
    )


@pytest.fixture(scope="module")
def field(grid):
    return distance_field(grid, GOAL)
