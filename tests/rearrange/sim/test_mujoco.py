import dataclasses

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.parts import cover
from rearrange.robot.registry import register_robot, unregister_robot
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.sim.free_robot import teleport
from rearrange.testing.tools import (
    in_the_open,
    object_in_hand,
    one_action,
    repeat,
    snapshot,
)
from tests.helpers.crane import CRANE
from tests.helpers.meshes import cube

SMALL = SimulatorConfig(camera_size=8)


def test_a_world_can_change_its_apartment_and_come_back(pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    states = []
    for k in (0, 1, 0):
        simulator.reset([0], [pick_episodes[k]])
        repeat(simulator, one_action(simulator, forward=0.03, turn=0.02), 5)
        states.append(snapshot(simulator.state))
    for name, values in states[0].items():
        np.testing.assert_array_equal(values, states[2][name], name)
    assert not np.array_equal(states[0]["handle_position"], states[1]["handle_position"])


def test_a_world_that_was_never_reset_says_so():
    simulator = MujocoSimulator(1, SMALL)
    with pytest.raises(RuntimeError, match="world 0 was never reset"):
        simulator.step(one_action(simulator))


def test_a_held_object_is_turned_with_the_base():
    objects = np.zeros((30, 7))
    objects[2] = (1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0)
    motion, position = np.array((0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2)), np.zeros(3)
    teleport(motion, position, np.array((1.0, 0.0, 0.0, 0.0)), objects, 2)
    assert motion[2] == np.pi / 2
    half = np.sqrt(0.5)
    np.testing.assert_allclose(objects[2], (0.0, 1.0, 0.5, half, 0.0, 0.0, half), atol=1e-12)


def test_sliding_can_be_switched_off(pick_episodes):
    travelled = {}
    for slide in (False, True):
        simulator = MujocoSimulator(1, dataclasses.replace(SMALL, slide=slide))
        simulator.reset([0], [in_the_open(FETCH, pick_episodes[0], 0.5)])
        repeat(simulator, one_action(simulator, forward=0.08), 100)
        travelled[slide] = simulator.state.base_pose[0, :2].copy()
        before = travelled[slide].copy()
        repeat(simulator, one_action(simulator, forward=0.08), 5)
        if not slide:
            np.testing.assert_allclose(simulator.state.base_pose[0, :2], before, atol=1e-6)
    assert np.linalg.norm(travelled[True] - travelled[False]) > 0.1


STRETCHED = (0.0,) * len(FETCH.joints)


def test_the_base_does_not_drive_the_arm_into_what_stands_still(pick_episodes):
    """The wheels push with 283 N; what the arm adds depends on how it is bent."""
    largest, stopped = {}, 0
    for stall in (False, True):
        simulator = MujocoSimulator(1, dataclasses.replace(SMALL, stall=stall))
        forces = []
        for yaw in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0):
            start = dataclasses.replace(
                in_the_open(FETCH, pick_episodes[0], yaw), arm_joints=STRETCHED
            )
            simulator.reset([0], [start])
            for _ in range(60):
                simulator.step(one_action(simulator, forward=0.08))
                forces.append(float(simulator.state.contact_force[0]))
            pose = simulator.state.base_pose[0].copy()
            np.testing.assert_allclose(simulator._view(0).base_position[:2], pose[:2], atol=1e-9)
            stopped += simulator._view(0).pace[0] < 1.0
            repeat(simulator, one_action(simulator, forward=-0.08), 10)
            back = np.linalg.norm(simulator.state.base_pose[0, :2] - pose[:2])
            assert back > 0.4  # not stuck, and soon as fast as before
        largest[stall] = max(forces)
    assert stopped
    assert largest[False] > 10_000.0  # ends an episode
    assert largest[True] < 1_000.0


def test_a_base_that_is_held_up_keeps_its_load_in_the_hand(pick_episodes):
    simulator = MujocoSimulator(1, dataclasses.replace(SMALL, stall=True))
    slowest = 1.0
    for yaw in (0.0, 2.0, 4.0):
        start = in_the_open(FETCH, pick_episodes[0], yaw)
        simulator.reset([0], [dataclasses.replace(start, held_slot=0, arm_joints=STRETCHED)])
        before = object_in_hand(simulator, 0)
        for _ in range(60):
            simulator.step(one_action(simulator, grip=1.0, forward=0.0833, turn=0.01))
            slowest = min(slowest, *simulator._view(0).pace)
            assert simulator.state.held_object[0] == 0
            np.testing.assert_allclose(object_in_hand(simulator, 0), before, atol=0.05)
    assert slowest < 1.0


def seen_by_a_robot_with(kind, before, **fields):
    """A simulator of a robot that carries a cube of 20 cm before its camera."""

    def build(spec):
        before(spec)
        CRANE.build(spec)
        cover(spec.body(CRANE.base.body), kind, (1, 0, 0, 1), pos=[0.7, 0.1, 1.1], **fields)

    robot = dataclasses.replace(CRANE, name=f"crane with {kind}", build=build)
    register_robot(robot)
    return MujocoSimulator(1, SimulatorConfig(robot=robot.name, camera_size=64))


def test_a_mesh_of_a_cube_is_seen_as_a_box_of_its_size(pick_episodes):
    vertices, faces = cube()

    def add_mesh(spec):
        spec.add_mesh(name="cube", uservert=0.2 * vertices.ravel(), userface=faces.ravel())

    turned = {"quat": [0.8, 0.2, -0.4, 0.4]}
    depth = []
    try:
        for simulator in (
            seen_by_a_robot_with("mesh", add_mesh, meshname="cube", **turned),
            seen_by_a_robot_with("box", lambda spec: None, size=[0.1, 0.1, 0.1], **turned),
        ):
            episode = dataclasses.replace(pick_episodes[0], arm_joints=CRANE.resting_arm)
            simulator.reset([0], [episode])
            depth.append(simulator.render_depth()[0])
    finally:
        unregister_robot("crane with mesh")
        unregister_robot("crane with box")
    np.testing.assert_allclose(depth[0], depth[1], atol=1e-5)
    assert depth[0][:, 20:].min() < 0.7
