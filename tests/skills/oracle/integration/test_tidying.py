"""The oracles at work in the default simulator, on episodes of the validation split."""

import math

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.sim.base import NOTHING
from rearrange.sim.mujoco import SimulatorConfig
from skills.oracle import NavigateOracle, PickOracle, PlaceOracle
from skills.oracle.reach import to_base
from tests.helpers.oracle_runs import faces, run


@pytest.mark.parametrize("seed", [0, 1])
def test_one_object_is_tidied(env, seed):
    env.reset(seed=seed)
    state, target = env.state, env.episode.targets[0]
    _, grid = load_layout(env.episode.layout, env.episode.variation)
    navigate, pick, place = NavigateOracle(grid), PickOracle(grid), PlaceOracle(grid)
    others = [slot for slot in env.episode.objects if slot != target.slot]
    before = state.object_position[0, others].copy()

    run(env, navigate, target.slot)
    distance, angle = faces(state.base_pose[0], target.start)
    assert distance < 1.5
    assert angle < 0.26

    steps, force = run(env, pick, target.slot)
    assert pick.failure == ""
    assert state.held_object[0] == target.slot
    tip = to_base(state.base_pose[0], state.end_effector_position[0])
    assert math.dist(tip, FETCH.resting_tip) < 0.1
    assert steps < 300
    assert force < 500.0

    run(env, navigate, target.slot, target.goal)
    distance, angle = faces(state.base_pose[0], target.goal)
    assert distance < 1.5
    assert angle < 0.26
    assert state.held_object[0] == target.slot

    _, force = run(env, place, target.slot, target.goal)
    assert place.failure == ""
    assert state.held_object[0] == NOTHING
    assert math.dist(state.object_position[0, target.slot], target.goal) < 0.05
    tip = to_base(state.base_pose[0], state.end_effector_position[0])
    assert math.dist(tip, FETCH.resting_tip) < 0.1
    assert force < 500.0
    assert np.abs(state.object_position[0, others] - before).max() < 0.05  # nothing knocked about


@pytest.mark.slow
def test_takes_from_and_puts_into_the_open_fridge():
    env = RearrangeEnv("prepare_groceries", split="val", simulator=SimulatorConfig(camera_size=16))
    env.reset(seed=0)
    state, door = env.state, float(env.state.articulated_joints[0, 0])
    _, grid = load_layout(env.episode.layout, env.episode.variation)
    navigate, pick, place = NavigateOracle(grid), PickOracle(grid), PlaceOracle(grid)
    assert door > 1.2
    for target in (env.episode.targets[0], env.episode.targets[2]):
        assert "fridge_middle" in (target.start_receptacle, target.goal_receptacle)
        run(env, navigate, target.slot)
        run(env, pick, target.slot, limit=600)
        assert state.held_object[0] == target.slot
        run(env, navigate, target.slot, target.goal)
        run(env, place, target.slot, target.goal, limit=600)
        assert state.held_object[0] == NOTHING
        assert math.dist(state.object_position[0, target.slot], target.goal) < 0.15
    assert abs(state.articulated_joints[0, 0] - door) < 0.1
    env.close()


@pytest.mark.slow
def test_tidy_house_episodes_succeed(env):
    """At least 9 of 10 whole episodes within the task's limits on steps and force."""
    done = 0
    for seed in range(10):
        env.reset(seed=seed)
        state = env.state
        _, grid = load_layout(env.episode.layout, env.episode.variation)
        navigate, pick, place = NavigateOracle(grid), PickOracle(grid), PlaceOracle(grid)
        for target in env.episode.targets:
            run(env, navigate, target.slot)
            run(env, pick, target.slot, limit=600)
            if state.held_object[0] != target.slot:
                break
            run(env, navigate, target.slot, target.goal)
            run(env, place, target.slot, target.goal, limit=600)
        close = all(
            math.dist(state.object_position[0, target.slot], target.goal) < 0.3
            for target in env.episode.targets
        )
        done += close and env.elapsed_steps < env.task.max_steps
    assert done >= 9
