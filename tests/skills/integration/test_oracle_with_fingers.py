"""The oracle picks by friction; what it takes is where the hand has brought it."""

import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim import SimulatorConfig
from skills.oracle.skill import ORACLE_TIMEOUT, OracleSkill
from skills.players import argument_of


@pytest.mark.parametrize(
    "seed", [1002, 1003]
)  # a sugar box on a table, a potted meat can on a sofa
def test_it_picks(seed):
    simulator = SimulatorConfig(robot="fetch_fingers", camera_size=8)
    env = RearrangeEnv("pick", split="val", simulator=simulator)
    env.reset(seed=seed)
    slot = env.episode.targets[0].slot
    height = env.state.object_position[0, slot, 2]
    oracle, ended, info = OracleSkill("pick"), False, {}
    oracle.reset(env, argument_of("pick", env.episode))
    for _ in range(ORACLE_TIMEOUT):
        _, ended, _, info = env.step_physical(oracle.act(env), stop=oracle.done(env))
        if ended:
            break
    assert ended
    assert info["is_success"]
    assert env.state.held_object[0] == slot
    assert env.state.object_position[0, slot, 2] > height + 0.02
    env.close()
