"""How skills of learned policies end."""

import numpy as np
import pytest

from skills.learned import LearnedSkill
from skills.players import argument_of


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


MASKS = {
    "navigate": "task.stop_distance=2",
    "open_cab": "task.stop_zone=0.2",
    "close_fridge": "task.stop_zone=0.2",
    "open_fridge": "task.stop_zone=0.2",
}  # that the shipped policies were trained with


@pytest.mark.parametrize("name", ["navigate", "open_cab", "close_fridge"])
def test_without_a_mask_a_stop_counts_wherever_it_is_called(make_checkpoint, name):
    skill = LearnedSkill(name, make_checkpoint(name))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    skill.reset(env, argument_of(name, env.episode))
    skill.pipeline.full[0, -1] = -1.0
    assert not skill.done(env)
    skill.pipeline.full[0, -1] = 1.0
    assert skill.done(env)


@pytest.mark.parametrize("name", ["navigate", "open_cab", "close_fridge"])
def test_with_a_mask_early_stops_are_ignored(make_checkpoint, name):
    skill = LearnedSkill(name, make_checkpoint(name, MASKS[name]))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    skill.reset(env, argument_of(name, env.episode))
    skill.pipeline.full[0, -1] = -1.0
    assert not skill.done(env)
    if name == "navigate":  # far from the goal stop is ignored, as in training
        skill.pipeline.full[0, -1] = 1.0
        env.state.base_pose[0, :2] = skill.task.memory["goal"][0, :2] - (2.1, 0.0)
        assert not skill.done(env)
        env.state.base_pose[0, :2] = skill.task.memory["goal"][0, :2] - (1.9, 0.0)
    else:  # away from rest, then back
        env.state.end_effector_in_base[0, 2] += 0.4
        skill.pipeline.full[0, -1] = 1.0
        assert not skill.done(env)
        env.state.end_effector_in_base[0, 2] -= 0.4
    skill.pipeline.full[0, -1] = 1.0
    assert skill.done(env)


@pytest.fixture
def opener(make_checkpoint):
    """A skill that opens the fridge, begun, its policy calling stop all the time, and its world."""
    skill = LearnedSkill("open_fridge", make_checkpoint("open_fridge", MASKS["open_fridge"]))
    env = skill.environments(0, seed=0)
    env.reset(seed=1)
    skill.reset(env, argument_of("open_fridge", env.episode))
    skill.pipeline.full[0, -1] = 1.0
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
