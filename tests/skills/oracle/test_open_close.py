"""The oracles that open and close, in the default simulator and in the tasks' own environments."""

import math

import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from skills.oracle import CloseOracle, NavigateToHandle, OpenOracle
from skills.oracle.arm import ARM_STEP
from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP
from skills.oracle.reach import to_base
from tests.helpers.oracle_runs import run_free

SKILLS = ("open_cab", "close_cab", "open_fridge", "close_fridge")


def run(env, oracle, joint, limit):
    """Let an oracle act until it is done; returns metrics of the episode, or None, and the steps."""
    oracle.reset(env.state, joint)
    info = {}
    for step in range(limit):
        action = oracle.act(env.state)
        assert np.abs(action[:7]).max() <= ARM_STEP + 1e-9
        assert abs(action[8]) <= FORWARD_STEP + 1e-9
        assert abs(action[9]) <= TURN_STEP + 1e-9
        stop = oracle.done
        _, terminated, truncated, info = env.step_physical(action, stop)
        if stop or terminated or truncated:
            return info.get("metrics"), step + 1
    pytest.fail(f"not done after {limit} steps")


def oracle_for(task, env):
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    return (OpenOracle if task.startswith("open") else CloseOracle)(grid)


@pytest.mark.parametrize("task", SKILLS)
def test_the_task_is_done(worlds, task):
    env = worlds(task)
    env.reset(seed=1)
    slot = env.episode.targets[0].slot
    height = env.state.object_position[0, slot, 2].copy()
    oracle = oracle_for(task, env)
    metrics, steps = run(env, oracle, env.episode.target_joint, 200)
    assert oracle.failure == ""
    assert metrics is not None
    assert metrics["success"] == 1.0
    assert steps <= 180
    # What is inside stays inside.
    assert abs(env.state.object_position[0, slot, 2] - height) < 0.02


@pytest.mark.parametrize("joint", [name for name in APARTMENT.joints if "drawer" in name])
def test_every_drawer_opens_and_closes(worlds, joint):
    """Driven to by the oracle itself, from anywhere in the apartment."""
    env = worlds("tidy_house")
    env.reset(seed=4)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    index, state = APARTMENT.joints.index(joint), env.state
    others = np.arange(len(APARTMENT.joints)) != index
    for oracle, low, high in ((OpenOracle(grid), 0.40, 0.46), (CloseOracle(grid), -0.01, 0.05)):
        run_free(env, NavigateToHandle(grid), joint)
        run_free(env, oracle, joint)
        assert oracle.failure == ""
        assert low < state.articulated_joints[0, index] < high
        assert state.held_handle[0] == NOTHING
        tip = to_base(state.base_pose[0], state.end_effector_position[0])
        assert math.dist(tip, FETCH.resting_tip) < 0.1
        assert np.abs(state.articulated_joints[0, others]).max() < 0.02


def test_a_full_hand_opens_nothing(worlds):
    env = worlds("place")
    env.reset(seed=0)
    grid = load_layout(env.episode.layout, env.episode.variation)[1]
    oracle = OpenOracle(grid)
    run_free(env, oracle, "fridge_door", limit=5)
    assert oracle.failure == "open: the hand is full"


def test_what_is_open_stays_open(worlds):
    env = worlds("open_cab")
    env.reset(seed=0)
    env.simulator.data[0].qpos[env.simulator.worlds[0].joint_qpos[1]] = 0.44
    env.simulator.step(np.zeros((1, 10)))
    oracle = oracle_for("open_cab", env)
    start = env.state.base_pose[0].copy()
    run_free(env, oracle, "drawer_right_top", limit=60)  # only the arm's noise is put right
    assert oracle.failure == ""
    assert np.abs(env.state.base_pose[0] - start).max() < 1e-9


def test_unknown_joints_are_refused(worlds):
    env = worlds("open_cab")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="choose one of fridge_door"):
        oracle_for("open_cab", env).reset(env.state, "oven_door")


@pytest.mark.slow
@pytest.mark.parametrize("task", SKILLS)
def test_nearly_all_start_states_succeed(worlds, task):
    env, done = worlds(task), 0
    for seed in range(20):
        env.reset(seed=seed)
        metrics, _ = run(env, oracle_for(task, env), env.episode.target_joint, 200)
        done += metrics is not None and metrics["success"] == 1.0
    assert done >= 19
