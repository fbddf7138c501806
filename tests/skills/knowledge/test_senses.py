"""What replanning takes the head camera to show, against images worked out by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.render import Camera, View
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.mujoco import SimulatorConfig
from skills.knowledge import HANDLE, Observed, Truth
from skills.knowledge.senses import around, is_clear, is_seen

FRIDGE = APARTMENT.joints.index("fridge_door")
CAN = OBJECT_KINDS["005_tomato_soup_can"]


def looking_ahead(depth):
    """A camera at the origin that looks along x, z up, before a flat wall."""
    rotation = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return View(Camera(64, 64, 90.0), np.zeros(3), rotation, np.full((64, 64), depth))


@pytest.mark.parametrize(
    ("point", "clear"),
    [
        ((1.9, 0.0, 0.0), True),
        ((2.02, 0.0, 0.0), True),  # within the margin behind the wall
        ((2.1, 0.0, 0.0), False),  # behind the wall
        ((1.0, 0.9, 0.0), True),  # 42 degrees to the left
        ((1.0, 1.1, 0.0), False),  # out of the image, to the left,
        ((1.0, -1.1, 0.0), False),  # to the right,
        ((1.0, 0.0, 1.1), False),  # over it
        ((1.0, 0.0, -1.1), False),  # and under it
        ((-1.0, 0.0, 0.0), False),  # behind the camera
    ],
)
def test_clear_is_what_is_in_the_image_with_nothing_before_it(point, clear):
    assert is_clear(looking_ahead(2.0), point) == clear


def test_points_are_judged_together():
    points = np.array([[[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]])
    assert is_clear(looking_ahead(2.0), points).tolist() == [[True, False]]


def test_points_around_a_place():
    points = around((1.0, 2.0, 3.0), 0.5, 0.1)
    assert points.shape == (8, 3)
    np.testing.assert_allclose(np.hypot(*(points[:, :2] - (1.0, 2.0)).T), 0.5)
    np.testing.assert_allclose(points[:, 2], 3.1)
    np.testing.assert_allclose(points.mean(axis=0), (1.0, 2.0, 3.1))


def test_half_hidden_objects_are_seen():
    view = looking_ahead(2.0)
    center = (1.0, 0.0, 0.0)
    assert is_seen(view, center, CAN)
    view.depth[:, :32] = 0.5  # something stands before its left half
    assert is_seen(view, center, CAN)
    view.depth[:] = 0.5
    assert not is_seen(view, center, CAN)


@pytest.fixture
def world():
    """A state without a world."""
    return SimpleNamespace(state=SimState(1, FETCH), robot=FETCH)


@pytest.fixture(scope="module")
def kitchen():
    """A start of Pick in the real world: the robot near an object, roughly facing it."""
    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=128))
    env.reset(seed=1)
    yield env
    env.close()


@pytest.fixture
def facing(kitchen):
    """The robot's camera brought to 0.9 m from the target, at which it looks askew; put back later."""
    pose = kitchen.state.base_pose[0].copy()
    kitchen.reset(seed=1)
    x, y, _ = kitchen.episode.targets[0].start
    heading = math.atan2(y - pose[1], x - pose[0])
    kitchen.state.base_pose[0] = (
        x - 0.9 * math.cos(heading),
        y - 0.9 * math.sin(heading),
        heading - 0.5,
    )
    yield kitchen
    kitchen.state.base_pose[0] = pose


def test_the_camera_finds_an_object_before_the_robot(facing):
    target = facing.episode.targets[0]
    found = Observed().find(facing, target.slot, target.start)
    assert found is not None
    assert math.dist(found, target.start) < 0.02
    x, y, z = target.start
    assert Observed().find(facing, target.slot, (x + 5.0, y, z)) is None  # not where it is expected


def test_behind_the_robot_nothing_is_known(facing):
    target = facing.episode.targets[0]
    x, y, z = target.start
    above = (x, y, z + 0.15)
    assert Observed().shows(facing, above)
    facing.state.base_pose[0, 2] += math.pi
    assert not Observed().shows(facing, above)
    assert Observed().find(facing, target.slot, target.start) is None
    # The truth needs no eyes.
    assert Truth().shows(facing, above)
    assert math.dist(Truth().find(facing, target.slot, target.start), target.start) < 0.02


def test_a_door_is_known_to_who_stands_before_it(world):
    world.state.articulated_joints[0, FRIDGE] = 0.7
    world.state.handle_position[0, FRIDGE] = (1.9, 0.0, 1.0)
    assert Observed().opening(world, "fridge_door") == pytest.approx(0.7)
    world.state.handle_position[0, FRIDGE] = (2.1, 0.0, 1.0)
    assert Observed().opening(world, "fridge_door") is None
    assert Truth().opening(world, "fridge_door") == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("held", "likely", "observed"),
    [
        (NOTHING, [3], NOTHING),
        (3, [3], 3),
        (4, [3], 3),  # both are cracker boxes
        (8, [3], 6),  # a sugar box: which of the three cannot be seen
        (6, [3, 8], 8),  # it was where that one was believed to be
        (4, [], 5),  # no task asks for that one
    ],
)
def test_the_hand_is_judged_by_kind(world, held, likely, observed):
    world.state.held_object[0] = held
    targets = [SimpleNamespace(slot=slot) for slot in (3, 4)]
    world.episode = SimpleNamespace(objects=dict.fromkeys(range(30)), targets=targets)
    assert Observed().in_hand(world, likely) == observed
    assert Truth().in_hand(world, likely) == held


def test_a_handle_is_no_object(world):
    world.state.held_handle[0] = FRIDGE
    assert Observed().in_hand(world, [3]) == Truth().in_hand(world, [3]) == HANDLE


def test_an_object_in_the_hand_has_a_place_a_handle_has_none(world):
    assert Observed().at_cup(world) is Truth().at_cup(world) is None
    world.state.held_handle[0] = FRIDGE
    assert Observed().at_cup(world) is None
    world.state.held_handle[0], world.state.held_object[0] = NOTHING, 3
    world.state.object_position[0, 3] = (1.0, 2.0, 3.0)
    assert Observed().at_cup(world) == Truth().at_cup(world) == (1.0, 2.0, 3.0)
