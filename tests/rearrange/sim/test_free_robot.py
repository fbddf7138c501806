"""Substeps of the small model must be those of the apartment, and be left when something is near."""

import inspect

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.sim import mujoco as simulation
from rearrange.sim.base import NOTHING
from rearrange.sim.free_robot import step_free, teleport
from rearrange.sim.mujoco import SimulatorConfig

STEPS = 150
PLACES = {name: k for k, name in enumerate(inspect.signature(step_free.py_func).parameters)}


def roll_out(
    task: str, seed: int, robot: str = "fetch"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States, contact forces and what is held while the robot drives and reaches about at random."""
    simulator = SimulatorConfig(robot=robot, camera_size=8)
    env = RearrangeEnv(task, split="val", simulator=simulator)
    rng, size = np.random.default_rng(seed), env.robot.actions.physical_size
    env.reset(seed=seed)
    state, told, forces, held = env.state, [], [], []
    for _ in range(STEPS):
        action = np.clip(rng.normal(0.5, 1.0, env.task.action_size), -1, 1)
        env.step_physical(env.task.action.scale(env.robot.actions) * action[:size])
        poses = (state.arm_joints, state.base_pose, state.end_effector_position)
        things = (state.object_position, state.object_rotation, state.articulated_joints)
        told.append(np.concatenate([values[0].ravel() for values in (*poses, *things)]))
        forces.append(state.contact_force[0])
        held.append(state.held_object[0] != NOTHING)
    env.close()
    return np.array(told), np.array(forces), np.array(held)


def in_the_apartment(*arguments) -> int:
    """What `step_free` does when nothing is ever clear."""
    names = ("motion", "position", "rotation", "objects", "held")
    teleport(*(arguments[PLACES[name]] for name in names))
    return 0


@pytest.mark.parametrize(
    ("task", "seed", "robot"),
    [
        *(("pick", 2, "fetch"), ("pick", 4, "fetch"), ("place", 0, "fetch"), ("place", 2, "fetch")),
        *(("pick", 2, "mast"), ("pick", 2, "fetch_fingers")),
        pytest.param("place", 2, "mast", marks=pytest.mark.slow),
        ("place", 62, "fetch"),  # a bowl, whose mass is not at its origin
    ],
)
def test_trajectories_are_those_of_the_apartment_alone(task, seed, robot, monkeypatch):
    taken = []

    def record(*arguments):
        taken.append(step_free(*arguments))
        return taken[-1]

    monkeypatch.setattr(simulation, "step_free", record)
    found, forces, held = roll_out(task, seed, robot)
    monkeypatch.setattr(simulation, "step_free", in_the_apartment)
    expected, other_forces, _ = roll_out(task, seed, robot)
    # A contact makes rounding errors grow: before the first they are a few ulps.
    touching = np.flatnonzero(np.append(forces + other_forces, 1.0))[0]
    np.testing.assert_allclose(found[:touching], expected[:touching], rtol=0, atol=1e-12)
    np.testing.assert_allclose(forces[: touching + 1], other_forces[: touching + 1], rtol=1e-6)
    assert sum(taken) > STEPS  # a quarter of all substeps, at the least
    assert held.any() == (task == "place")


def test_some_of_them_touch_something():
    assert any(roll_out("pick", seed)[1].any() for seed in (2, 3))


def test_what_has_just_been_grasped_is_awake_before_it_moves_alone(monkeypatch):
    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    simulator = env.simulator
    calls = []

    def record(*arguments):
        calls.append(arguments[PLACES["held"]])
        return step_free(*arguments)

    monkeypatch.setattr(simulation, "step_free", record)
    slot = next(iter(env.episode.objects))
    simulator._grip.attach_object(
        0, simulator.worlds[0], simulator.data[0], simulator._view(0), slot
    )
    env.step_physical(np.array([0.0] * 7 + [1.0, 0.0, 0.0]))
    assert calls
    assert all(held == slot for held in calls)
    assert len(calls) < simulation.SUBSTEP_COUNT  # the first substep was MuJoCo's own
    assert simulator.data[0].ntree_awake == 2
