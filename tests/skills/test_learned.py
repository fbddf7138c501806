"""Policies that act in a world."""

import numpy as np
import pytest
import torch

from rearrange.env import RearrangeEnv, to_physical
from rearrange.sim.mujoco import SimulatorConfig
from skills.base import SkillArgument
from skills.learned import LearnedPick, PolicyRunner
from ver import UserError


def test_a_chained_skill_acts_as_the_policy_does_in_its_own_environment(pick_checkpoint):
    """Same episode, same noise: the skill in a world without its task does the same."""
    skill = LearnedPick(pick_checkpoint)
    env = skill.environments(0, seed=0)
    observation, _ = env.reset(seed=5)
    world = RearrangeEnv("tidy_house", split="val", simulator=SimulatorConfig(camera_size=32))
    runner = PolicyRunner(pick_checkpoint)
    episode = env.episode
    world.simulator.reset([0], [episode])
    world._worlds.episodes[0] = episode
    target = episode.targets[0]
    skill.reset(world, SkillArgument("object", target.slot, 0, target.start))
    full = np.zeros((1, 11))
    for step in range(5):
        torch.manual_seed(step)
        full[0, :10] = runner.act(observation)
        torch.manual_seed(step)
        action = skill.act(world)
        np.testing.assert_allclose(action, to_physical(env.task.action.scale(), full)[0], atol=1e-6)
        observation = env.step(full[0, :10])[0]
        world.simulator.step(action[None])


def test_restart_forgets_the_previous_action(pick_checkpoint):
    runner = PolicyRunner(pick_checkpoint, deterministic=True)
    env = LearnedPick(pick_checkpoint).environments(0, seed=0)
    observation, _ = env.reset(seed=1)
    first = runner.act(observation)
    runner.act(observation)
    runner.restart()
    np.testing.assert_array_equal(runner.act(observation), first)


def test_a_checkpoint_of_something_else_is_refused(pick_checkpoint, monkeypatch):
    monkeypatch.setattr(LearnedPick, "name", "place")
    with pytest.raises(UserError, match="holds a policy for 'pick', not for 'place'"):
        LearnedPick(pick_checkpoint)


def test_done_needs_something_in_the_hand_at_rest(pick_checkpoint):
    skill = LearnedPick(pick_checkpoint)
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    assert not skill.done(env)
    env.state.held_object[0] = 3
    assert skill.done(env)  # every episode starts with the hand near its resting place
    env.state.end_effector_in_base[0, 2] += 0.3
    assert not skill.done(env)
