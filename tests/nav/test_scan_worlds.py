"""Agents in scenes of files: what they see, how they move, and what is measured."""

import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual.material import PBRMaterial

from nav.agent import FORWARD, LEFT, LOOK_UP, AgentConfig
from nav.buildings import load_building
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode, SceneMesh
from nav.episode_files import ScanEpisodes
from nav.export import export
from nav.follower import Follower
from nav.habitat import read_episodes, write_episodes
from nav.scan import ScanKey, load_scan
from nav.scan_worlds import ScanWorlds
from nav.scene import Places, load_scene
from nav.worlds import AgentWorlds
from rearrange import UserError
from tests.helpers.scanned import HALL, UPSTAIRS, box, hall, room, two_storeys, write

BUILDING = "layout5000_variation00"
AGENT = AgentConfig(rgb=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scans")


@pytest.fixture(scope="module")
def hall_file(folder):
    return write(folder / "hall.glb", hall())


def in_scene(path, start, goal=None, height=0.0, goal_height=0.0):
    mesh = SceneMesh(path, start_height=height, goal_height=goal_height)
    return NavEpisode("test", path, start, goal, mesh=mesh)


def seen(worlds):
    images = worlds.new_images()
    worlds.draw(images)
    return images


def test_a_building_of_ours_looks_and_measures_the_same_as_a_file(folder):
    """The same floor, exported as Habitat's, read again: against our grid and primitives."""
    env = NavEnv("pointnav", split="val")
    scene, rng = load_scene(BUILDING, AGENT.radius), np.random.default_rng(0)
    drawn = (env.task.sample(scene, rng) for _ in range(6))
    episodes = [replace(each, episode_id=str(n)) for n, each in enumerate(drawn)]
    scenes, path = export(folder, "floors", "val", [load_building(BUILDING)], episodes)
    scan, grid = ScanWorlds(1, AGENT), AgentWorlds(1, AGENT)
    for mine, theirs in zip(episodes, read_episodes(path, scenes), strict=True):
        goal = Places(np.array([(*theirs.goal, 0.0)]), lone=True)
        geodesic, straight = scan.lengths(0, theirs, goal)
        assert geodesic == pytest.approx(mine.geodesic_distance, rel=0.03)
        assert straight == pytest.approx(math.dist(mine.start[:2], mine.goal), abs=0.06)
        scan.begin(0, theirs, goal)
        grid.place(0, mine.building, mine.start)
        scan.poses[:] = grid.poses
        for tilt in (0.0, 0.5):
            scan.tilts[:] = grid.tilts[:] = tilt
            ours, cast = seen(scan), seen(grid)
            near = np.abs(ours["depth"] - cast["depth"]) < 0.003
            assert near.mean() > 0.98
            alike = np.abs(ours["rgb"].astype(int) - cast["rgb"]).max(axis=-1) <= 2
            assert alike.mean() > 0.97


def test_textures_are_seen_without_light(folder):
    image = np.zeros((16, 16, 3), np.uint8)
    image[:8], image[8:] = (250, 0, 0), (0, 0, 250)
    points = [(3, 4, 0), (3, 0, 0), (3, 0, 2), (3, 4, 2)]  # upright, seen from the left
    visual = trimesh.visual.TextureVisuals(
        uv=[(0, 0), (1, 0), (1, 1), (0, 1)],
        material=PBRMaterial(baseColorTexture=Image.fromarray(image)),
    )
    picture = trimesh.Trimesh(points, [(0, 1, 2), (0, 2, 3)], visual=visual, process=False)
    path = write(folder / "picture.glb", [*room(6.0, 4.0), picture])
    worlds = ScanWorlds(1, AGENT)
    worlds.begin(0, in_scene(path, (1.0, 2.0, 0.0)), None)
    shown = seen(worlds)
    assert shown["depth"][0, 32, 32, 0] * AGENT.depth_range == pytest.approx(2.0, abs=1e-4)
    row = 32 - round(0.9 / 2.0 * 32)  # 1.78 m above the floor, in the upper half
    assert shown["rgb"][0, row, 32].tolist() == [250, 0, 0]
    assert shown["rgb"][0, 32 + 10, 32].tolist() == [0, 0, 250]


def test_motion_ends_at_walls_as_by_hand(hall_file):
    worlds = ScanWorlds(2, replace(AGENT, slide=False))
    worlds.begin(0, in_scene(hall_file, (4.0, 2.0, 0.0)), None)
    worlds.begin(1, in_scene(hall_file, (2.0, 6.0, math.pi / 2)), None)
    for _ in range(12):
        worlds.step(np.array([FORWARD, FORWARD]))
    assert worlds.blocked.all()
    assert worlds.poses[0, :2] == pytest.approx((4.95 - 0.18, 2.0), abs=0.04)
    assert worlds.poses[1, :2] == pytest.approx((2.0, HALL[1] - 0.18), abs=0.04)
    worlds.step(np.array([LEFT, LOOK_UP]))
    assert worlds.poses[0, 2] == pytest.approx(math.radians(10.0))
    assert worlds.tilts[1] == pytest.approx(math.radians(30.0))


def test_agents_climb_stairs_and_see_from_where_they_stand(folder):
    path = write(folder / "house.glb", two_storeys())
    worlds = ScanWorlds(3, AGENT)
    worlds.begin(0, in_scene(path, (8.0, 3.0, 0.0)), None)
    worlds.begin(1, in_scene(path, (1.0, 0.5, 0.0), height=0.0), None)
    worlds.begin(2, in_scene(path, (8.0, 3.0, 0.0), height=UPSTAIRS), None)
    assert worlds.scene(0) is worlds.scene(1)
    assert worlds.scene(0).meshes is worlds.scene(2).meshes
    assert worlds.heights == pytest.approx((0.0, 0.0, UPSTAIRS))
    for _ in range(14):
        worlds.step(np.array([LEFT, FORWARD, LEFT]))
    assert worlds.heights[1] == pytest.approx(0.17 * 10, abs=0.18)
    assert worlds.poses[1, 0] == pytest.approx(1.0 + 14 * 0.25)
    worlds.tilts[2], worlds.poses[2, 2] = -math.pi / 2, 0.0
    below = seen(worlds)["depth"][2, 32, 32, 0] * AGENT.depth_range
    assert below == pytest.approx(AGENT.camera_height, abs=0.01)


def test_only_goals_of_the_same_storey_are_reached(folder):
    path = write(folder / "house.glb", two_storeys())
    worlds = ScanWorlds(1, AGENT)
    episode = in_scene(path, (1.0, 3.0, 0.0), (8.0, 3.0))
    near, far = (Places(np.array([(8.0, 3.0, z)]), lone=True) for z in (0.0, UPSTAIRS))
    assert worlds.lengths(0, episode, near) == pytest.approx((7.0, 7.0), rel=0.01)
    assert worlds.lengths(0, episode, far) == (math.inf, math.inf)


def test_the_oracle_gets_there(hall_file):
    files = ScanEpisodes("pointnav", "", hall_file)
    env = NavEnv("pointnav", agent=replace(AGENT, camera_size=1), files=files)
    for seed in range(3):
        env.reset(seed=seed)
        worlds, info = env.worlds, {}
        goal = worlds.on_floor(0, env.task.origin(env.episode))
        follower = Follower(worlds.scene(0), goal, worlds.config)
        while "metrics" not in info:
            action = 0 if worlds.distances[0] < 0.15 else follower.act(worlds.poses[0])
            *_, info = env.step(action)
        assert info["metrics"]["success"] == 1.0
        assert info["metrics"]["spl"] > 0.9


@pytest.mark.parametrize("task", ["pointnav", "flee", "explore"])
def test_tasks_are_sampled_and_seeds_decide(task, hall_file):
    env = NavVectorEnv(6, task, agent=AGENT, files=ScanEpisodes(task, "", hall_file))
    first, _ = env.reset(seed=1)
    for _ in range(5):
        env.step(np.array([LEFT, FORWARD] * 3))
    again, _ = env.reset(seed=1)
    assert all((first[name] == again[name]).all() for name in first)
    assert len({id(env.worlds.scene(i).meshes) for i in range(6)}) == 1


def test_no_episode_is_sampled_on_the_roof(folder):
    ceiling = box((-0.1, -0.1, 2.5), (6.1, 4.1, 2.6))
    path = write(folder / "closed.glb", [*room(6.0, 4.0), ceiling])
    env = NavEnv("explore", agent=AGENT, files=ScanEpisodes("explore", "", path))
    for seed in range(10):
        env.reset(seed=seed)
        assert env.worlds.heights[0] == pytest.approx(0.0)
    scan = load_scan(ScanKey.of(env.episode.mesh, AGENT))
    assert {round(floor.level, 1) for floor in scan.floors} == {0.0, 2.6}


def test_episodes_of_a_file_are_played(folder, hall_file):
    episodes = [
        NavEpisode("near", "hall", (2.0, 2.0, 0.0), (2.0, 2.05)),
        NavEpisode("good", "hall", (2.0, 2.0, 0.5), (8.0, 2.0)),
        NavEpisode("off", "hall", (40.0, 2.0, 0.5), (8.0, 2.0)),
    ]
    path = folder / "hall.json.gz"
    write_episodes(path, episodes, scene="{}.glb")
    files = ScanEpisodes("pointnav", str(path), str(folder))
    env = NavEnv("pointnav", agent=AGENT, files=files)
    for seed in range(6):
        env.reset(seed=seed)
        assert env.episode.episode_id == "good"
        assert env.worlds.poses[0] == pytest.approx((2.0, 2.0, 0.5))
    near, good, off = read_episodes(path, folder)
    env.reset(options={"episode": good})
    with pytest.raises(UserError, match=r"'near': start_position: .* in 0.2 m or more"):
        env.reset(options={"episode": near})
    with pytest.raises(UserError, match=r"'off': start_position: .* on the floor of .*hall\.glb"):
        env.reset(options={"episode": off})
    with pytest.raises(UserError, match="'good' is in hall, not in a scanned scene"):
        env.worlds.lengths(0, replace(good, building="hall", mesh=None), good.goal)


@pytest.mark.parametrize("task", ["flee", "explore"])
def test_gps_begins_where_a_start_was_put_on_the_floor(task, hall_file):
    env = NavEnv(task, agent=AGENT, files=ScanEpisodes(task, "", hall_file))
    observation, _ = env.reset(options={"episode": in_scene(hall_file, (-0.3, 2.0, 0.5))})
    x, _, yaw = env.worlds.poses[0]
    assert x > AGENT.radius - 0.03
    assert yaw == 0.5
    np.testing.assert_array_equal(observation["gps"], 0.0)
    np.testing.assert_array_equal(observation["compass"], 0.0)
    env.close()


def test_view_points_of_a_file_are_goals(hall_file):
    worlds = ScanWorlds(1, AGENT)
    episode = in_scene(hall_file, (2.0, 2.0, 0.0))
    points = np.array([(2.0, 6.0, 0.0), (4.0, 2.0, 0.0), (2.0, 2.0, 3.0), (-5.0, 2.0, 0.0)])
    goal = Places(points)
    geodesic, straight = worlds.lengths(0, episode, goal)
    assert (geodesic, straight) == pytest.approx((2.0, 2.0), rel=0.01)
    worlds.begin(0, episode, goal)
    fields = {**worlds.scene(0).fields}
    assert sum(isinstance(key, Places) for key in fields) == 1  # others have played there
    worlds.lengths(0, episode, goal)  # nothing is worked out again
    assert worlds.scene(0).fields == fields


def test_a_single_view_point_may_not_lie_as_far_beside_the_floor_as_a_goal(hall_file):
    worlds = ScanWorlds(1, AGENT)
    episode, beside = in_scene(hall_file, (2.0, 2.0, 0.0)), np.array([(-0.5, 2.0, 0.0)])
    assert worlds.lengths(0, episode, Places(beside)) == (math.inf, math.inf)
    assert worlds.lengths(0, episode, Places(beside, lone=True))[0] < 2.0


def test_what_scans_cannot_do_is_said():
    with pytest.raises(UserError, match=r"agent\.goal_mask: scans come without our labels"):
        ScanWorlds(1, replace(AGENT, goal_mask=True))
    with pytest.raises(UserError, match="without our labels, which the frontier agent needs"):
        ScanWorlds(1, AGENT).categories_in_view()


def test_floors_that_nobody_is_on_are_forgotten(folder, hall_file):
    other = write(folder / "room.glb", [*room(6.0, 4.0), box((2, 1, 0.7), (3, 2, 0.75))])
    worlds = ScanWorlds(2, AGENT)
    worlds.begin(0, in_scene(hall_file, (2.0, 2.0, 0.0)), None)
    worlds.begin(1, in_scene(other, (1.0, 1.0, 0.0)), None)
    assert len(worlds.bank.scenes) == 2
    worlds.begin(0, in_scene(other, (5.0, 3.0, 0.0)), None)
    assert len(worlds.bank.scenes) == 1
    assert worlds.scene(0) is worlds.scene(1)
    worlds.step(np.array([FORWARD, FORWARD]))
    assert worlds.poses[:, :2] == pytest.approx(np.array([(5.25, 3.0), (1.25, 1.0)]))
