"""Taking an object and letting it fall, for the conformance test."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from rearrange.episodes.episode import Episode, spec_of
from rearrange.navigation import load_layout
from rearrange.robot import RobotSpec, kinematics
from rearrange.sim.base import NOTHING, Simulator
from rearrange.testing.tools import (
    ARM_STEP,
    SECOND,
    assert_close,
    hand_in_base,
    idle_action,
    in_base_frame,
    in_the_open,
    object_in_hand,
    one_action,
    repeat,
    snapshot,
)

DOWN = (0.0, 0.0, -1.0)
GRASP_REACH = 0.8  # [m], horizontal distance from base to object in the grasp check
GRASP_ATTEMPTS = 8  # objects that the grasp check tries, of which it must take one


def graspable(robot: RobotSpec, episodes: Sequence[Episode]) -> list[tuple[Episode, int]]:
    """Episodes in which the robot stands before an object that its hand can reach from above."""
    generator = np.random.default_rng(0)
    found: list[tuple[Episode, int]] = []
    for episode in episodes:
        grid = load_layout(episode.layout, episode.variation)[1]
        for slot, pose in episode.objects.items():
            base = grid.sample_pose_near(generator, (pose[0], pose[1]), GRASP_REACH, 0.0)
            if base is None:
                continue
            top = in_base_frame(np.array(base), np.array(pose[:3]))
            top[2] += spec_of(episode).objects[slot].half_height
            if kinematics.solve_ik(robot, top, DOWN)[1] < 0.005:
                start = dataclasses.replace(in_the_open(robot, episode), base_pose=base)
                found.append((start, slot))
            if len(found) == GRASP_ATTEMPTS:
                return found
    return found


def reach(simulator: Simulator, goal: np.ndarray) -> None:
    """One gripping step of the arm towards these joints."""
    joints = snapshot(simulator.state)["arm_joints"][0]
    most = ARM_STEP * simulator.state.robot.units
    step = np.clip(goal - joints, -most, most)
    simulator.step(one_action(simulator, step, grip=1.0))


def take(simulator: Simulator, episode: Episode, slot: int) -> bool:
    """Move the hand over an object and down onto it; whether it was taken."""
    simulator.reset([0], [episode])
    state = snapshot(simulator.state)
    top = in_base_frame(state["base_pose"][0], state["object_position"][0, slot])
    top[2] += spec_of(episode).objects[slot].half_height
    robot = simulator.state.robot
    above = kinematics.solve_ik(robot, top + np.array([0.0, 0.0, 0.1]), DOWN)[0]
    pressing = kinematics.solve_ik(robot, top - np.array([0.0, 0.0, 0.01]), DOWN, above)[0]
    for step in range(5 * SECOND):
        reach(simulator, above if step < 2 * SECOND else pressing)
        held = int(snapshot(simulator.state)["held_object"][0])
        if held != NOTHING:
            return held == slot
    return False


def lift_and_drop(simulator: Simulator, slot: int) -> None:
    """What is held rises with the hand, and drops when it is let go."""
    before = snapshot(simulator.state)
    in_hand = object_in_hand(simulator, slot)
    target = hand_in_base(simulator)
    target[2] += 0.15
    robot = simulator.state.robot
    raised = kinematics.solve_ik(robot, target, DOWN, before["arm_joints"][0])[0]
    for _ in range(2 * SECOND):
        reach(simulator, raised)
    state = snapshot(simulator.state)
    assert state["held_object"][0] == slot, "what is held is lost when the hand rises"
    rise = state["object_position"][0, slot, 2] - before["object_position"][0, slot, 2]
    assert rise > 0.05, f"the hand rose 0.15 m, what it holds {rise:.3f} m"
    assert_close(object_in_hand(simulator, slot), in_hand, 0.03, "the held object in the hand")
    drop(simulator, slot, 0.5 * float(rise))


def drop(simulator: Simulator, slot: int, least: float) -> None:
    """Letting go drops what is held by so much within a second [m]."""
    height = float(snapshot(simulator.state)["object_position"][0, slot, 2])
    repeat(simulator, idle_action(simulator), SECOND)
    state = snapshot(simulator.state)
    assert state["held_object"][0] == NOTHING, "letting go does not let go"
    fall = height - float(state["object_position"][0, slot, 2])
    assert fall > least, f"after letting go the object fell {fall:.3f} m within a second"
