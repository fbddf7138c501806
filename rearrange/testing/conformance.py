"""The conformance test of the Simulator contract, which every implementation can run on itself.

    check_simulator(lambda world_count: MySimulator(world_count), episodes)

raises AssertionError and says what is wrong. Each `check_*` function tests one promise and can be run
alone with the same two arguments. Episodes should come from two apartments or more, each with objects
that can be reached from above.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from rearrange.episodes.episode import Episode
from rearrange.navigation import load_layout, room_at
from rearrange.robot import kinematics
from rearrange.sim.base import NOTHING, Simulator
from rearrange.testing.grasping import drop, graspable, lift_and_drop, take
from rearrange.testing.tools import (
    ARM_STEP,
    SECOND,
    assert_close,
    assert_hand_follows_kinematics,
    assert_layout,
    assert_same,
    floor_depth,
    hand_in_base,
    idle_action,
    in_the_open,
    object_in_hand,
    one_action,
    random_actions,
    repeat,
    snapshot,
    trajectory,
)

MakeSimulator = Callable[[int], Simulator]

STILL = 0.002  # [m], what rests may move in a second
FLOOR_TOLERANCE = 0.02  # [m], rugs lie on the floor
TIP_TOLERANCE = 0.02  # [m], of where a resting arm has its tip


def check_simulator(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Run every check.

    Args:
        make_simulator: Makes a new simulator with this many worlds.
        episodes: Start states to test with, two or more.

    Raises:
        AssertionError: The simulator breaks a promise of the contract.
    """
    for check in CHECKS:
        check(make_simulator, episodes)


# --- the state and its life -------------------------------------------------------------------------


def check_state_layout(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """`state` is one SimState for life, its arrays have the promised shapes, kinds and frames."""
    count = len(episodes)
    simulator = make_simulator(count)
    assert isinstance(simulator, Simulator), f"{type(simulator).__name__} is no Simulator"
    assert simulator.world_count == count, f"world_count is {simulator.world_count}, not {count}"
    simulator.reset(range(count), episodes)
    state = simulator.state
    action = idle_action(simulator)
    before = action.copy()
    for _ in range(2):
        assert_layout(state, count)
        simulator.step(action)
        assert simulator.state is state, "`state` must stay the same object"
    assert np.array_equal(action, before), "`step` must not write into the action"
    simulator.close()


def check_reset(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """`reset` puts everything where the episode says."""
    simulator = make_simulator(1)
    for episode in episodes:
        simulator.reset([0], [episode])
        state = snapshot(simulator.state)
        assert_close(state["base_pose"][0], episode.base_pose, 1e-5, "base_pose after reset")
        assert_close(state["arm_joints"][0], episode.arm_joints, 0.02, "arm_joints after reset")
        for slot, pose in episode.objects.items():
            if slot != episode.held_slot:
                where = state["object_position"][0, slot]
                assert_close(where, pose[:3], STILL, f"object {slot} after reset")
                same = abs(state["object_rotation"][0, slot] @ np.array(pose[3:]))
                assert same > 0.999, f"object {slot} is turned after reset (wxyz quaternions?)"
        joints = [episode.articulated.get(joint, 0.0) for joint in simulator.state.scene.joints]
        assert_close(state["articulated_joints"][0], joints, 0.01, "articulated_joints")
        held = NOTHING if episode.held_slot is None else episode.held_slot
        assert state["held_object"][0] == held, f"holds {state['held_object'][0]}, not {held}"
        assert not state["hold_violated"][0], "hold_violated after reset"
    simulator.close()


def check_reset_leaves_other_worlds(
    make_simulator: MakeSimulator, episodes: Sequence[Episode]
) -> None:
    """Resetting one world changes nothing in the others."""
    simulator = make_simulator(3)
    simulator.reset([0, 1, 2], [episodes[k % len(episodes)] for k in range(3)])
    for action in random_actions(simulator.state.robot, 0, 5, 3):
        simulator.step(action)
    before = snapshot(simulator.state)
    simulator.reset([1], [episodes[0]])
    after = snapshot(simulator.state)
    for name, values in before.items():
        same = np.array_equal(values[[0, 2]], after[name][[0, 2]])
        assert same, f"reset of world 1 changed {name} of another world"
    assert_close(after["base_pose"][1], episodes[0].base_pose, 1e-5, "base_pose after reset")
    simulator.close()


def check_determinism(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """The same episode and actions give the same trajectory, bit for bit, whatever else happens."""
    alone = make_simulator(1)
    robot = alone.state.robot
    actions = random_actions(robot, 1, SECOND, 1)
    expected = trajectory(alone, episodes[0], actions)
    trajectory(alone, episodes[-1], random_actions(robot, 2, 5, 1))
    assert_same(expected, trajectory(alone, episodes[0], actions), "after another episode")
    alone.close()
    fresh = make_simulator(1)
    assert_same(expected, trajectory(fresh, episodes[0], actions), "in a new simulator")
    fresh.close()
    crowd = make_simulator(3)
    crowd.reset([0, 2], [episodes[-1], episodes[0]])
    others = random_actions(robot, 3, SECOND, 3)
    others[:, 1] = actions[:, 0]
    found = trajectory(crowd, episodes[0], others, world=1)
    assert_same(expected, found, "with other worlds beside")
    crowd.close()


def check_close(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Closing twice is fine, also before any reset."""
    make_simulator(1).close()
    simulator = make_simulator(1)
    simulator.reset([0], episodes[:1])
    simulator.close()
    simulator.close()


# --- motion -----------------------------------------------------------------------------------------


def check_idle(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """With nothing to do the robot stays where it is, and so does what rests."""
    simulator = make_simulator(1)
    for start in episodes:
        episode = in_the_open(simulator.state.robot, start)
        simulator.reset([0], [episode])
        before = snapshot(simulator.state)
        repeat(simulator, idle_action(simulator), SECOND)
        after = snapshot(simulator.state)
        assert np.array_equal(before["base_pose"], after["base_pose"]), "an idle base moves"
        assert_close(after["arm_joints"], before["arm_joints"], 0.01, "arm_joints of an idle arm")
        moved = np.linalg.norm(after["object_position"] - before["object_position"], axis=-1)[0]
        for slot in episode.objects:
            assert moved[slot] < STILL, f"resting object {slot} moved {moved[slot]:.4f} m in 1 s"
        assert_close(
            after["articulated_joints"], before["articulated_joints"], 0.01, "resting doors"
        )
        assert after["contact_force"][0] == 0.0, "contact force on a robot in the open"
    simulator.close()


def check_base_motion(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Forward is along +x of the base, turning is counter-clockwise, the hand comes along."""
    simulator = make_simulator(1)
    for yaw in (0.4, 3.0):
        episode = in_the_open(simulator.state.robot, episodes[0], yaw)
        simulator.reset([0], [episode])
        hand = hand_in_base(simulator)
        x, y = episode.base_pose[:2]
        repeat(simulator, one_action(simulator, forward=0.05), 4)
        expected = (x + 0.2 * math.cos(yaw), y + 0.2 * math.sin(yaw), yaw)
        assert_close(snapshot(simulator.state)["base_pose"][0], expected, 1e-4, "driving 0.2 m")
        repeat(simulator, one_action(simulator, turn=0.07), 4)
        turned = math.remainder(yaw + 0.28, 2 * math.pi)
        expected = (*expected[:2], turned)
        assert_close(snapshot(simulator.state)["base_pose"][0], expected, 1e-4, "turning left")
        repeat(simulator, one_action(simulator, forward=-0.05), 4)
        expected = (
            expected[0] - 0.2 * math.cos(turned),
            expected[1] - 0.2 * math.sin(turned),
            turned,
        )
        state = snapshot(simulator.state)
        assert_close(state["base_pose"][0], expected, 1e-4, "driving back 0.2 m")
        assert not state["base_blocked"][0], "base_blocked in the open"
        repeat(simulator, idle_action(simulator), 10)
        assert_close(hand_in_base(simulator), hand, 0.02, "hand in the base frame after driving")
    simulator.close()


def check_obstacles(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Driving on and on ends at an obstacle, says so, and never inside one."""
    simulator = make_simulator(1)
    radius = simulator.state.robot.base.radius
    for episode, yaw in zip((episodes[0], episodes[-1]), (0.3, 2.2), strict=True):
        episode = in_the_open(simulator.state.robot, episode, yaw)
        grid = load_layout(episode.layout, episode.variation)[1]
        simulator.reset([0], [episode])
        blocked = False
        for _ in range(4 * SECOND):
            before = snapshot(simulator.state)["base_pose"][0]
            simulator.step(one_action(simulator, forward=0.08))
            state = snapshot(simulator.state)
            x, y, _ = state["base_pose"][0]
            inside = radius - room_at(grid, x, y)
            assert inside < 0.02, f"the base is {inside:.3f} m inside an obstacle"
            moved = math.hypot(x - before[0], y - before[1])
            assert moved < 0.081, f"the base moved {moved:.3f} m instead of 0.08 m"
            if not state["base_blocked"][0]:
                assert moved > 0.079, f"not base_blocked, yet it moved {moved:.3f} m, not 0.08 m"
            blocked |= bool(state["base_blocked"][0])
        assert blocked, "base_blocked never told that the robot met a wall"
    simulator.close()


def check_arm(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Joint deltas move the joints they name, up to their limits; the hand is where they put it."""
    simulator = make_simulator(1)
    robot = simulator.state.robot
    tip, _ = kinematics.forward(robot, np.array(robot.resting_arm))
    found = ", ".join(f"{x:.3f}" for x in tip)
    what = f"tip of resting_arm, ({found}), against resting_tip"
    assert_close(tip, robot.resting_tip, TIP_TOLERANCE, what)
    simulator.reset([0], [in_the_open(robot, episodes[0])])
    for joint in range(len(robot.joints)):
        before = snapshot(simulator.state)["arm_joints"][0]
        sign = 1.0 if before[joint] < 0.0 else -1.0
        arm = np.zeros(len(robot.joints))
        arm[joint] = sign * 0.03 * robot.units[joint]
        repeat(simulator, one_action(simulator, arm), 5)
        repeat(simulator, idle_action(simulator), 15)
        before[joint] += sign * 0.15 * robot.units[joint]
        name = robot.joints[joint].name
        assert_close(snapshot(simulator.state)["arm_joints"][0], before, 0.02, f"moving {name}")
    assert_hand_follows_kinematics(simulator)
    limited = [k for k, joint in enumerate(robot.joints) if math.isfinite(joint.low)]
    for joint, sign in ((limited[0], 1.0), (limited[-1], -1.0)):
        limit = float(robot.limits[int(sign > 0), joint])
        arm = np.zeros(len(robot.joints))
        arm[joint] = sign * ARM_STEP * robot.units[joint]
        repeat(simulator, one_action(simulator, arm), 4 * SECOND)
        reached = float(snapshot(simulator.state)["arm_joints"][0, joint])
        name = robot.joints[joint].name
        assert abs(reached - limit) < 0.03, f"{name} stops at {reached:.3f}, not at {limit:.3f}"
        repeat(
            simulator, one_action(simulator, -arm), 10
        )  # a target that wound up would not come back
        back = abs(float(snapshot(simulator.state)["arm_joints"][0, joint]) - limit)
        assert back > 0.1 * robot.units[joint], f"{name} does not come back from its limit"
    assert_hand_follows_kinematics(simulator)
    simulator.close()


# --- camera -----------------------------------------------------------------------------------------


def check_depth(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Depth is in metres along the optical axis, sees the floor where it is, and moves with the base."""
    simulator = make_simulator(2)
    robot = simulator.state.robot
    aside = (min(1.5, robot.joints[0].high), *robot.resting_arm[1:])
    opened = [in_the_open(robot, episodes[k]) for k in (0, -1)]
    starts = [dataclasses.replace(episode, arm_joints=aside) for episode in opened]
    simulator.reset([0, 1], starts)
    depth = simulator.render_depth()
    assert depth.dtype == np.float32, f"depth is {depth.dtype}, not float32"
    assert depth.ndim == 3, f"depth has shape {depth.shape}, not [N, H, W]"
    assert len(depth) == 2, f"depth has shape {depth.shape} for two worlds"
    assert np.isfinite(depth).all(), "depth must be finite"
    assert (depth > 0.0).all(), "depth must be positive"
    floor = floor_depth(robot.camera, *depth.shape[1:])
    rows = slice(round(0.85 * depth.shape[1]), None)  # what is nearer than a metre from the base
    for k, image in enumerate(depth):
        excess = float((image[rows] - floor[rows]).max())
        assert excess < FLOOR_TOLERANCE, f"depth of world {k} sees {excess:.3f} m below the floor"
        agrees = float(np.mean(np.abs(image[rows] - floor[rows]) < FLOOR_TOLERANCE))
        assert agrees > 0.5, f"depth of world {k} finds the floor in {agrees:.0%} of the lower rows"
    again = simulator.render_depth()
    assert not np.shares_memory(depth, again), "an image is overwritten by the next"
    assert np.array_equal(depth, again), "the same state gives another image"
    tenth = simulator.render_depth(unit=10.0)
    assert_close(10.0 * tenth, depth, 1e-4, "depth in units of 10 m")
    small = simulator.render_depth(24)
    assert small.shape == (2, 24, 24), f"depth of size 24 has shape {small.shape}"
    offset = np.abs(small[:, 21:] - floor_depth(robot.camera, 24, 24)[21:])
    assert np.mean(offset < FLOOR_TOLERANCE) > 0.5, "depth of another size misses the floor"
    simulator.step(np.concatenate([one_action(simulator, turn=0.08), one_action(simulator)]))
    turned = simulator.render_depth()
    assert np.mean(np.abs(turned[0] - depth[0]) > 0.01) > 0.1, "depth stays when the base turns"
    assert np.mean(np.abs(turned[1] - depth[1]) > 0.01) < 0.02, "depth changes while nothing moves"
    second = simulator.render_depth(ids=[1])
    assert second.shape == turned[1:].shape, f"depth of one world has shape {second.shape}"
    assert np.array_equal(second, turned[1:]), "depth of world 1 alone is another image"
    simulator.close()


# --- suction ----------------------------------------------------------------------------------------


def check_grasp(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """Grip takes what the cup touches, nothing else; it comes up with the hand; letting go drops it."""
    simulator = make_simulator(1)
    robot = simulator.state.robot
    simulator.reset([0], [in_the_open(robot, episodes[0])])
    for _ in range(5):
        state = snapshot(simulator.state)
        touched, held = int(state["touched_object"][0]), int(state["held_object"][0])
        assert touched == NOTHING, f"the cup touches object {touched} in the open"
        assert held == NOTHING, f"grip takes object {held} without touching it"
        assert not state["hold_violated"][0], "hold_violated without a hold"
        simulator.step(one_action(simulator, grip=1.0))
    tried = 0
    for episode, slot in graspable(robot, episodes):
        tried += 1
        if take(simulator, episode, slot):
            lift_and_drop(simulator, slot)
            simulator.close()
            return
    raise AssertionError(f"grip took none of {tried} objects that the hand was moved onto")


def check_held_start(make_simulator: MakeSimulator, episodes: Sequence[Episode]) -> None:
    """An episode with a held slot starts with it in the hand; it follows base and hand, then falls."""
    simulator = make_simulator(1)
    robot, slot = simulator.state.robot, min(episodes[0].objects)
    episode = dataclasses.replace(in_the_open(robot, episodes[0]), held_slot=slot)
    simulator.reset([0], [episode])
    repeat(simulator, one_action(simulator, grip=1.0), 5)
    assert snapshot(simulator.state)["held_object"][0] == slot, "held_slot is lost at once"
    in_hand = object_in_hand(simulator, slot)
    assert np.linalg.norm(in_hand) < 0.15, "what is held at the start is far from the hand"
    arm = np.zeros(len(robot.joints))
    arm[[0, -1]] = ARM_STEP * robot.units[[0, -1]]
    for action in (
        one_action(simulator, grip=1.0, forward=0.05),
        one_action(simulator, grip=1.0, turn=0.08),
        one_action(simulator, arm, 1.0),
        one_action(simulator, -arm, 1.0, forward=-0.03, turn=0.05),
    ):
        before = snapshot(simulator.state)["object_position"][0, slot]
        for _ in range(6):
            simulator.step(action)
            moved = object_in_hand(simulator, slot)
            assert_close(moved, in_hand, 0.04, "the held object in the moving hand")
        repeat(simulator, one_action(simulator, grip=1.0), 5)
        state = snapshot(simulator.state)
        assert state["held_object"][0] == slot, "what is held is lost on the way"
        assert not state["hold_violated"][0], "hold_violated on the way"
        assert_close(object_in_hand(simulator, slot), in_hand, 0.02, "the held object in the hand")
        assert np.linalg.norm(state["object_position"][0, slot] - before) > 0.05, (
            "what is held stays behind"
        )
    drop(simulator, slot, 0.3)
    simulator.close()


CHECKS: tuple[Callable[[MakeSimulator, Sequence[Episode]], None], ...] = (
    check_state_layout,
    check_reset,
    check_reset_leaves_other_worlds,
    check_determinism,
    check_close,
    check_idle,
    check_base_motion,
    check_obstacles,
    check_arm,
    check_depth,
    check_grasp,
    check_held_start,
)


# --- moving the hand onto objects -------------------------------------------------------------------
