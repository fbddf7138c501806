import math

from rearrange.navigation import load_layout
from skills.oracle import NavigateToHandle, OpenOracle
from skills.oracle.fixtures import Fixture
from tests.helpers.oracle_runs import run_free


def test_the_way_to_a_handle_ends_where_opening_needs_no_drive(worlds):
    env = worlds("tidy_house")
    env.reset(seed=2)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    navigate, joint = NavigateToHandle(grid), "fridge_door"
    run_free(env, navigate, joint)
    assert navigate.failure == ""
    before = env.state.base_pose[0].copy()
    fixture = Fixture.of(grid.apartment, joint)
    assert math.dist(before[:2], fixture.handle(0.0)[:2]) < 1.3
    oracle = OpenOracle(grid)
    run_free(env, oracle, joint)
    assert oracle.failure == ""
    assert env.state.articulated_joints[0, 0] > 1.1708
