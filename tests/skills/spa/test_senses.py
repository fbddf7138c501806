import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim.mujoco import SimulatorConfig
from skills.players import argument_of
from skills.spa.senses import Load, Senses, cylinder


@pytest.fixture(scope="module")
def env():
    return RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8))


def attend(senses, env):
    senses.attend(env, argument_of("pick", env.episode).position)


def steps(env, count):
    for _ in range(count):
        env.step(np.zeros(env.action_space.shape))


def test_a_bump_is_remembered():
    senses = Senses()
    senses.seen.bump(1.0, 0.5)
    assert senses.seen.bumps.sum() == 1


def test_another_episode_is_noticed_although_its_first_skill_begins_later(env):
    senses = Senses()
    for seed, before in ((0, 2), (1, 5)):  # others act before
        env.reset(seed=seed)
        steps(env, before)
        attend(senses, env)
        assert not senses.seen.bumps.any()
        senses.seen.bump(1.0, 0.5)
        senses.sense()
        steps(env, 1)
        attend(senses, env)
        assert senses.seen.bumps.sum() == 1


def test_what_was_lost_is_no_load_any_more(env):
    senses = Senses()
    env.reset(seed=0)
    attend(senses, env)
    senses.load = Load(cylinder(0.05, 0.06), np.zeros(3), np.eye(3))
    attend(senses, env)
    assert senses.load is None
