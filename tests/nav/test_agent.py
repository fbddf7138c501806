"""The kinematic agent: what its actions do, where it may be, and what it sees."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nav.agent import (
    FORWARD,
    LEFT,
    LOOK_DOWN,
    LOOK_UP,
    RIGHT,
    STOP,
    AgentConfig,
    polar_in_agent_frame,
    wrap,
)
from nav.worlds import AgentWorlds
from rearrange import UserError
from rearrange.navigation import room_at

RADIUS = AgentConfig().radius


def agent(pose, hall="empty_hall", **options):
    worlds = AgentWorlds(1, AgentConfig(camera_size=16, **options))
    worlds.place(0, hall, pose)
    return worlds


def play(worlds, *actions):
    for action in actions:
        worlds.step(np.array([action]))
    return worlds.poses[0]


def test_actions_are_habitats():
    worlds = agent((2.0, 2.0, 0.0))
    assert play(worlds, FORWARD) == pytest.approx((2.25, 2.0, 0.0))
    assert worlds.travelled[0] == pytest.approx(0.25)
    assert play(worlds, LEFT) == pytest.approx((2.25, 2.0, math.radians(10.0)))
    assert play(worlds, RIGHT, RIGHT) == pytest.approx((2.25, 2.0, math.radians(-10.0)))
    assert play(worlds, STOP) == pytest.approx((2.25, 2.0, math.radians(-10.0)))
    assert worlds.travelled[0] == 0.0
    worlds = agent((2.0, 2.0, math.pi / 2))
    assert play(worlds, FORWARD) == pytest.approx((2.0, 2.25, math.pi / 2))
    assert play(worlds, *[LEFT] * 36) == pytest.approx((2.0, 2.25, math.pi / 2))


def test_a_step_into_a_wall_stops_at_the_contact_or_slides_along_it():
    start = (5.7, 2.0, math.radians(60.0))  # 0.12 m from contact with the east wall
    worlds = agent(start, slide=False)
    x, y, _ = play(worlds, FORWARD)
    ahead = 0.12 / math.cos(math.radians(60.0))
    assert 6.0 - RADIUS - 0.01 < x <= 6.0 - RADIUS + 1e-6  # pieces of 0.01 m are checked
    assert y - 2.0 == pytest.approx(ahead * math.sin(math.radians(60.0)), abs=0.02)
    assert worlds.blocked[0]
    assert play(worlds, FORWARD)[:2] == pytest.approx((x, y), abs=0.01)
    worlds = agent(start, slide=True)
    x, y, _ = play(worlds, FORWARD)
    assert x == pytest.approx(6.0 - RADIUS, abs=0.01)
    assert y == pytest.approx(2.0 + 0.25 * math.sin(math.radians(60.0)), abs=0.01)
    assert worlds.blocked[0]
    assert worlds.travelled[0] == pytest.approx(math.hypot(x - start[0], y - start[1]))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    actions=st.lists(st.sampled_from((FORWARD, FORWARD, FORWARD, LEFT, RIGHT)), max_size=60),
    slide=st.booleans(),
)
@example(seed=980353754, actions=[FORWARD] * 10, slide=True)  # 0.058 m more than it drove
def test_the_agent_is_never_inside_an_obstacle(seed, actions, slide):
    rng = np.random.default_rng(seed)
    worlds = agent((1.0, 1.0, 0.0), "split_hall", slide=slide)
    point = worlds.scene(0).sample_points(rng, 40)[0]
    worlds.place(0, "split_hall", (*point, float(rng.uniform(-3.0, 3.0))), (1.0, 1.0))
    for action in actions:
        before, far = worlds.poses[0].copy(), worlds.distances[0]
        worlds.step(np.array([action]))
        assert room_at(worlds.scene(0).grid, *worlds.poses[0, :2]) >= RADIUS - 1e-9
        moved = math.dist(before[:2], worlds.poses[0, :2])
        assert moved == pytest.approx(worlds.travelled[0], abs=1e-12)
        assert moved <= 0.4 + 1e-9 if slide else moved <= 0.25 + 1e-9
        # Nobody comes nearer than by what was driven, up to the grid's error. Beside a blocked cell the wave
        # went along the sides of cells, and the distance is by way of one corner: a diagonal is allowed.
        diagonal = math.sqrt(2.0) * worlds.scene(0).grid.cell
        assert abs(worlds.distances[0] - far) <= moved + diagonal
        assert -math.pi <= worlds.poses[0, 2] <= math.pi


def test_depth_is_the_distance_along_the_optical_axis():
    worlds = agent((2.0, 2.0, 0.0))
    images = worlds.new_images()
    worlds.draw(images)
    depth = images["depth"][0, ..., 0] * worlds.config.depth_range
    assert depth.shape == (16, 16)
    assert depth[7:9, 7:9] == pytest.approx(4.0, abs=1e-4)  # the east wall
    # Row 15 looks down by 15/16 of the half height: the floor is 0.88 m below the camera.
    assert depth[15, 8] == pytest.approx(0.88 / (15 / 16), abs=1e-4)
    # The south wall is 2 m to the right: column 15 sees it 15/16 to the right per metre ahead.
    assert depth[8, 15] == pytest.approx(2.0 / (15 / 16), abs=1e-4)
    assert depth[8, 0] == pytest.approx(3.0 / (15 / 16), abs=1e-4)  # the north wall, 3 m


def test_the_camera_tilts_within_its_limit():
    worlds = agent((2.0, 2.0, 0.0), tilt_limit=60.0)
    pose = play(worlds, LOOK_DOWN).copy()
    assert worlds.tilts[0] == pytest.approx(math.radians(-30.0))
    play(worlds, LOOK_DOWN, LOOK_DOWN, LOOK_DOWN)
    assert worlds.tilts[0] == pytest.approx(math.radians(-60.0))
    play(worlds, *[LOOK_UP] * 5)
    assert worlds.tilts[0] == pytest.approx(math.radians(60.0))
    assert worlds.poses[0] == pytest.approx(pose)
    assert play(worlds, FORWARD) == pytest.approx((2.25, 2.0, 0.0))
    worlds.place(0, "empty_hall", (1.0, 1.0, 0.0))
    assert worlds.tilts[0] == 0.0


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_a_tilted_camera_sees_the_floor_and_the_wall_as_by_hand(yaw):
    worlds = agent((2.0, 2.0, yaw))
    play(worlds, LOOK_DOWN)
    images = worlds.new_images()
    worlds.draw(images)
    depth = images["depth"][0, ..., 0] * worlds.config.depth_range
    # Row 12 looks 9/16 below the axis per metre along it: of that and 30 degrees the floor takes 0.88 m.
    tilt = math.radians(30.0)
    for row, slope in ((9, 3 / 16), (12, 9 / 16), (15, 15 / 16)):
        fall = math.sin(tilt) + slope * math.cos(tilt)
        assert depth[row, 3:13] == pytest.approx(0.88 / fall, abs=1e-4)
    if (
        yaw == 0.0
    ):  # the east wall, 4 m ahead, over the horizon: 7/16 above the axis is 6 degrees down
        ahead = math.cos(tilt) + 15 / 16 * math.sin(tilt)
        assert depth[0, 8] == pytest.approx(4.0 / ahead, abs=1e-4)


def test_colours_are_those_of_what_is_seen():
    worlds = agent((2.0, 2.0, 0.0), "split_hall", rgb=True)
    images = worlds.new_images()
    worlds.draw(images)
    assert images["rgb"].dtype == np.uint8
    assert tuple(images["rgb"][0, 8, 8]) == (230, 26, 26)  # the wall in the middle
    assert tuple(images["rgb"][0, 15, 8]) == (51, 102, 153)  # the floor


@pytest.mark.parametrize("field", ["radius", "camera_size", "forward", "field_of_view"])
def test_senseless_agents_are_refused(field):
    with pytest.raises(UserError, match=rf"agent\.{field} must be from .* found 0"):
        AgentWorlds(1, AgentConfig(**{field: 0}))


def test_goals_are_told_in_polar_form_with_left_positive():
    poses = np.array([(1.0, 1.0, 0.0), (1.0, 1.0, math.pi / 2), (0.0, 0.0, math.radians(-170.0))])
    goals = np.array([(1.0, 3.0), (4.0, 1.0), (-1.0, 0.0)])
    expected = [(2.0, math.pi / 2), (3.0, -math.pi / 2), (1.0, math.radians(-10.0))]
    np.testing.assert_allclose(polar_in_agent_frame(poses, goals), expected)


@given(st.floats(-50.0, 50.0))
def test_wrapped_angles_are_the_same_angles(angle):
    wrapped = wrap(angle)
    assert -math.pi < wrapped <= math.pi
    assert math.cos(wrapped - angle) == pytest.approx(1.0)
