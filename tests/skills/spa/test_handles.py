"""Finding objects, handles and the door in point clouds made by hand."""

import math

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.scenes.apartment import ArticulatedPose
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.sim.mujoco import SimulatorConfig
from skills.oracle.fixtures import Fixture
from skills.players import argument_of
from skills.spa.handles import (
    Handle,
    drawer_opening,
    find_door,
    find_handle,
    fixture_at,
    furniture,
)
from skills.spa.senses import Senses
from tests.helpers.point_clouds import box_points


@pytest.mark.parametrize(("task", "opens"), [("open_cab", True), ("close_cab", False)])
def test_a_drawer_s_handle_and_opening_are_read_from_depth(task, opens):
    env = RearrangeEnv(task, split="val", simulator=SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    senses = Senses()
    told = senses.attend(env, argument_of(task, env.episode).position)
    senses.look()
    handle = find_handle(senses.around_focus(), told, senses.base_pose, is_door=False)
    assert handle is not None
    joint = APARTMENT.joints.index("drawer_right_top")
    true = senses.observed.to_start_frame(env.state.handle_position[0, joint].tolist())
    # The state names the middle of the handle, half its depth behind the outer face.
    np.testing.assert_allclose(handle.center[:2] - 0.0175 * handle.outward, true[:2], atol=0.02)
    assert handle.center[2] == pytest.approx(true[2], abs=0.01)
    opening = drawer_opening(senses.around_focus(), handle)
    assert opening == pytest.approx(env.state.articulated_joints[0, joint], abs=0.03)


@pytest.mark.parametrize("opening", [0.9, 1.5, 2.0])
def test_the_open_door_s_angle_and_hinge_are_read(opening):
    true = Fixture(FRIDGE_DOOR, ArticulatedPose((2.0, 0.3, 0.0), math.radians(170)), APARTMENT)
    front, door = (2.0, 0.3), true.boxes(opening)[0]
    setback = np.array([math.cos(math.radians(170)), math.sin(math.radians(170))])
    freezer = (*(front + 0.3 * setback), 0.3, 0.035, 0.35, 0.25, *setback)
    cloud = np.vstack([box_points(freezer), box_points(door)])
    found = find_door(cloud, np.array([*front, 1.0]), np.array([0.3, 0.0, 0.0]))
    assert found is not None
    fixture, angle = found
    assert angle == pytest.approx(opening, abs=0.03)
    np.testing.assert_allclose(fixture.hinge, true.hinge, atol=0.03)


def test_a_model_laid_onto_a_handle_has_its_handle_there():
    true = Fixture(FRIDGE_DOOR, ArticulatedPose((-1.0, 2.0, 0.0), math.radians(-70)), APARTMENT)
    laid = fixture_at(Handle(true.handle(0.4), true.outward(0.4)), is_door=True, opening=0.4)
    np.testing.assert_allclose(laid.hinge, true.hinge, atol=1e-9)
    np.testing.assert_allclose(furniture(laid, 0.4)[-1], true.boxes(0.4)[-1], atol=1e-9)


def test_no_handle_where_nothing_stands_out():
    flat = box_points((1.0, 0.0, 0.7, 0.02, 0.5, 0.2, 1.0, 0.0))
    assert find_handle(flat, np.array([1.2, 0.0, 0.7]), np.zeros(3), is_door=False) is None
