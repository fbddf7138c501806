"""Finding objects, handles and the door in point clouds made by hand."""

import math

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.scenes.apartment import ARTICULATED_JOINTS, ArticulatedPose
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
from skills.spa.pick import segment
from skills.spa.senses import Senses

GRAIN = 0.008


def box_points(row, eye=(0.0, 0.0, 1.2)):
    """Points [P, 3] on the faces of an upright box [8] that look towards an eye."""
    x, y, z, half_x, half_y, half_z, cosine, sine = row
    faces = []
    dx, dy, dz = np.subtract(eye, (x, y, z))
    seen_from = np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, dz])
    for axis, other, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        half = np.array([half_x, half_y, half_z])
        u, v = np.meshgrid(
            *(
                np.linspace(-half[k], half[k], max(int(2 * half[k] / GRAIN), 2))
                for k in (other, third)
            )
        )
        for side in (-1, 1):
            if side * seen_from[axis] < half[axis]:
                continue
            face = np.empty((u.size, 3))
            face[:, axis], face[:, other], face[:, third] = side * half[axis], u.ravel(), v.ravel()
            faces.append(face)
    points = np.vstack(faces)
    turned = points @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    return turned + np.array([x, y, z])


def test_an_object_on_a_table_is_found_with_its_top_and_support():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    can = box_points((1.0, 0.1, 0.72 + 0.05, 0.03, 0.03, 0.05, 1.0, 0.0))
    other = box_points((1.0, -0.15, 0.72 + 0.1, 0.03, 0.03, 0.1, 1.0, 0.0))
    sighting = segment(np.vstack([table, can, other]), np.array([1.0, 0.1, 0.77]))
    assert sighting.top == pytest.approx([1.0, 0.1, 0.82], abs=0.005)
    assert sighting.support == pytest.approx(0.72, abs=0.005)
    assert 0.03 <= sighting.radius <= 0.05


def test_an_unseen_object_is_expected_as_high_over_its_centre_as_it_stands_under_it():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    sighting = segment(table, np.array([1.0, 0.1, 0.80]))
    assert sighting.count == 0
    assert sighting.top == pytest.approx([1.0, 0.1, 0.88], abs=0.005)


def test_a_moved_object_is_aimed_at_where_it_is():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    can = box_points((1.0, 0.165, 0.77, 0.03, 0.03, 0.05, 1.0, 0.0))
    sighting = segment(np.vstack([table, can]), np.array([1.0, 0.1, 0.77]))
    assert sighting.top[1] > 0.13


@pytest.mark.parametrize(("task", "opens"), [("open_cab", True), ("close_cab", False)])
def test_a_drawer_s_handle_and_opening_are_read_from_depth(task, opens):
    env = RearrangeEnv(task, split="val", simulator=SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    senses = Senses()
    told = senses.attend(env, argument_of(task, env.episode).position)
    senses.look()
    handle = find_handle(senses.around_focus(), told, senses.base_pose, is_door=False)
    assert handle is not None
    joint = ARTICULATED_JOINTS.index("drawer_right_top")
    true = senses.observed.to_start_frame(env.state.handle_position[0, joint].tolist())
    # The state names the middle of the handle, half its depth behind the outer face.
    np.testing.assert_allclose(handle.center[:2] - 0.0175 * handle.outward, true[:2], atol=0.02)
    assert handle.center[2] == pytest.approx(true[2], abs=0.01)
    opening = drawer_opening(senses.around_focus(), handle)
    assert opening == pytest.approx(env.state.articulated_joints[0, joint], abs=0.03)


@pytest.mark.parametrize("opening", [0.9, 1.5, 2.0])
def test_the_open_door_s_angle_and_hinge_are_read(opening):
    true = Fixture("fridge_door", ArticulatedPose((2.0, 0.3, 0.0), math.radians(170)))
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
    true = Fixture("fridge_door", ArticulatedPose((-1.0, 2.0, 0.0), math.radians(-70)))
    laid = fixture_at(Handle(true.handle(0.4), true.outward(0.4)), is_door=True, opening=0.4)
    np.testing.assert_allclose(laid.hinge, true.hinge, atol=1e-9)
    np.testing.assert_allclose(furniture(laid, 0.4)[-1], true.boxes(0.4)[-1], atol=1e-9)


def test_no_handle_where_nothing_stands_out():
    flat = box_points((1.0, 0.0, 0.7, 0.02, 0.5, 0.2, 1.0, 0.0))
    assert find_handle(flat, np.array([1.2, 0.0, 0.7]), np.zeros(3), is_door=False) is None
