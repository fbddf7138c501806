from rearrange.navigation import load_layout
from skills.oracle import PickOracle
from tests.helpers.oracle_runs import run


def test_pick_drives_up_by_itself(env):
    env.reset(seed=3)
    target = env.episode.targets[1]
    _, grid = load_layout(env.episode.layout, env.episode.variation)
    pick = PickOracle(grid)
    run(env, pick, target.slot, limit=600)
    assert pick.failure == ""
    assert env.state.held_object[0] == target.slot
