"""Policies that act in a world."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

import rearrange
from rearrange.action_pipeline import to_physical
from rearrange.env import RearrangeEnv
from rearrange.sim.mujoco import SimulatorConfig
from skills import skill_names
from skills.base import SkillArgument
from skills.learned import (
    LearnedScenario,
    LearnedSkill,
    PolicyRunner,
    check_metadata,
    load_policy,
)
from skills.players import argument_of
from ver import UserError

CASES = [
    *((name, ()) for name in skill_names()),
    ("pick", ("rules=hab",)),  # one step late
    ("navigate", ("task.action.delay=2",)),  # with three steps of an action
    ("navigate", ("task.floor_map=true",)),
    ("navigate", ("task.map_way=true",)),
]


def test_a_policy_of_no_environment_of_ours_makes_none():
    runner = load_policy("pick")
    runner.policy.metadata = {}
    told = "trained by ver alone, in an environment that it does not tell"
    with pytest.raises(rearrange.UserError, match=told):
        runner.make_env()


@pytest.mark.parametrize(("name", "overrides"), CASES)
def test_a_chained_skill_acts_as_the_policy_does_in_its_own_environment(
    make_checkpoint, name, overrides
):
    """Same episode, same noise: the skill in a world without its task does the same."""
    skill = LearnedSkill(name, make_checkpoint(name, *overrides))
    env = skill.environments(0, seed=0)
    observation, _ = env.reset(seed=5)
    own = dataclasses.replace(env.simulator.config, camera_size=32)
    world = RearrangeEnv("tidy_house", split="val", simulator=own)
    runner = PolicyRunner(make_checkpoint(name, *overrides))
    episode = env.episode
    world.simulator.reset([0], [episode])
    world._worlds.episodes[0] = episode
    skill.reset(world, argument_of(name, episode))
    full = np.zeros((1, 11))
    for step in range(5):
        torch.manual_seed(step)
        full[0, env.task.action_slice] = runner.act(observation)
        torch.manual_seed(step)
        expected = env.task.mask(
            env.state, to_physical(env.task.action.scale(env.robot.actions), full)
        )[0]
        for _ in range(env.task.action.repeat):
            action = skill.act(world)
            np.testing.assert_allclose(action, expected, atol=1e-6)
            world.simulator.step(action[None])
        observation = env.step(full[0, env.task.action_slice])[0]
        np.testing.assert_allclose(world.state.base_pose, env.state.base_pose, atol=1e-9)


def test_a_scenarios_policy_sees_and_does_what_it_did_in_training(make_checkpoint):
    """In the planner's world, which is not its own, and with the mask and repetition of its own."""
    path = make_checkpoint("set_table")
    policy = LearnedScenario("set_table", path)
    env = policy.environments(0, seed=0)
    observation, _ = env.reset(seed=5)
    world = RearrangeEnv("set_table", split="val", simulator=SimulatorConfig(camera_size=32))
    world.reset(options={"episode": env.episode})
    policy.reset(world, SkillArgument("object", 0, 0, (0.0, 0.0, 0.0)))
    runner = PolicyRunner(path)
    for step in range(3):
        torch.manual_seed(step)
        action = runner.act(observation)
        action[-1] = -1.0
        for repetition in range(3):
            torch.manual_seed(step)
            world.step_physical(policy.act(world))
            assert policy.done(world) == (repetition == 0 and policy.pipeline.stops)
        observation = env.step(action)[0]
        np.testing.assert_allclose(world.state.base_pose, env.state.base_pose, atol=1e-9)
        np.testing.assert_allclose(world.state.arm_joints, env.state.arm_joints, atol=1e-6)


def test_a_scenarios_policy_is_done_when_it_calls_stop(make_checkpoint):
    policy = LearnedScenario("set_table", make_checkpoint("set_table"))
    world = policy.environments(0, seed=0)
    assert not policy.done(world)
    policy.pipeline.full[0, -1] = 1.0
    assert policy.done(world)
    assert policy.timeout == 3000


def test_restart_forgets_the_previous_action(pick_checkpoint):
    runner = PolicyRunner(pick_checkpoint, deterministic=True)
    env = LearnedSkill("pick", pick_checkpoint).environments(0, seed=0)
    observation, _ = env.reset(seed=1)
    first = runner.act(observation)
    runner.act(observation)
    runner.restart()
    np.testing.assert_array_equal(runner.act(observation), first)


def test_a_checkpoint_of_something_else_is_refused(pick_checkpoint):
    with pytest.raises(UserError, match="holds a policy for 'pick', not for 'place'"):
        LearnedSkill("place", pick_checkpoint)


def test_an_image_of_another_size_is_told():
    policy = load_policy("pick")
    observation = {key: np.zeros(space.shape, np.float32)
                   for key, space in policy.policy.observation_space.spaces.items()}  # fmt: skip
    policy.act(observation)
    observation["head_depth"] = np.zeros((128, 128, 1), np.float32)
    with pytest.raises(UserError, match=r"head_depth has the shape .*128.*policy\.make_env"):
        policy.act(observation)
    del observation["head_depth"]
    with pytest.raises(UserError, match=r"^head_depth is not observed.*policy\.make_env"):
        policy.act(observation)


def test_what_was_trained_for_no_skill_is_told(pick_checkpoint):
    with pytest.raises(UserError, match="was not trained for a skill: what python -m ver has"):
        check_metadata("cartpole.safetensors", {"environment": "CartPole-v1"}, "pick")


def test_a_name_is_that_of_a_shipped_policy_also_beside_a_run_of_that_name(tmp_path, monkeypatch):
    (tmp_path / "pick").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_policy("pick").policy.metadata["skill"] == "pick"


def test_a_run_directory_stands_for_its_policy(pick_checkpoint, tmp_path):
    (tmp_path / "policy.safetensors").write_bytes(Path(pick_checkpoint).read_bytes())
    assert load_policy(tmp_path).policy.metadata["skill"] == "pick"
    with pytest.raises(UserError, match=r"No checkpoint at .*nothing"):
        load_policy(tmp_path / "nothing")
