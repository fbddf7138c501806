"""Oracles act for a robot whose arm slides."""

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.robot.mast import MAST
from rearrange.sim import SimulatorConfig
from skills.oracle.arm import ARM_STEP
from skills.oracle.skill import ORACLE_TIMEOUT, OracleSkill
from skills.players import argument_of


@pytest.mark.parametrize("task", ["navigate", "pick", "place"])
def test_they_succeed(task):
    simulator = SimulatorConfig(robot="mast", camera_size=8)
    env = RearrangeEnv(task, split="val", simulator=simulator)
    env.reset(seed=1)
    oracle = OracleSkill(task)
    oracle.reset(env, argument_of(task, env.episode))
    layout, ended, info = MAST.actions, False, {}
    for _ in range(ORACLE_TIMEOUT):
        action = oracle.act(env)
        assert action.shape == (layout.physical_size,)
        assert (np.abs(action[layout.arm]) <= ARM_STEP * MAST.units + 1e-9).all()
        _, ended, _, info = env.step_physical(action, stop=oracle.done(env))
        if ended:
            break
    assert ended
    assert info["is_success"]
    env.close()
