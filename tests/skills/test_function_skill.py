"""One's own function as a skill: it sees and does what a policy in its place would."""

import numpy as np
import pytest

import skills
import ver
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.sim.config import SimulatorConfig
from skills.base import SkillArgument
from skills.function_skill import FunctionSkill
from skills.learned import LearnedSkill
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS


@pytest.fixture
def world():
    env = RearrangeEnv("tidy_house", split="val", simulator=SimulatorConfig(camera_size=8), seed=0)
    env.reset(seed=1)
    yield env
    env.close()


def told(world):
    target = world.episode.targets[0]
    return SkillArgument("object", target.slot, 0, target.start)


@pytest.mark.parametrize("name", ["pick", "navigate"])
def test_a_policy_as_a_function_acts_as_the_learned_skill(world, name):
    path = shipped_policy(name, CHECKPOINTS)
    learned, policy = LearnedSkill(name, path, deterministic=True), skills.load_policy(name)

    class Act:
        restart = policy.restart

        def __call__(self, observation):
            return policy.act(observation)

    own = FunctionSkill(name, Act())
    assert own.timeout == learned.timeout
    for skill in (learned, own):
        skill.reset(world, told(world))
    for _ in range(4):
        action = own.act(world)
        np.testing.assert_array_equal(action, learned.act(world))
        world.step_physical(action)
        assert own.done(world) == learned.done(world)


def test_a_plain_function_is_named_and_cut_to_the_range(world):
    def lift(observation):
        assert observation["head_depth"].shape == (64, 64, 1)
        return np.full(10, 3.0)

    skill = FunctionSkill("pick", lift)
    assert (skill.name, skill.source) == ("pick", "lift")
    skill.reset(world, told(world))
    action = skill.act(world)
    np.testing.assert_allclose(action[:7], skill.task.action.scale(skill.task.robot.actions)[:7])


@pytest.mark.parametrize("answer", [np.zeros(3), [np.nan] * 10, None])
def test_what_is_no_action_is_refused(world, answer):
    skill = FunctionSkill("pick", lambda observation: answer)
    skill.reset(world, told(world))
    with pytest.raises(UserError, match="must return 10 finite numbers"):
        skill.act(world)


def test_policies_are_loaded_by_name_and_by_path():
    by_name = skills.load_policy("place")
    by_path = skills.load_policy(CHECKPOINTS / "place.safetensors")
    assert by_name.policy.metadata == by_path.policy.metadata
    with pytest.raises(
        ver.UserError, match="no policy 'juggle' is shipped: choose one of close_cab"
    ):
        skills.load_policy("juggle")


def test_a_policy_makes_the_environment_that_it_knows():
    policy = skills.load_policy("navigate")
    env = policy.make_env("val", seed=3)
    assert env.task.action.repeat == policy.policy.metadata["task"]["action"]["repeat"]
    observation, _ = env.reset()
    assert env.action_space.contains(policy.act(observation).astype(np.float32))
    env.close()
