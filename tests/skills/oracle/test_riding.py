"""The base moves as if it were bolted to a part."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rearrange.scenes.apartment import ArticulatedPose
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.cabinet import DRAWERS
from rearrange.scenes.fridge import FRIDGE_DOOR
from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP
from skills.oracle.fixtures import Fixture
from skills.oracle.handle_planner import Grasp
from skills.oracle.riding import BRAKE, TOUCH, bolted, lever, next_speed, progress

NOWHERE = np.zeros(3)


def fixture(part):
    return Fixture(part, ArticulatedPose((1.0, 2.0, 0.0), 0.7), APARTMENT)


@pytest.mark.parametrize(
    "part", [FRIDGE_DOOR, replace(FRIDGE_DOOR, clockwise=True), DRAWERS[0]], ids=str
)
def test_who_was_carried_along_knows_how_far(part):
    moved = fixture(part)
    contact = np.array([1.9, 2.3, 3.0])
    grasp = Grasp(contact, NOWHERE, np.zeros((1, 7)), opening=0.05)
    for opening in (0.05, 0.2, 0.4):
        pose = moved.carried(contact, 0.05, opening)
        assert progress(moved, grasp, pose) == pytest.approx(opening)


def test_a_lever_is_the_way_of_the_handle():
    door = fixture(FRIDGE_DOOR)
    step = np.linalg.norm(door.handle(0.501) - door.handle(0.5))
    assert lever(door, 0.5) == pytest.approx(step / 0.001, rel=1e-3)
    assert lever(fixture(DRAWERS[0]), 0.2) == 1.0


def test_speed_grows_to_the_cruise_and_falls_before_the_end():
    left, speeds = 1.0, [0.0]
    while left > 1e-4:
        speeds.append(next_speed(speeds[-1], left, cruise=0.05, gain=0.012))
        left -= speeds[-1]
    assert speeds[1:6] == pytest.approx([0.012, 0.024, 0.036, 0.048, 0.05])
    assert max(speeds) == 0.05
    assert sum(speeds) == pytest.approx(1.0, abs=1e-4)
    assert next_speed(0.05, 0.1, cruise=0.05, gain=0.012) == pytest.approx(TOUCH + 0.1 * BRAKE)


def test_one_action_goes_as_far_as_it_can():
    pose = np.array([0.0, 0.0, math.pi / 2])
    forward, turn = bolted(pose, np.array([0.0, 0.05, math.pi / 2]))
    assert (forward, turn) == (pytest.approx(0.05), 0.0)
    assert bolted(pose, np.array([0.0, -3.0, math.pi / 2])) == (-FORWARD_STEP, 0.0)
    assert bolted(pose, np.array([0.0, 0.0, 0.0]))[1] == -TURN_STEP
    # The short way around
    assert bolted(np.array([0.0, 0.0, 3.1]), np.array([0.0, 0.0, -3.1]))[1] == pytest.approx(
        2 * math.pi - 6.2
    )
