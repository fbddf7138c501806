"""Policies that act in a world."""

import numpy as np
import pytest
import torch

from rearrange.env import RearrangeEnv
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import make_task
from rearrange.worlds import to_physical
from skills import skill_names
from skills.base import SkillArgument, as_episode
from skills.learned import LearnedScenario, LearnedSkill, PolicyRunner
from skills.players import argument_of
from ver import UserError

CASES = [
    *((name, ()) for name in skill_names()),
    ("pick", ("rules=hab",)),  # one step late
    ("navigate", ("task.action.delay=2",)),  # with three steps of an action
]


@pytest.mark.parametrize(("name", "overrides"), CASES)
def test_a_chained_skill_acts_as_the_policy_does_in_its_own_environment(
    make_checkpoint, name, overrides
):
    """Same episode, same noise: the skill in a world without its task does the same."""
    skill = LearnedSkill(name, make_checkpoint(name, *overrides))
    env = skill.environments(0, seed=0)
    observation, _ = env.reset(seed=5)
    world = RearrangeEnv("tidy_house", split="val", simulator=SimulatorConfig(camera_size=32))
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
            assert policy.done(world) == (repetition == 0 and policy.full[0, -1] > 0)
        observation = env.step(action)[0]
        np.testing.assert_allclose(world.state.base_pose, env.state.base_pose, atol=1e-9)
        np.testing.assert_allclose(world.state.arm_joints, env.state.arm_joints, atol=1e-6)


def test_a_scenarios_policy_is_done_when_it_calls_stop(make_checkpoint):
    policy = LearnedScenario("set_table", make_checkpoint("set_table"))
    world = policy.environments(0, seed=0)
    assert not policy.done(world)
    policy.full[0, -1] = 1.0
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


def test_done_needs_something_in_the_hand_at_rest(pick_checkpoint):
    skill = LearnedSkill("pick", pick_checkpoint)
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    assert not skill.done(env)
    env.state.held_object[0] = 3
    assert skill.done(env)  # every episode starts with the hand near its resting place
    env.state.end_effector_in_base[0, 2] += 0.3
    assert not skill.done(env)


def test_place_is_over_when_the_empty_hand_is_back(make_checkpoint):
    skill = LearnedSkill("place", make_checkpoint("place"))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    assert env.state.held_object[0] >= 0
    assert not skill.done(env)
    env.state.held_object[0] = -1
    assert skill.done(env)
    env.state.end_effector_in_base[0, 2] += 0.3
    assert not skill.done(env)


@pytest.mark.parametrize("name", ["navigate", "open_cab", "close_fridge"])
def test_skills_that_stop_end_when_stop_is_called(make_checkpoint, name):
    skill = LearnedSkill(name, make_checkpoint(name))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    skill.reset(env, argument_of(name, env.episode))
    skill.full[0, -1] = -1.0
    assert not skill.done(env)
    if name == "navigate":  # far from the goal stop is ignored, as in training
        skill.full[0, -1] = 1.0
        env.state.base_pose[0, :2] = skill.task.memory["goal"][0, :2] - (2.1, 0.0)
        assert not skill.done(env)
        env.state.base_pose[0, :2] = skill.task.memory["goal"][0, :2] - (1.9, 0.0)
    else:  # away from rest, then back
        env.state.end_effector_in_base[0, 2] += 0.4
        skill.full[0, -1] = 1.0
        assert not skill.done(env)
        env.state.end_effector_in_base[0, 2] -= 0.4
    skill.full[0, -1] = 1.0
    assert skill.done(env)


@pytest.fixture
def opener(make_checkpoint):
    """A skill that opens the fridge, begun, its policy calling stop all the time, and its world."""
    skill = LearnedSkill("open_fridge", make_checkpoint("open_fridge"))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    skill.reset(env, argument_of("open_fridge", env.episode))
    skill.full[0, -1] = 1.0
    return skill, env


def test_the_true_opening_ends_no_skill(opener):
    skill, env = opener
    env.state.articulated_joints[0] = 1.3
    assert not skill.done(env)  # the hand has done nothing


@pytest.mark.parametrize("held", ["held_handle", "held_object"])
def test_whatever_was_held_stop_counts_once_it_is_let_go(opener, held):
    """The robot feels that it holds something, not what that is."""
    skill, env = opener
    getattr(env.state, held)[0] = 0
    assert not skill.done(env)  # the hand is full
    env.state.contact_force[0] = 1e6  # that is for others to judge
    assert not skill.done(env)
    getattr(env.state, held)[0] = -1
    env.state.end_effector_in_base[0, 2] += 0.2
    assert not skill.done(env)  # the hand is not back
    env.state.end_effector_in_base[0, 2] -= 0.2
    assert skill.done(env)


@pytest.mark.parametrize(("grip", "over"), [(1.0, True), (-1.0, False)])
def test_a_grasp_that_breaks_ends_the_skill(opener, monkeypatch, grip, over):
    """What was let go of is not broken."""
    skill, env = opener
    action = np.full(11, -1.0, np.float32)
    action[7] = grip
    monkeypatch.setattr(skill.runner, "act", lambda observation: action)
    env.state.held_handle[0] = 0
    skill.act(env)
    assert not skill.done(env)
    skill.act(env)
    env.state.held_handle[0] = -1
    assert skill.done(env) == over


def test_an_argument_becomes_the_target_of_an_episode(pick_checkpoint):
    env = LearnedSkill("pick", pick_checkpoint).environments(0, seed=0)
    env.reset(seed=1)
    goal = as_episode(
        env.episode, SkillArgument("goal", 7, 0, (1.0, 2.0, 3.0), "fridge_door"), False
    )
    assert goal.targets[0].goal == (1.0, 2.0, 3.0)
    assert goal.targets[0].slot == 7
    # With an empty hand Navigate goes to the start: that has to be what it is told
    task = make_task("navigate")
    task.start([0], [goal], env.state)
    np.testing.assert_allclose(task.memory["goal"][0], (1.0, 2.0, 3.0))
    assert goal.target_joint == "fridge_door"
    start = as_episode(env.episode, SkillArgument("object", 7, 0, (1.0, 2.0, 3.0)), False)
    assert start.targets[0].start == (1.0, 2.0, 3.0)
    assert start.held_slot is None
    # What the hand holds is, to the robot's knowledge, what it should hold.
    assert as_episode(env.episode, SkillArgument("goal", 7, 0, (0, 0, 0)), True).held_slot == 7
