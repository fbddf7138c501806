"""ObjectNav episodes in Habitat's schema."""

import copy
import gzip
import json
import math

import numpy as np
import pytest

from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.habitat_objects import read_object_episodes, write_object_episodes
from rearrange import UserError

VIEW = {"agent_state": {"position": [2.0, 0.1, -3.0], "rotation": [0, 0, 0, 1]}, "iou": 0.1}
GOOD = {
    "category_to_task_category_id": {"bed": 6},
    "goals_by_category": {
        "layout5000_variation00.glb_bed": [
            {"position": [1.0, 0.4, -2.0], "object_category": "bed", "view_points": [VIEW, VIEW]},
            {"position": [5.0, 0.4, -2.0], "object_category": "bed", "view_points": []},
        ]
    },
    "episodes": [
        {
            "episode_id": "7",
            "scene_id": "mp3d/layout5000_variation00/layout5000_variation00.glb",
            "start_position": [2.0, 0.1, -5.0],
            "start_rotation": [0.0, 0.0, 0.0, 1.0],
            "info": {"geodesic_distance": 2.5},
            "object_category": "bed",
        }
    ],
}


def save(path, raw):
    path.write_bytes(gzip.compress(json.dumps(raw).encode()))
    return path


def test_a_file_is_read(tmp_path):
    (episode,) = read_object_episodes(save(tmp_path / "val.json.gz", GOOD))
    assert (episode.episode_id, episode.building) == ("7", "layout5000_variation00")
    assert episode.start == pytest.approx((2.0, 5.0, math.pi / 2))
    assert (episode.category, episode.geodesic_distance) == ("bed", 2.5)
    np.testing.assert_array_equal(episode.view_points.points, [(2.0, 3.0)] * 2)


def test_sampled_episodes_survive_and_play_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("nav.habitat.find_building", lambda name: True)
    env = NavEnv("objectnav", split="val")
    episodes = []
    for index in range(4):
        env.reset(seed=index)
        episodes.append(NavEpisode(**(vars(env.episode) | {"episode_id": str(index)})))
    path = tmp_path / "val.json.gz"
    rule, radius = env.task.view_rule, env.worlds.config.radius
    write_object_episodes(path, episodes, rule, radius)
    first = path.read_bytes()
    write_object_episodes(path, episodes, rule, radius)
    assert path.read_bytes() == first
    raw = json.loads(gzip.decompress(first))
    assert raw["category_to_mp3d_category_id"]["tv_monitor"] == 13
    key = f"{episodes[0].building}_{episodes[0].category}"
    goal = raw["goals_by_category"][key][0]
    assert goal["object_category"] == episodes[0].category
    assert 0.01 <= goal["view_points"][0]["iou"] <= 1.0
    for wrote, read in zip(episodes, read_object_episodes(path), strict=True):
        assert (read.category, read.building) == (wrote.category, wrote.building)
        assert read.start[:2] == wrote.start[:2]
        env.reset(options={"episode": wrote})
        before = env.worlds.distances[0]
        env.reset(options={"episode": read})
        assert env.worlds.distances[0] == before == wrote.geodesic_distance


def broken(path, value):
    """GOOD with another value somewhere."""
    raw = copy.deepcopy(GOOD)
    *parents, last = path
    place = raw
    for key in parents:
        place = place[key]
    place[last] = value
    return raw


GOALS = ("goals_by_category", "layout5000_variation00.glb_bed")


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("episodes", 0, "object_category"), "throne", r"episodes\[0\]: object_category: .*chair"),
        (("episodes", 0, "object_category"), "sofa", r"a field 'layout5000_variation00.glb_sofa'"),
        (
            ("episodes", 0, "start_position"),
            [0.0],
            r"episodes\[0\]: start_position: expected a list",
        ),
        (("episodes", 0, "start_rotation"), [1.0, 0.0, 0.0, 0.0], "start_rotation: .*vertical"),
        (("episodes", 0, "scene_id"), "Adrian.glb", r"scene_id: .*no such scene file"),
        (("episodes", 0, "info"), {"geodesic_distance": "far"}, r"info\.geodesic_distance"),
        (("goals_by_category",), [], "goals_by_category: expected an object"),
        (GOALS, [], "glb_bed: goals: expected a list of 1 to"),
        ((*GOALS, 0, "view_points"), 3, r"goals\[0\]\.view_points: expected a list"),
        ((*GOALS, 0, "view_points"), [], "at least one view point"),
        (
            (*GOALS, 0, "view_points", 1),
            {"agent_state": {"position": [0, 9, 0]}},
            r"view_points\[1\]\.agent_state\.position\[1\]: expected a number from -0\.5",
        ),
        ((*GOALS, 0, "view_points", 1), {}, "expected an object with a field 'agent_state'"),
    ],
)
def test_broken_files_name_the_field(tmp_path, path, value, told):
    with pytest.raises(UserError, match=told) as error:
        read_object_episodes(save(tmp_path / "bad.json.gz", broken(path, value)))
    assert "bad.json.gz" in str(error.value)
    assert "\n" not in str(error.value)


def test_double_ids_are_told(tmp_path):
    raw = GOOD | {"episodes": GOOD["episodes"] * 2}
    with pytest.raises(
        UserError, match=r"episodes\[1\]: episode_id: expected an id that the scene"
    ):
        read_object_episodes(save(tmp_path / "twice.json.gz", raw))
