"""What fingers hold is held by friction: it stays, falls, or was never held."""

import dataclasses
import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot import kinematics
from rearrange.robot.fetch_fingers import FETCH_FINGERS, FINGERS
from rearrange.robot.fingers import HOLD_STEPS
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim import NOTHING, MujocoSimulator, SimulatorConfig
from rearrange.testing.grasping import DOWN
from rearrange.testing.tools import in_the_open, object_in_hand, one_action, repeat

AHEAD = 0.5  # [m], of the thing before the base
SECOND = 30
CLOSED = 40  # steps in which fingers have closed on anything


def slot_of(name):
    return APARTMENT.slot_kinds.index(name)


def around(pick_episodes, name, above=0.0):
    """A simulator with open fingers around the upper end of a thing on the floor, by its narrow side."""
    slot = slot_of(name)
    kind, start = APARTMENT.objects[slot], in_the_open(FETCH_FINGERS, pick_episodes[0])
    height = 2 * kind.half_height - 0.02 + above
    arm, error = kinematics.solve_ik(FETCH_FINGERS, (AHEAD, 0.0, height), DOWN)
    assert error < 0.005
    across = kinematics.forward(FETCH_FINGERS, arm)[1][:, 1]
    x, y, yaw = start.base_pose
    heading = yaw + math.atan2(across[1], across[0])
    if kind.widths[1] < kind.widths[0]:
        heading -= math.pi / 2
    place = (x + AHEAD * math.cos(yaw), y + AHEAD * math.sin(yaw), kind.half_height)
    pose = (*place, math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))
    simulator = MujocoSimulator(1, SimulatorConfig(robot="fetch_fingers", camera_size=8))
    simulator.reset(
        [0], [dataclasses.replace(start, objects={slot: pose}, arm_joints=tuple(arm.tolist()))]
    )
    return simulator, slot


def close(simulator):
    repeat(simulator, one_action(simulator, grip=1.0), CLOSED)


def lift(simulator):
    """Raise what is held by some 0.2 m and swing it about, within a second."""
    arm = np.array([0.02, -0.02, 0.01, 0.0, 0.01, 0.0, 0.02])
    repeat(simulator, one_action(simulator, arm, grip=1.0), SECOND)


@pytest.mark.parametrize(
    "name", ["004_sugar_box", "003_cracker_box", "005_tomato_soup_can", "010_potted_meat_can"]
)
def test_what_is_lifted_stays_in_the_hand_and_falls_when_it_opens(name, pick_episodes):
    simulator, slot = around(pick_episodes, name)
    assert simulator.state.held_object[0] == NOTHING
    close(simulator)
    assert simulator.state.held_object[0] == slot
    start, height = object_in_hand(simulator, slot), simulator.state.object_position[0, slot, 2]
    lift(simulator)
    assert simulator.state.held_object[0] == slot
    assert simulator.state.object_position[0, slot, 2] > height + 0.1
    np.testing.assert_allclose(object_in_hand(simulator, slot), start, atol=0.01)
    raised = simulator.state.object_position[0, slot, 2]
    repeat(simulator, one_action(simulator, grip=-1.0), SECOND)
    assert simulator.state.held_object[0] == NOTHING
    assert not simulator.state.hold_violated[0]
    assert simulator.state.object_position[0, slot, 2] < raised - 0.1


def test_nothing_moves_it_but_contacts(pick_episodes):
    """With slippery pads the same motion leaves it on the floor: no weld, and nobody puts it into the hand."""
    simulator, slot = around(pick_episodes, "004_sugar_box")
    model = simulator.worlds[0].model
    pads = simulator.worlds[0].taker_geoms
    friction = model.geom_friction[pads].copy()
    model.geom_friction[pads] = 1e-3
    try:
        close(simulator)
        lift(simulator)
        assert simulator.state.object_position[0, slot, 2] < 0.12
        assert simulator.state.held_object[0] == NOTHING
    finally:
        model.geom_friction[pads] = friction  # worlds share the model


def test_it_goes_with_the_base(pick_episodes):
    simulator, slot = around(pick_episodes, "005_tomato_soup_can")
    close(simulator)
    lift(simulator)
    start = object_in_hand(simulator, slot)
    repeat(simulator, one_action(simulator, grip=1.0, forward=0.05, turn=0.05), SECOND // 2)
    assert simulator.state.held_object[0] == slot
    np.testing.assert_allclose(object_in_hand(simulator, slot), start, atol=0.01)


@pytest.mark.parametrize("name", ["002_master_chef_can", "024_bowl"])
def test_what_is_too_wide_is_not_held(name, pick_episodes):
    simulator, slot = around(pick_episodes, name, above=0.06)  # fingers close above it
    down = one_action(simulator, np.array([0.0, 0.02, 0.0, 0.0, 0.0, -0.02, 0.0]), grip=-1.0)
    repeat(simulator, down, 5)  # and come down on its rim
    close(simulator)
    lift(simulator)
    assert simulator.state.held_object[0] == NOTHING
    assert simulator.state.object_position[0, slot, 2] < APARTMENT.objects[slot].half_height + 0.03


def test_it_counts_as_held_after_some_steps_of_pressing(pick_episodes):
    simulator, slot = around(pick_episodes, "005_tomato_soup_can")
    forces = []
    while simulator.state.held_object[0] == NOTHING:
        simulator.step(one_action(simulator, grip=1.0))
        forces.append(simulator._grip._pressed[0, :, slot].min())
        assert len(forces) < CLOSED
    assert (np.array(forces[-HOLD_STEPS:]) > 2.5).all()
    assert forces[-1] == pytest.approx(FINGERS.force, rel=0.2)


def test_what_is_pulled_out_of_closed_fingers_violates_the_hold(pick_episodes):
    simulator, slot = around(pick_episodes, "005_tomato_soup_can")
    close(simulator)
    lift(simulator)
    world, data = simulator.worlds[0], simulator.data[0]
    data.xfrc_applied[world.first_object_body + slot, 2] = -200.0  # [N]
    violated = []
    for _ in range(SECOND):
        simulator.step(one_action(simulator, grip=1.0))
        violated.append(bool(simulator.state.hold_violated[0]))
    data.xfrc_applied[:] = 0.0
    assert sum(violated) == 1
    assert simulator.state.held_object[0] == NOTHING


def test_an_episode_cannot_begin_with_something_in_the_hand(pick_episodes):
    simulator = MujocoSimulator(1, SimulatorConfig(robot="fetch_fingers", camera_size=8))
    episode = dataclasses.replace(in_the_open(FETCH_FINGERS, pick_episodes[0]), held_slot=9)
    with pytest.raises(UserError, match="cannot begin with 005_tomato_soup_can in its hand"):
        simulator.reset([0], [episode])
