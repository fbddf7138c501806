import dataclasses

import mujoco
import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS, half_height
from rearrange.sim import NOTHING, MujocoSimulator, SimulatorConfig
from rearrange.sim.contacts import OTHER, ROBOT, SUCTION
from rearrange.sim.suction import SUCTION_GAP, Suction
from rearrange.testing.tools import (
    object_in_hand,
    one_action,
    repeat,
)
from tests.helpers.held_objects import holding


@pytest.mark.parametrize("slot", [0, 3, 15, 28])
def test_a_held_slot_hangs_at_the_suction_tip(slot, pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0], slot)])
    assert simulator.state.held_object[0] == slot
    expected = (half_height(APARTMENT.slot_kinds[slot]) + SUCTION_GAP, 0.0, 0.0)
    np.testing.assert_allclose(object_in_hand(simulator, slot), expected, atol=0.003)
    repeat(simulator, one_action(simulator, grip=1.0), 30)
    np.testing.assert_allclose(object_in_hand(simulator, slot), expected, atol=0.005)
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, simulator.state.object_rotation[0, slot])
    out_of_hand = simulator.state.end_effector_rotation[0][:, 0]
    np.testing.assert_allclose(matrix.reshape(3, 3)[:, 2], -out_of_hand, atol=0.02)


def test_a_held_object_follows_base_and_hand_at_full_speed(pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0])])
    start = object_in_hand(simulator, 0)
    arm = np.array([0.0375, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(12):
        simulator.step(one_action(simulator, arm, grip=1.0, forward=0.0833, turn=0.0833))
        assert simulator.state.held_object[0] == 0
        np.testing.assert_allclose(object_in_hand(simulator, 0), start, atol=0.02)


def test_worlds_that_share_a_model_keep_their_own_grasps(pick_episodes):
    reach = (0.3, *FETCH.resting_arm[1:6], 1.0)
    episodes = [holding(pick_episodes[0]), holding(pick_episodes[0], arm=reach)]
    together = MujocoSimulator(2, SMALL)
    action = one_action(together, grip=1.0, turn=0.05)
    together.reset([0, 1], episodes)
    repeat(together, np.repeat(action, 2, axis=0), 10)
    for k, episode in enumerate(episodes):
        alone = MujocoSimulator(1, SMALL)
        alone.reset([0], [episode])
        repeat(alone, action, 10)
        np.testing.assert_array_equal(
            together.state.object_position[k], alone.state.object_position[0]
        )


SMALL = SimulatorConfig(camera_size=8)


def touched_roles(simulator, place) -> set[int]:
    """What object 0 would touch with its centre at a place; it is put back afterwards."""
    world, data = simulator.worlds[0], simulator.data[0]
    centre = data.qpos[world.object_qpos : world.object_qpos + 3]
    before = centre.copy()
    centre[:] = place
    simulator._step_apartment(0, world, data)
    centre[:] = before
    pairs, geoms = data.contact.geom[: data.ncon], world.object_geoms[0]
    mine = (pairs >= geoms.start) & (pairs < geoms.stop)
    return {int(world.roles[other]) for other in pairs[mine[:, ::-1]]}


def in_the_gripper(simulator):
    """A place inside the gripper."""
    world, data = simulator.worlds[0], simulator.data[0]
    hand = data.xmat[world.gripper_body].reshape(3, 3)[:, 0]
    return simulator.state.end_effector_position[0] - 0.05 * hand


def test_what_is_held_touches_everything_but_the_robot(pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0])])
    model, geoms = simulator.worlds[0].model, simulator.worlds[0].object_geoms[0]
    before = model.geom_contype.copy(), model.geom_conaffinity.copy()
    assert before[0][geoms].any()
    assert touched_roles(simulator, in_the_gripper(simulator)) == set()
    on_the_floor = simulator.state.object_position[0, 0] * (1.0, 1.0, 0.0)
    assert OTHER in touched_roles(simulator, on_the_floor)
    np.testing.assert_array_equal(model.geom_contype, before[0])
    np.testing.assert_array_equal(model.geom_conaffinity, before[1])
    simulator.state.held_object[0] = NOTHING  # the same object, not held
    assert touched_roles(simulator, in_the_gripper(simulator)) & {ROBOT, SUCTION}


def test_what_was_let_go_meets_the_robot_again_once_it_is_away(pick_episodes):
    """As in HAB: farther from the hand than its longest side."""
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0])])
    away = []
    for _ in range(12):  # it falls
        simulator.step(one_action(simulator, grip=-1.0))
        state = simulator.state
        away.append(np.linalg.norm(state.object_position[0, 0] - state.end_effector_position[0]))
        touched = touched_roles(simulator, in_the_gripper(simulator)) & {ROBOT, SUCTION}
        # What a step sees of the object is where it was at the end of the one before.
        assert bool(touched) == (len(away) > 1 and away[-2] > 0.14)
    assert OBJECT_KINDS[APARTMENT.slot_kinds[0]].longest_side == pytest.approx(0.139)
    assert away[0] < 0.1
    assert away[-1] > 0.3


@pytest.mark.parametrize("still", [1, 3, 10, 30])
def test_what_was_held_still_falls_when_it_is_let_go(still, pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0])])
    repeat(simulator, one_action(simulator, grip=1.0), still)
    height = float(simulator.state.object_position[0, 0, 2])
    repeat(simulator, one_action(simulator, grip=-1.0), 5)
    assert simulator.state.object_position[0, 0, 2] < height - 0.05
    repeat(simulator, one_action(simulator, grip=-1.0), 60)
    assert simulator.state.object_position[0, 0, 2] < 0.15  # on the floor, on whatever side


def test_a_hold_that_slips_too_far_breaks(pick_episodes):
    simulator = MujocoSimulator(1, dataclasses.replace(SMALL, hold_threshold=0.01))
    simulator.reset([0], [holding(pick_episodes[0])])
    assert simulator.state.held_object[0] == 0
    assert not simulator.state.hold_violated[0]
    simulator.step(one_action(simulator, grip=1.0))
    assert simulator.state.hold_violated[0]
    assert simulator.state.held_object[0] == NOTHING
    simulator.step(one_action(simulator))
    assert not simulator.state.hold_violated[0]


@pytest.mark.parametrize("part", ["fridge_door", "drawer_right_top"])
def test_a_handle_is_held_where_it_was_taken(part, pick_episodes):
    """Not by its middle, as HAB's hand does: however far that is, the grasp breaks where the cup slips."""
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [pick_episodes[0]])
    world, data, grip = simulator.worlds[0], simulator.data[0], simulator._grip
    assert world is not None
    assert data is not None
    assert isinstance(grip, Suction)
    handle = APARTMENT.joints.index(part)
    away = simulator.state.handle_position[0, handle] - simulator.state.end_effector_position[0]
    assert np.linalg.norm(away) > 0.3
    grip._attach_handle(0, world, data, handle)
    repeat(simulator, one_action(simulator, grip=1.0), 3)
    assert simulator.state.held_handle[0] == handle
    grip._grasps[0, 5] += 0.14
    grip.end_step(0, world, data, True, slipped=False)
    assert simulator.state.held_handle[0] == handle
    grip._grasps[0, 5] += 0.03
    grip.end_step(0, world, data, True, slipped=False)
    assert simulator.state.hold_violated[0]
    assert simulator.state.held_handle[0] == NOTHING


def test_an_object_pulled_out_of_the_hand_is_a_violation(pick_episodes):
    simulator = MujocoSimulator(1, SMALL)
    simulator.reset([0], [holding(pick_episodes[0])])
    world, data = simulator.worlds[0], simulator.data[0]
    assert world is not None
    assert data is not None
    row = world.weld_rows[0]
    assert data.eq_active[row]
    simulator._grip._grasps[0, 3] += 0.3  # the weld now asks for a place far from the tip
    simulator._grip.write_grasp(0, world)
    simulator._view(0).loaded_robot.take(world.model, world.first_object_body, row)
    for _ in range(60):
        simulator.step(one_action(simulator, grip=1.0))
        if simulator.state.hold_violated[0]:
            break
    assert simulator.state.hold_violated[0]
    assert simulator.state.held_object[0] == NOTHING
    assert not data.eq_active[row]
