"""Observations and rewards against values worked out by hand."""

import math

import pytest
import torch

from locomotion.ant import ANT
from locomotion.robots import compile_robot
from locomotion.running import Motion, make_running

ANKLE = math.radians(50)  # middle of its range; that of the hips is 0
HALF_TURN = math.sqrt(0.5)


def motion(**changes) -> Motion:
    """An ant that stands still, its joints in their middle, and looks along x to its target."""
    values = {
        "qpos": torch.tensor([[0, 0, 0.5, 1, 0, 0, 0, *(0, ANKLE) * 4]]),
        "qvel": torch.zeros(1, 14),
        "touch": torch.zeros(1, 4),
        "actions": torch.zeros(1, 8),
        "target": torch.tensor([[1000.0, 0.0]]),
    }
    return Motion(**values | changes)


def rewarded(given: Motion, reward: str = "paper") -> float:
    task = make_running(compile_robot(ANT), reward, "cpu")
    return task.reward(given, task.pose(given)).item()


def observed(given: Motion) -> list[float]:
    task = make_running(compile_robot(ANT), "paper", "cpu")
    shown = task.observe(given, task.pose(given))
    assert shown.shape == (1, task.observation_size) == (1, 39)
    return shown[0].tolist()


def test_an_ant_that_stands_is_paid_for_living_looking_and_standing():
    assert rewarded(motion()) == pytest.approx(0.5 + 0.5 + 0.05)


def test_speed_towards_the_target_counts_in_full():
    velocity = torch.zeros(1, 14)
    velocity[0, :3] = torch.tensor([3.0, 4.0, 9.0])
    assert rewarded(motion(qvel=velocity)) == pytest.approx(1.05 + 3.0)
    # To a target at (30, 40) it runs with 3 * 0.6 + 4 * 0.8; its heading is 0.6 / 0.8
    at = {"qvel": velocity, "target": torch.tensor([[30.0, 40.0]])}
    assert rewarded(motion(**at)) == pytest.approx(0.5 + 5.0 + 0.5 * 0.75 + 0.05)


def test_an_ant_that_looks_back_lies_on_its_side_pays():
    back = motion(target=torch.tensor([[-10.0, 0.0]]))
    assert rewarded(back) == pytest.approx(0.5 - 0.5 / 0.8 + 0.05)
    on_its_side = motion()
    on_its_side.qpos[0, 3:7] = torch.tensor([HALF_TURN, HALF_TURN, 0, 0])
    assert rewarded(on_its_side) == pytest.approx(0.5 + 0.5)
    leaning = motion()  # 0.93 is the cosine of 21.57 degrees
    for degrees, bonus in ((21, 0.05), (22, 0.0)):
        half = math.radians(degrees) / 2
        leaning.qpos[0, 3:7] = torch.tensor([math.cos(half), math.sin(half), 0, 0])
        assert rewarded(leaning) == pytest.approx(1.0 + bonus)


def test_costs_are_those_of_torques_actions_limits_and_feet():
    actions = torch.tensor([[0.5, -1, 0, 0, 0, 0, 0, 0]])
    assert rewarded(motion(actions=actions)) == pytest.approx(1.05 - 4 * 1.5 - 0.5 * 1.25)
    assert rewarded(motion(actions=actions), "mean") == pytest.approx(
        1.05 - 4 * 1.5 / 8 - 0.5 * 1.25 / 8
    )
    touch = torch.tensor([[0.0, 1.0, 3.0, 0.0]])
    assert rewarded(motion(touch=touch)) == pytest.approx(1.05 - 2)
    assert rewarded(motion(touch=touch), "mean") == pytest.approx(1.05 - 0.5)
    bent = motion()  # a hip at its end, an ankle just short of it: 0.98 of the way
    bent.qpos[0, 7] = math.radians(-30)
    bent.qpos[0, 8] = math.radians(50 + 0.98 * 20)
    assert rewarded(bent) == pytest.approx(1.05 - 0.2)
    assert rewarded(bent, "mean") == pytest.approx(1.05 - 0.2 / 8)


def test_the_torso_that_is_low_has_fallen():
    task = make_running(compile_robot(ANT), "paper", "cpu")
    for height, fell in ((0.27, False), (0.25, True)):
        low = motion()
        low.qpos[0, 2] = height
        assert task.fallen(low).tolist() == [fell]


def test_vectors_are_seen_along_the_heading():
    """Turned to the left by a quarter, what goes along y goes ahead, and the target is at the right."""
    turned = motion()
    turned.qpos[0, 3:7] = torch.tensor([HALF_TURN, 0, 0, HALF_TURN])
    turned.qvel[0, :3] = torch.tensor([0.0, 2.0, 0.5])
    turned.qvel[0, 3:6] = torch.tensor([1.0, 0.0, 3.0])  # of the torso's own axes
    shown = observed(turned)
    assert shown[:3] == pytest.approx([0.5, 0, 0], abs=1e-6)
    assert shown[3:6] == pytest.approx([2, 0, 0.5], abs=1e-6)
    assert shown[6:9] == pytest.approx([1, 0, 3], abs=1e-6)
    assert shown[9:11] == pytest.approx([-1, 0], abs=1e-6)


def test_roll_and_pitch_are_angles_of_the_torso():
    for axis, place in ((1, 1), (2, 2)):
        leaning = motion()
        leaning.qpos[0, 3] = math.cos(0.15)
        leaning.qpos[0, 3 + axis] = math.sin(0.15)
        expected = [0.5, 0.0, 0.0]
        expected[place] = 0.3
        assert observed(leaning)[:3] == pytest.approx(expected, abs=1e-6)


def test_spin_is_told_in_level_axes():
    """Rolled by a quarter, what spins about the torso's y spins about the vertical."""
    rolled = motion()
    rolled.qpos[0, 3:7] = torch.tensor([HALF_TURN, HALF_TURN, 0, 0])
    rolled.qvel[0, 4] = 2.0
    assert observed(rolled)[6:9] == pytest.approx([0, 0, 2], abs=1e-6)


def test_joints_motors_and_feet_come_last():
    speeds = torch.zeros(1, 14)
    speeds[0, 6:] = torch.arange(8.0)
    actions, touch = torch.linspace(-1, 1, 8)[None], torch.tensor([[0.0, 0.1, 0.0, 7.0]])
    shown = observed(motion(qvel=speeds, actions=actions, touch=touch))
    assert shown[11:19] == pytest.approx([0, ANKLE] * 4)
    assert shown[19:27] == pytest.approx(list(range(8)))
    assert shown[27:35] == pytest.approx(actions[0].tolist())
    assert shown[35:] == [0, 1, 0, 1]
