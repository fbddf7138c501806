"""A robot with slides in homes: it keeps the simulator's contract, and tasks act in its units."""

import math

import gymnasium
import numpy as np
import pytest

import rearrange  # noqa: F401  (registers the environments)
from rearrange.env import RearrangeEnv
from rearrange.robot.mast import MAST
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.sampling import sample_arm
from rearrange.testing import check_simulator
from skills.library import ResetArm

SLIDES, HINGES = slice(0, 2), slice(2, 5)


def small(size: int = 16) -> SimulatorConfig:
    return SimulatorConfig(robot="mast", camera_size=size)


def test_its_simulator_conforms():
    rng = np.random.default_rng(0)
    task = make_task("pick", robot=MAST)
    episodes = [task.sample_episode(split, rng) for split in ("val", "test")]
    check_simulator(lambda count: MujocoSimulator(count, small(48)), episodes)


@pytest.mark.parametrize("task", ["Navigate", "Pick", "Place"])
def test_environments_are_made_with_it(task):
    env = gymnasium.make(f"rearrange/{task}-v0", split="val", robot="mast", camera_size=16)
    seen, _ = env.reset(seed=0)
    assert seen["joint"].shape == (5,)
    for _ in range(3):
        seen, reward, terminated, *_ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        assert math.isfinite(reward)
        if terminated:
            env.reset()
    env.close()


def test_actions_and_starts_are_in_the_units_of_its_joints():
    task = make_task("pick", robot=MAST)
    scale = task.action.scale(MAST.actions)[MAST.actions.arm]
    np.testing.assert_allclose(scale[HINGES], task.action.arm_step)
    np.testing.assert_allclose(scale[SLIDES], 0.3 * task.action.arm_step)
    rng = np.random.default_rng(0)
    arms = np.array([sample_arm(MAST, rng, 0.1) for _ in range(500)])
    spread = arms.std(axis=0)
    np.testing.assert_allclose(spread[SLIDES], 0.03, rtol=0.15)
    np.testing.assert_allclose(spread[2], 0.1, rtol=0.15)


def test_a_full_action_moves_a_slide_by_its_share_and_targets_do_not_run_away():
    env = RearrangeEnv("pick", split="val", simulator=small(8))
    env.reset(seed=0)
    start = float(env.state.arm_joints[0, 0])
    down = MAST.actions.physical(np.array([-0.01125, 0.0, 0.0, 0.0, 0.0]))
    for _ in range(20):
        env.simulator.step(down[None])
    sunk = start - float(env.state.arm_joints[0, 0])
    assert 0.15 < sunk <= 20 * 0.01125 + 1e-6
    stop = MAST.actions.physical()
    for _ in range(30):
        env.simulator.step(stop[None])
    assert start - float(env.state.arm_joints[0, 0]) == pytest.approx(20 * 0.01125, abs=0.005)
    env.close()


def test_its_arm_is_brought_to_rest():
    env = RearrangeEnv("pick", split="val", simulator=small(8))
    env.reset(seed=2)
    skill = ResetArm()
    for _ in range(60):
        env.step_physical(skill.act(env))
        if skill.done(env):
            break
    assert skill.done(env)
    assert (
        np.abs(env.state.arm_joints[0, SLIDES] - np.array(MAST.resting_arm)[SLIDES]).max() < 0.016
    )
    env.close()
