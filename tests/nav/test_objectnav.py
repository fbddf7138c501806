"""ObjectNav: an episode by hand, what is observed, episodes that are drawn, and categories."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nav.agent import FORWARD, LEFT, LOOK_DOWN, STOP, AgentConfig
from nav.categories import CATEGORIES
from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.objectnav import ObjectNav, ObjectNavConfig
from nav.scene import Places, load_scene
from rearrange import UserError

SMALL = replace(ObjectNav.agent_config(), camera_size=16)
TV = CATEGORIES.index("tv_monitor")
SOUTH = (1.0, 4.0, -math.pi / 2)  # 2.975 m before the nearest view point, (1.025, 1.025)


def make(config=None, agent=SMALL):
    return NavEnv("objectnav", config, "val", agent=agent)


def begin(env, start, category="tv_monitor", building="empty_hall", points=None):
    places = None if points is None else Places(np.array(points))
    episode = NavEpisode("test", building, start, category=category, view_points=places)
    return env.reset(options={"episode": episode})[0]


def run(env, *actions):
    """Sum of rewards, and the metrics if the episode ended with the last action."""
    total, info = 0.0, {}
    for action in actions:
        _, reward, _, _, info = env.step(action)
        total += reward
    return total, info.get("metrics")


def test_a_drive_to_the_television_by_hand():
    env = make()
    begin(env, SOUTH)
    total, told = run(env, *[FORWARD] * 12, STOP)  # to y = 1.0
    assert told["success"] == 1.0
    assert told["geodesic_distance"] == pytest.approx(2.975, abs=0.02)
    assert told["difficulty_ratio"] == pytest.approx(1.0, abs=0.01)
    assert told["spl"] == pytest.approx(2.975 / 3.0, abs=0.01)
    assert told["distance_to_goal"] < 0.06
    assert total == pytest.approx(2.975 - 0.035 - 13 * 0.001 + 2.5, abs=0.05)


def test_success_is_within_0_1_m_of_a_view_point():
    env = make()
    begin(env, (1.025, 4.0, -math.pi / 2))
    _, told = run(env, *[FORWARD] * 11, STOP)  # to y = 1.25
    assert told["distance_to_goal"] == pytest.approx(0.225, abs=0.02)
    assert told["success"] == 0.0
    assert told["failure/stopped_elsewhere"] == 1.0


def test_observations_by_hand():
    env = make()
    seen = begin(env, SOUTH)
    assert set(seen) == {"depth", "rgb", "objectgoal", "gps", "compass"}
    assert seen["objectgoal"].sum() == seen["objectgoal"][TV] == 1.0
    env.step(FORWARD)
    seen = env.step(LEFT)[0]
    assert seen["gps"] == pytest.approx((0.25, 0.0), abs=1e-6)
    assert seen["compass"] == pytest.approx([math.radians(30.0)])
    before = seen["depth"].copy()
    assert (env.step(LOOK_DOWN)[0]["depth"] != before).any()
    assert env.action_space.n == 6


def test_the_camera_tells_categories_apart():
    env = make()
    begin(env, (1.0, 2.5, -math.pi / 2))
    labels = env.worlds.categories_in_view()[0]
    assert set(np.unique(labels)) == {0, 1 + TV}
    assert labels[5, 8] == 1 + TV  # 1.3 m above the floor, 2.5 m ahead
    assert labels[12, 8] == 0
    assert env.observe()["rgb"][5, 8] == pytest.approx((26, 26, 26))


@pytest.mark.parametrize("rgb", [False, True])
def test_the_goal_mask_shows_what_is_of_the_category(rgb):
    env = make(agent=replace(SMALL, rgb=rgb, goal_mask=True))
    seen = begin(env, (1.0, 2.5, -math.pi / 2))
    assert env.observation_space.contains(seen)
    labels = env.worlds.categories_in_view()[0]
    np.testing.assert_array_equal(seen["goal_mask"][..., 0], 255 * (labels == 1 + TV))
    assert seen["goal_mask"].any()
    assert not begin(env, (1.0, 2.5, math.pi / 2))["goal_mask"].any()  # looks the other way
    far = begin(make(agent=replace(SMALL, rgb=rgb)), (1.0, 2.5, -math.pi / 2))["depth"]
    np.testing.assert_array_equal(seen["depth"], far)


def test_a_task_without_categories_has_no_goal_mask():
    with pytest.raises(UserError, match=r"agent\.goal_mask: pointnav seeks no category"):
        NavEnv("pointnav", agent=replace(SMALL, goal_mask=True))


def test_colours_are_seen_beyond_the_depth_range():
    env = make()
    begin(env, (0.4, 2.5, 0.0))
    seen = env.observe()
    assert seen["depth"][8, 8] == 1.0  # the east wall, 5.6 m ahead
    assert seen["rgb"][8, 8] == pytest.approx((128, 128, 128), abs=1)
    assert seen["depth"].max() == 1.0


def test_drawn_episodes_keep_their_limits():
    task = make(ObjectNavConfig(nearest_start=1.5, farthest_start=3.0)).task
    scene = load_scene("split_hall", SMALL.radius)
    rng = np.random.default_rng(0)
    for _ in range(50):
        episode = task.sample(scene, rng)
        assert episode.category == "table"
        assert scene.is_free(*episode.start[:2])
        assert 1.5 <= episode.geodesic_distance <= 3.0
        assert episode.geodesic_distance == scene.distances(
            np.array([episode.start[:2]]), task.origin(episode)
        )


def test_given_view_points_count_where_the_floor_is():
    """At (1.5, 0.1) the disc nearly fits; at (3.0, 0.0) and (3.0, -4.0) the floor is farther off."""
    env = make()
    near, far = [(1.0, 2.0), (1.5, 0.1)], [(3.0, 0.0), (3.0, -4.0)]
    begin(env, (3.0, 1.0, 0.0), points=near + far)
    places = env.task.origin(env.episode)
    np.testing.assert_array_equal(places.points, near)
    assert env.task.origin(env.episode) is places
    assert env.worlds.distances[0] == pytest.approx(math.hypot(1.5, 0.85), abs=0.08)
    _, told = run(env, STOP)
    assert told["difficulty_ratio"] == pytest.approx(1.0, abs=0.06)
    begin(env, (3.0, 1.0, 0.0), points=near)
    assert env.task.origin(env.episode) is env.episode.view_points
    with pytest.raises(
        UserError, match=r"'test': view_points: expected one in empty_hall .* 0\.15 m"
    ):
        begin(env, (3.0, 1.0, 0.0), points=far)
    assert env.episode.view_points.points.tolist() == [list(point) for point in near]


@pytest.mark.parametrize(
    ("start", "category", "points", "told"),
    [
        ((3.0, 2.0, 0.0), "tv_monitor", [(3.0, 2.05)], "a view point is reached in 0.1 m or more"),
        ((3.0, 2.0, 0.0), None, [(1.0, 2.0)], r"object_category: .*\(tv_monitor\), found None"),
        ((3.0, 2.0, 0.0), "throne", [(1.0, 2.0)], "object_category: .*, found throne"),
    ],
)
def test_a_refused_episode_leaves_the_one_before(start, category, points, told):
    env = make()
    begin(env, SOUTH)
    env.step(FORWARD)
    before = env.episode, env.worlds.poses.tolist(), env.worlds.distances.tolist()
    with pytest.raises(UserError, match=told):
        begin(env, start, category, points=points)
    assert before == (env.episode, env.worlds.poses.tolist(), env.worlds.distances.tolist())
    assert run(env, *[FORWARD] * 11, STOP)[1]["success"] == 1.0


def test_bad_numbers_and_episodes_are_refused():
    with pytest.raises(UserError, match=r"task\.view_distance must be positive, found 0"):
        make(ObjectNavConfig(view_distance=0.0))
    with pytest.raises(UserError, match=r"task\.nearest_start must lie between"):
        make(ObjectNavConfig(nearest_start=0.05))
    with pytest.raises(UserError, match="no object with a start between"):
        make(ObjectNavConfig(nearest_start=20.0)).reset(seed=0)
    for category in ("sofa", None):
        with pytest.raises(UserError, match=r"seen in empty_hall \(tv_monitor\), found"):
            begin(make(), SOUTH, category)
    with pytest.raises(UserError, match="start_position: expected a place from where a view point"):
        begin(make(), (1.025, 0.925, 0.0))
    with pytest.raises(UserError, match=r"agent\.tilt must be from 0\.01 to 85, found 0"):
        make(agent=AgentConfig(tilt=0.0))
