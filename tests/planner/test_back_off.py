import numpy as np
import pytest

from planner.back_off import BACK, BACK_STEPS, STUCK_STEPS, BackOff
from rearrange.robot.fetch import FETCH

FORWARD, TURN = FETCH.actions.forward, FETCH.actions.turn


def drive(forward, turn=0.02):
    action = np.full(FETCH.actions.physical_size, 0.01)
    action[FORWARD], action[TURN] = forward, turn
    return action


def driven(poses, forward=0.05):
    """What the base is driven by, step by step."""
    back_off = BackOff(FETCH)
    return [back_off.change(pose, drive(forward)) for pose in poses]


@pytest.mark.parametrize("forward", [0.05, -0.05])
def test_a_base_that_is_held_up_drives_the_other_way_for_a_moment(forward):
    still = [(1.0, 2.0, 0.5)] * (STUCK_STEPS + 1 + BACK_STEPS + 1)
    actions = driven(still, forward)
    ahead = [action[FORWARD] for action in actions]
    side = np.sign(forward)
    held_up = STUCK_STEPS  # and the step in which it was driven first
    assert ahead == [forward] * held_up + [-side * BACK] * BACK_STEPS + [forward] * 2
    for action in actions[held_up : held_up + BACK_STEPS]:
        assert action[TURN] == 0.0
        assert action[0] == 0.01  # the arm does what it did


def test_a_base_that_goes_is_left_alone():
    slow = [(0.02 * k, 0.0, 0.0) for k in range(40)]  # two fifths of what it is driven
    assert all(action[FORWARD] == 0.05 for action in driven(slow))


def test_a_base_that_turns_or_stands_is_left_alone():
    still = [(0.0, 0.0, 0.1 * k) for k in range(40)]
    assert all(action[FORWARD] == 0.0 for action in driven(still, 0.0))


def test_who_moves_again_is_not_stuck():
    nearly = [(0.0, 0.0, 0.0)] * STUCK_STEPS
    freed = [(0.05 * k, 0.0, 0.0) for k in range(1, 4)]
    actions = driven([*nearly, *freed, *[freed[-1]] * (STUCK_STEPS - 1)])
    assert all(action[FORWARD] == 0.05 for action in actions)
