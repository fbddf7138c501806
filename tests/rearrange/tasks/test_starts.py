import math
from dataclasses import replace

import numpy as np
import pytest

from rearrange.navigation import OccupancyGrid, region_field
from rearrange.navigation.footprints import door_footprint
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment import ArticulatedPose
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.fridge import FRIDGE_DOOR
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.tasks import PickConfig, PlaceConfig, make_task
from rearrange.tasks.sampling import cluttered_scene, empty_scene
from rearrange.tasks.starts import (
    DETOUR,
    extra_ways,
    pose_away_from,
    pose_nearby,
    pose_within,
    standing_before,
    way_to_stand,
)
from rearrange.tasks.targets import add_shut_in

pytestmark = pytest.mark.usefixtures("one_variation")


@pytest.fixture
def simulator():
    made = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    yield made
    made.close()


@pytest.mark.parametrize("name", ["open_cab", "close_cab", "open_fridge", "close_fridge"])
def test_robots_rarely_touch_anything_at_the_start(simulator, name):
    task, rng = make_task(name), np.random.default_rng(0)
    touching = 0
    for _ in range(12):
        simulator.reset([0], [task.sample_episode("val", rng)])
        touching += simulator.state.contact_force[0] > 0.0
    assert touching <= 1


@pytest.mark.parametrize("joint", ["drawer_right_top", "drawer_bottom", "fridge_door"])
def test_handles_are_where_the_simulator_has_them(simulator, joint):
    task, rng = make_task("close_fridge"), np.random.default_rng(0)
    index = APARTMENT.joints.index(joint)
    for value in (0.0, 0.3, 0.44):
        scene = empty_scene("val", rng)
        scene.joints = {joint: value}
        pose = scene.grid.sample_pose(rng)
        target = add_shut_in(scene, "fridge_middle", rng)
        simulator.reset([0], [scene.episode((target,), pose, (0.0,) * 7, rng)])
        frame = (
            scene.apartment.frames["fridge"]
            if "fridge" in joint
            else scene.apartment.frames["cabinet"]
        )
        x, y = APARTMENT.part(joint).handle_at(value)
        c, s = math.cos(frame.yaw), math.sin(frame.yaw)
        expected = (frame.position[0] + c * x - s * y, frame.position[1] + s * x + c * y)
        found = simulator.state.handle_position[0, index, :2]
        np.testing.assert_allclose(found, expected, atol=0.005)
    assert task.name == "close_fridge"


def test_an_open_drawer_carries_what_is_in_it(simulator):
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    scene.joints = {"drawer_right_top": 0.42}
    target = add_shut_in(scene, "drawer_right_top", rng)
    surface = scene.apartment.receptacles["drawer_right_top"]
    yaw = scene.apartment.frames["cabinet"].yaw
    dx, dy = (target.start[k] - surface.position[k] for k in (0, 1))
    along, across = math.cos(yaw) * dx + math.sin(yaw) * dy, math.cos(yaw) * dy - math.sin(yaw) * dx
    assert abs(along - 0.42) <= 0.125
    assert abs(across) <= 0.16
    pose = pose_away_from(scene, target.start, 2.0, rng)
    simulator.reset([0], [scene.episode((target,), pose, (0.0,) * 7, rng)])
    idle = np.zeros((1, 10))
    for _ in range(20):
        simulator.step(idle)
    np.testing.assert_allclose(
        simulator.state.object_position[0, target.slot], target.start, atol=0.005
    )


def test_poses_are_far_or_as_far_as_it_gets():
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    point = scene.grid.sample_pose(rng)
    for _ in range(20):
        assert math.dist(pose_away_from(scene, point, 3.0, rng)[:2], point[:2]) > 3.0
    farthest = pose_away_from(scene, point, 1e3, rng)  # ends although nothing is that far
    assert scene.grid.on_island(*farthest[:2])
    assert math.dist(farthest[:2], point[:2]) > 3.0


def test_poses_are_within_a_distance_or_as_near_as_was_tried():
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    point = scene.grid.sample_pose(rng)
    for _ in range(20):
        assert math.dist(pose_within(scene, point, 3.0, rng)[:2], point[:2]) <= 3.0
    tried = [math.dist(pose_within(scene, point, 0.0, rng)[:2], point[:2]) for _ in range(5)]
    assert max(tried) < 3.0  # the nearest of 50


def test_poses_are_near_or_as_near_as_it_gets():
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    x0, y0, x1, y1 = scene.apartment.bounds
    outside = (x1 + 3.0, 0.5 * (y0 + y1))
    # It ends although nothing is that near
    pose = pose_nearby(FETCH, scene, "sink", outside, 0.5, 0.0, rng)
    assert 3.0 < math.dist(pose[:2], outside) < x1 - x0 + 3.0
    heading = math.atan2(outside[1] - pose[1], outside[0] - pose[0])
    assert math.remainder(pose[2] - heading, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_standing_room_is_looked_for_in_the_whole_rectangle_in_the_end():
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    scene.joints = {"fridge_door": 0.9}  # the open door leaves no room in the middle
    poses = [
        standing_before(FETCH, scene, "fridge_door", 1.04, (0.21, 0.6), 0.0, 0.1, rng)
        for _ in range(10)
    ]
    assert all(pose is not None for pose in poses)
    assert len({pose[:2] for pose in poses if pose}) == 10


def test_no_room_is_told():
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    inside_the_fridge = standing_before(FETCH, scene, "fridge_door", 0.0, (0.0, 0.0), 1.0, 0.1, rng)
    assert inside_the_fridge is None


def on_floor(frame, u, v):
    """World x and y of a place in a piece of furniture's frame [m]."""
    c, s = math.cos(frame.yaw), math.sin(frame.yaw)
    return frame.position[0] + c * u - s * v, frame.position[1] + s * u + c * v


@pytest.mark.parametrize("angle", [0.3, 1.5, 2.2])
def test_the_open_door_covers_the_floor_that_it_has_in_the_simulator(simulator, angle):
    rng = np.random.default_rng(0)
    scene = empty_scene("val", rng)
    scene.joints = {"fridge_door": angle}
    target = add_shut_in(scene, "fridge_middle", rng)
    pose = pose_away_from(scene, target.start, 2.0, rng)
    simulator.reset([0], [scene.episode((target,), pose, (0.0,) * 7, rng)])
    model, data = simulator.worlds[0].model, simulator.data[0]
    ((x, y, half_x, half_y, yaw, _),) = door_footprint(
        FRIDGE_DOOR, scene.apartment.frames["fridge"], angle
    )
    c, s = math.cos(yaw), math.sin(yaw)
    covered = []
    for name in ("fridge_door_panel", "fridge_door_bin"):
        geom = model.geom(name).id
        middle, turn = data.geom_xpos[geom][:2], data.geom_xmat[geom].reshape(3, 3)[:2, :2]
        for corner in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            dx, dy = middle + turn @ (corner * model.geom_size[geom][:2]) - (x, y)
            covered.append((c * dx + s * dy, c * dy - s * dx))
    low, high = np.min(covered, axis=0), np.max(covered, axis=0)
    np.testing.assert_allclose(high, (half_x, half_y), atol=1e-6)
    np.testing.assert_allclose(low, (-half_x, -half_y), atol=1e-6)


def test_the_floor_under_a_door_that_opens_clockwise_is_as_in_a_mirror():
    x, y = FRIDGE_DOOR.hinge
    mirrored = replace(FRIDGE_DOOR, hinge=(x, -y), clockwise=True)
    frame = ArticulatedPose((0.0, 0.0, 0.0), 0.0)
    ((x, y, *half, yaw, _),) = door_footprint(FRIDGE_DOOR, frame, 1.2)
    found = door_footprint(mirrored, frame, 1.2)[0]
    assert found == pytest.approx((x, -y, *half, -yaw, 0.0))


def test_the_way_to_what_is_in_the_open_fridge_leads_around_its_door():
    scene = empty_scene("val", np.random.default_rng(0))
    frame = scene.apartment.frames["fridge"]

    def way(u, v, joints):
        field = way_to_stand(
            FETCH, scene.apartment, scene.grid, "fridge_middle", frame.position[:2], joints
        )
        return field.at(*on_floor(frame, u, v))

    behind, before = (0.75, 0.75), (1.3, -0.1)
    assert way(*before, {}) == pytest.approx(0.64 - 0.35, abs=0.08)
    assert way(*behind, {}) < 0.7
    opened = {"fridge_door": 1.5}
    there = math.dist(before, (0.75, -0.3))
    assert way(*before, opened) == pytest.approx(there - 0.35, abs=0.08)
    assert way(*behind, opened) > way(*behind, {}) + 0.5


@pytest.mark.usefixtures("one_variation")
def test_one_does_not_reach_the_counter_through_the_fridges_open_door():
    scene = empty_scene("val", np.random.default_rng(0))
    frame = scene.apartment.frames["fridge"]
    thing = on_floor(frame, 0.05, 0.8)

    def way(place, joints):
        field = way_to_stand(FETCH, scene.apartment, scene.grid, "counter_left", thing, joints)
        return field.at(*on_floor(frame, *place))

    before, beside = (0.8, -0.1), (0.8, 1.0)
    assert way(before, {}) < 0.5
    assert way(before, {"fridge_door": 1.5}) > 1.0
    assert way(beside, {"fridge_door": 1.5}) == way(beside, {}) == 0.0


@pytest.mark.parametrize("value", [0.0, 0.4])
def test_one_stands_before_the_handle_of_a_drawer(value):
    scene = empty_scene("val", np.random.default_rng(0))
    joints = {"drawer_right_top": value}
    inside = scene.apartment.frames["cabinet"].position[:2]
    field = way_to_stand(FETCH, scene.apartment, scene.grid, "drawer_right_top", inside, joints)
    handle = APARTMENT.part("drawer_right_top").handle_at(value)
    place = on_floor(scene.apartment.frames["cabinet"], handle[0] + 0.35, handle[1])
    away = [math.dist(cell, place) for cell in field.goals]
    assert max(away) <= 0.35
    assert min(away) <= 0.05
    assert len(away) > 30


@pytest.mark.usefixtures("one_variation")
def test_the_way_to_what_is_on_an_open_receptacle_ends_within_reach_of_it():
    rng = np.random.default_rng(0)
    for _ in range(3):
        scene = cluttered_scene("val", rng)
        for slot in scene.objects:
            receptacle, (x, y, _) = scene.receptacle_of[slot], scene.position(slot)
            field = way_to_stand(FETCH, scene.apartment, scene.grid, receptacle, (x, y), {})
            away = [math.dist(cell, (x, y)) for cell in field.goals]
            assert max(away) <= 0.85 or len(away) == 1


@pytest.mark.parametrize("name", ["pick", "place"])
def test_robots_begin_on_the_side_of_the_wall_from_which_they_get_there(name):
    """From none the way is much longer than around what stands within two metres."""
    task, rng = make_task(name), np.random.default_rng(2)
    task.FARTHEST_WAY = math.inf  # a way that is too long is measured, too
    for _ in range(15):
        episode = task.sample_episode("val", rng)
        way = task.way(episode).at(*episode.base_pose[:2])
        assert way < 4.0 or not math.isfinite(way)  # within the open door, which has no way


def test_behind_a_wall_the_way_is_longer_than_straight_by_what_leads_around_it():
    free = np.ones((80, 80), bool)  # 4 m x 4 m
    free[40, :60] = False  # a wall at x = 2 m whose end is at y = 3 m
    grid = OccupancyGrid.from_floor("two rooms", (0.0, 0.0), free)
    point, reach = (2.6, 1.0), FETCH.reach.standing
    region = np.zeros_like(grid.island)
    region[grid.cell_of(*point)] = True
    extra = extra_ways(FETCH, region_field(grid, region), point)
    within = extra[grid.cell_of(3.4, 1.0)]  # where straight is no way at all
    assert within == pytest.approx(0.8, abs=0.03)
    assert extra[grid.cell_of(2.6, 3.0)] == pytest.approx(reach, abs=0.03)
    # At least by the point 0.3 m beyond the wall's end, and by no more than the disc's arc around that
    bent = math.dist((1.0, 1.0), (2.0, 3.3)) + math.dist((2.0, 3.3), point)
    around = extra[grid.cell_of(1.0, 1.0)] + 1.6 - reach
    assert bent - 0.05 < around < bent + 0.3 * math.pi


@pytest.mark.parametrize(("name", "config"), [("pick", PickConfig), ("place", PlaceConfig)])
def test_starts_with_a_way_around_something_can_be_asked_for(name, config):
    shares = {}
    for asked in (0.0, 1.0):
        task, rng, extra = make_task(name, config(detour_share=asked)), np.random.default_rng(0), []
        for _ in range(14):
            episode = task.sample_episode("val", rng)
            target, (x, y, _) = episode.targets[0], episode.base_pose
            goal = target.goal if name == "place" else target.start
            straight = max(math.dist((x, y), goal[:2]) - FETCH.reach.standing, 0.0)
            assert math.dist((x, y), goal[:2]) <= task.config.start_distance + 0.1
            extra.append(task.way(episode).at(x, y) - straight)
        shares[asked] = np.mean(np.array(extra) > 0.8 * DETOUR)
    assert shares[0.0] < 0.4
    assert shares[1.0] > shares[0.0] + 0.3
