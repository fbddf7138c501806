import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim.base import NOTHING
from skills.oracle.base_planner import BasePlanner
from skills.oracle.obstacles import obstacles_of

BOX_SLOT = APARTMENT.slot_kinds.index("003_cracker_box")


@pytest.fixture(scope="module")
def home():
    return load_layout(3, 0)


def world(apartment, rotation=(1.0, 0.0, 0.0, 0.0), **opened):
    """A state with everything parked but one box in the middle of the apartment."""
    count = len(APARTMENT.slot_kinds)
    positions = np.full((1, count, 3), -50.0)
    x_min, y_min, x_max, y_max = apartment.bounds
    positions[0, BOX_SLOT] = (x_min + x_max) / 2, (y_min + y_max) / 2, 1.0
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (1, count, 1))
    rotations[0, BOX_SLOT] = rotation
    joints = np.array([[opened.get(name, 0.0) for name in APARTMENT.joints]])
    parts: Any = SimpleNamespace(
        articulated_joints=joints, object_position=positions, object_rotation=rotations
    )
    return parts


def test_a_box_that_lies_on_its_side_is_low_and_wide(home):
    apartment, _ = home
    half = np.array(OBJECT_KINDS["003_cracker_box"].parts[0].size)
    # A quarter turn about x, then 0.4 rad about z: what was y stands up now.
    quarter, yaw = math.sqrt(0.5), 0.4
    c, s = math.cos(yaw / 2), math.sin(yaw / 2)
    rotation = (c * quarter, c * quarter, s * quarter, s * quarter)
    boxes = obstacles_of(apartment, world(apartment, rotation), NOTHING).boxes
    lying = boxes[np.isclose(boxes[:, 2], 1.0) & np.isclose(boxes[:, 5], half[1])]
    assert len(lying) == 1
    assert sorted(lying[0, 3:5]) == pytest.approx(sorted([half[0], half[2]]))
    along_x = lying[0, 3] == pytest.approx(half[0])
    heading = math.atan2(lying[0, 7], lying[0, 6]) + (0.0 if along_x else math.pi / 2)
    assert math.remainder(heading - yaw, math.pi) == pytest.approx(0.0, abs=1e-6)


def test_only_what_stands_open_is_opened(home):
    apartment, _ = home
    assert len(obstacles_of(apartment, world(apartment), NOTHING).opened) == 0
    state = world(apartment, fridge_door=1.5)
    opened = obstacles_of(apartment, state, NOTHING).opened
    fridge = np.array(apartment.frames["fridge"].position[:2])
    assert len(opened) > 0
    assert np.hypot(*(opened[:, :2] - fridge).T).max() < 1.2
    drawers = obstacles_of(apartment, world(apartment, drawer_right_top=0.4), NOTHING).opened
    cabinet = np.array(apartment.frames["cabinet"].position[:2])
    assert np.hypot(*(drawers[:, :2] - cabinet).T).max() < 1.0


def test_the_torso_does_not_drive_into_an_open_door(home):
    apartment, grid = home
    frame = apartment.frames["fridge"]
    out = np.array([math.cos(frame.yaw), math.sin(frame.yaw)])
    left = np.array([-out[1], out[0]])
    # Abreast of the hinge, half a metre in front of the fridge: where an open door is.
    pose = np.array([*(np.array(frame.position[:2]) + 0.75 * out + 0.40 * left), frame.yaw])
    slack = {}
    for angle in (0.0, 1.5):
        obstacles = obstacles_of(apartment, world(apartment, fridge_door=angle), NOTHING)
        planner = BasePlanner(
            FETCH, grid, obstacles, np.array(FETCH.resting_arm), FETCH.planning.spheres
        )
        slack[angle] = planner.slack(pose)[0]
    assert slack[0.0] > 0.0
    assert slack[1.5] < 0.0
