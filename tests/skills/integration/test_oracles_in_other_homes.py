"""Oracles in a kind of home that they do not know: tests/helpers/bedsit.py."""

import pytest

from rearrange.env import RearrangeEnv
from rearrange.scenes import register_homes
from rearrange.scenes.registry import unregister_homes
from rearrange.sim import SimulatorConfig
from skills.oracle.skill import ORACLE_TIMEOUT, OracleSkill
from skills.players import argument_of
from tests.helpers.bedsit import BEDSIT


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_homes(BEDSIT)
    yield
    unregister_homes(BEDSIT)


@pytest.mark.parametrize("task", ["open_cab", "close_cab", "open_fridge", "close_fridge"])
def test_its_parts_are_opened_and_closed(task):
    env = RearrangeEnv(task, split="val", simulator=SimulatorConfig(camera_size=8), homes="bedsit")
    env.reset(seed=0)
    part = BEDSIT.part(env.episode.target_joint)
    oracle, done, steps = OracleSkill(task), False, 0
    oracle.reset(env, argument_of(task, env.episode))
    while not done and steps < ORACLE_TIMEOUT:
        env.simulator.step(oracle.act(env)[None])
        done, steps = oracle.done(env), steps + 1
    value = env.state.articulated_joints[0, BEDSIT.index(part.name)]
    assert done
    assert value > part.opened_beyond if task.startswith("open") else value < 0.05
