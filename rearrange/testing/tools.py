"""Tools of the conformance test: actions, snapshots of the state, and comparisons."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from rearrange.episodes.episode import Episode
from rearrange.navigation import load_layout
from rearrange.render import look_at
from rearrange.robot import HeadCamera, RobotSpec, kinematics
from rearrange.sim.base import SimState, Simulator

SECOND = 30  # control steps
ARM_STEP = 0.0375  # [rad] per step, what the arm can follow; of slides in their units


def in_the_open(robot: RobotSpec, episode: Episode, yaw: float = 0.0) -> Episode:
    """The episode with the robot in its resting posture where the most room is, looking along yaw."""
    grid = load_layout(episode.layout, episode.variation)[1]
    room = np.where(grid.island, grid.clearance, -1.0)
    cell = np.unravel_index(int(room.argmax()), room.shape)
    x, y = grid.center_of(np.array(cell)).tolist()
    return dataclasses.replace(
        episode, base_pose=(x, y, yaw), arm_joints=robot.resting_arm, held_slot=None
    )


def snapshot(state: SimState) -> dict[str, np.ndarray]:
    """Copies of all arrays of a state by name."""
    return {name: state.worlds[name].copy() for name in state.worlds.dtype.names or ()}


def assert_layout(state: SimState, count: int) -> None:
    """A SimState whose arrays still belong to its records, finite values and proper rotations."""
    assert isinstance(state, SimState), f"`state` is a {type(state).__name__}, not a SimState"
    assert state.worlds.shape == (count,), f"`state` is of {state.worlds.shape} worlds, not {count}"
    for name, values in snapshot(state).items():
        array = getattr(state, name)
        assert np.shares_memory(array, state.worlds), f"write into {name}, do not replace it"
        assert np.isfinite(values).all(), f"{name} is not finite"
    rotation = state.end_effector_rotation
    identity = np.broadcast_to(np.eye(3), rotation.shape)
    assert_close(rotation @ rotation.swapaxes(1, 2), identity, 1e-4, "end_effector_rotation")
    assert (np.linalg.det(rotation) > 0.0).all(), "end_effector_rotation is a mirror"
    norms = np.linalg.norm(state.object_rotation, axis=-1)
    assert_close(norms, np.ones_like(norms), 1e-4, "lengths of object_rotation")


def one_action(
    simulator: Simulator,
    arm: np.ndarray | None = None,
    grip: float = -1.0,
    forward: float = 0.0,
    turn: float = 0.0,
) -> np.ndarray:
    """An action for one world [1, J + 3]."""
    return simulator.state.robot.actions.physical(arm, grip, forward, turn)[None]


def idle_action(simulator: Simulator) -> np.ndarray:
    """No motion and no grip, for all worlds [N, J + 3]."""
    return np.repeat(one_action(simulator), simulator.world_count, axis=0)


def repeat(simulator: Simulator, action: np.ndarray, count: int) -> None:
    """Take the same action so many times."""
    for _ in range(count):
        simulator.step(action)


def random_actions(robot: RobotSpec, seed: int, steps: int, count: int) -> np.ndarray:
    """Random motion of everything [T, N, J + 3] in physical units."""
    limits = np.array([*(ARM_STEP * robot.units), 1.0, 0.08, 0.08])
    return np.random.default_rng(seed).uniform(-limits, limits, (steps, count, len(limits)))


def trajectory(
    simulator: Simulator, episode: Episode, actions: np.ndarray, world: int = 0
) -> list[dict[str, np.ndarray]]:
    """States of one world from its reset on, and what its camera sees at the end."""
    simulator.reset([world], [episode])
    states = [{name: v[world] for name, v in snapshot(simulator.state).items()}]
    for action in actions:
        simulator.step(action)
        states.append({name: v[world] for name, v in snapshot(simulator.state).items()})
    states[-1]["depth"] = np.array(simulator.render_depth()[world])
    return states


def assert_same(
    first: list[dict[str, np.ndarray]], second: list[dict[str, np.ndarray]], when: str
) -> None:
    """Two trajectories are equal bit for bit."""
    for step, (a, b) in enumerate(zip(first, second, strict=True)):
        for name, values in a.items():
            same = np.array_equal(values, b[name])
            assert same, f"{name} differs {when}, first at step {step}"


def assert_close(found: np.ndarray, expected: Any, tolerance: float, what: str) -> None:
    """No element is farther off than the tolerance."""
    error = float(np.abs(np.asarray(found) - np.asarray(expected)).max())
    assert error <= tolerance, f"{what}: off by {error:.4g}, allowed {tolerance:g}"


def in_base_frame(base_pose: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A world point [3] in the frame of a base pose [3]."""
    x, y, yaw = base_pose
    c, s = math.cos(yaw), math.sin(yaw)
    dx, dy = point[0] - x, point[1] - y
    return np.array([c * dx + s * dy, c * dy - s * dx, point[2]])


def hand_in_base(simulator: Simulator) -> np.ndarray:
    """Suction tip of world 0 in its base frame [3]."""
    state = snapshot(simulator.state)
    return in_base_frame(state["base_pose"][0], state["end_effector_position"][0])


def object_in_hand(simulator: Simulator, slot: int) -> np.ndarray:
    """Centre of an object of world 0 in the end-effector frame [3]."""
    state = snapshot(simulator.state)
    offset = state["object_position"][0, slot] - state["end_effector_position"][0]
    return offset @ state["end_effector_rotation"][0]


def assert_hand_follows_kinematics(simulator: Simulator) -> None:
    """The suction tip is where the kinematics say, once the arm has come to rest."""
    repeat(simulator, idle_action(simulator), 15)
    state = snapshot(simulator.state)
    position, rotation = kinematics.forward(simulator.state.robot, state["arm_joints"][0])
    assert_close(hand_in_base(simulator), position, 0.005, "end_effector_position")
    yaw = state["base_pose"][0, 2]
    c, s = math.cos(yaw), math.sin(yaw)
    world = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    assert_close(state["end_effector_rotation"][0], world, 0.01, "end_effector_rotation")


def floor_depth(camera: HeadCamera, height: int, width: int) -> np.ndarray:
    """Depth of an empty floor [H, W], m; infinite above the horizon."""
    half = math.tan(math.radians(camera.field_of_view) / 2)
    down = (np.arange(height) + 0.5 - height / 2) * 2 * half / width
    rotation = look_at(camera.position, camera.target)
    # Camera axes: x right, y up, looks along -z; a ray falls this much per metre of depth.
    fall = rotation[2, 2] + down * rotation[2, 1]
    depth = np.divide(camera.position[2], fall, out=np.full(height, np.inf), where=fall > 1e-6)
    return np.repeat(depth[:, None], width, axis=1)
