import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from skills.spa.floor import SeenBasePlanner
from skills.spa.voxels import VoxelMap
from tests.helpers.point_clouds import wall


def test_a_seen_wall_is_in_the_grid_and_unknown_floor_is_free():
    seen = VoxelMap()
    seen.add(wall(1.02))
    planner = SeenBasePlanner(
        FETCH,
        seen,
        np.zeros(3),
        np.array([2.0, 0.0]),
        np.array(FETCH.resting_arm),
        FETCH.planning.spheres,
    )
    for x, room in ((1.025, 0.0), (0.525, 0.5), (1.525, 0.5)):
        assert planner.grid.clearance_at(x, 0.025) == pytest.approx(room, abs=1e-3)
    assert planner.grid.is_free(2.0, 0.0)
    assert not planner.grid.is_free(0.85, 0.0)


def test_daring_goes_under_what_hangs_over_the_floor():
    seen = VoxelMap()
    seen.add(wall(0.9, low=0.6, high=0.8))
    arguments = (
        FETCH,
        seen,
        np.zeros(3),
        np.array([1.5, 0.0]),
        np.array(FETCH.resting_arm),
        FETCH.planning.spheres,
    )
    careful, daring = SeenBasePlanner(*arguments), SeenBasePlanner(*arguments, True)
    assert not careful.grid.is_free(0.9, 0.0)
    assert daring.grid.is_free(0.9, 0.0)
    assert daring.slack(np.array([1.0, 0.0, 0.0]))[0] < 0  # there the torso would meet it
