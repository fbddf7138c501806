from rearrange.navigation import load_layout
from skills.oracle import NavigateOracle, PickOracle
from tests.helpers.oracle_runs import faces, run


def test_navigate_comes_near_what_cannot_be_reached(env):
    env.reset(seed=0)
    target = env.episode.targets[0]
    _, grid = load_layout(env.episode.layout, env.episode.variation)
    navigate, pick = NavigateOracle(grid), PickOracle(grid)
    run(env, navigate, target.slot)
    run(env, pick, target.slot, limit=600)
    assert env.state.held_object[0] == target.slot
    x, y, _ = target.goal
    run(env, navigate, target.slot, (x, y, 2.3))
    distance, angle = faces(env.state.base_pose[0], target.goal)
    assert navigate.failure == ""
    assert distance < 1.5
    assert angle < 0.26
