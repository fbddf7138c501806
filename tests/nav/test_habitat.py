"""Episodes in Habitat's schema, and its frame."""

import gzip
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nav.env import NavEnv
from nav.episode import NavEpisode
from nav.habitat import from_habitat, read_episodes, to_habitat, write_episodes
from rearrange import UserError

HALF = math.sqrt(0.5)
GOOD = {
    "episode_id": "7",
    "scene_id": "data/scene_datasets/floors/layout5000_variation00.glb",
    "start_position": [2.0, 0.1, -3.0],
    "start_rotation": [0.0, 0.0, 0.0, 1.0],
    "info": {"geodesic_distance": 4.5, "difficulty": "easy"},
    "goals": [{"position": [5.0, 0.1, -1.0], "radius": 0.2}],
    "shortest_paths": None,
}


def save(path, *episodes):
    path.write_bytes(gzip.compress(json.dumps({"episodes": episodes}).encode()))
    return path


def test_headings_by_hand():
    """Unturned, Habitat looks along -z, which is our +y; to the left of that is our -x."""
    assert from_habitat([1.0, 0.0, -2.0], [0.0, 0.0, 0.0, 1.0]) == pytest.approx(
        (1, 2, math.pi / 2)
    )
    left = [0.0, HALF, 0.0, HALF]  # 90 degrees about y, which is up
    assert abs(from_habitat([0.0, 0.0, 0.0], left)[2]) == pytest.approx(math.pi)
    right = [0.0, -HALF, 0.0, HALF]
    assert from_habitat([0.0, 0.0, 0.0], right) == pytest.approx((0.0, 0.0, 0.0))
    position, rotation = to_habitat((3.0, 4.0, 0.0))
    assert position == [3.0, 0.0, -4.0]
    assert rotation == pytest.approx(right)


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(-math.pi, math.pi))
def test_there_and_back(x, y, yaw):
    again = from_habitat(*to_habitat((x, y, yaw)))
    assert again[:2] == (x, y)
    assert math.cos(again[2] - yaw) == pytest.approx(1.0)


def test_a_file_is_read(tmp_path):
    (episode,) = read_episodes(save(tmp_path / "val.json.gz", GOOD))
    assert episode.episode_id == "7"
    assert episode.building == "layout5000_variation00"
    assert episode.start == pytest.approx((2.0, 3.0, math.pi / 2))
    assert episode.goal == (5.0, 1.0)
    assert (episode.radius, episode.geodesic_distance) == (0.2, 4.5)


def test_sampled_episodes_survive_and_can_be_played(tmp_path, monkeypatch):
    monkeypatch.setattr("nav.habitat.find_building", lambda name: True)
    env = NavEnv("pointnav", split="val")
    episodes = []
    for index in range(4):
        env.reset(seed=index)
        sampled = env.episode
        episodes.append(NavEpisode(str(index), *list(vars(sampled).values())[1:]))
    path = tmp_path / "deep" / "val.json.gz"
    write_episodes(path, episodes)
    first = path.read_bytes()
    write_episodes(path, episodes)
    assert path.read_bytes() == first
    raw = json.loads(gzip.decompress(first))["episodes"][0]
    assert raw["goals"][0]["position"][2] == -episodes[0].goal[1]
    for wrote, read in zip(episodes, read_episodes(path), strict=True):
        assert read.start[:2] == wrote.start[:2]
        assert read.start[2] == pytest.approx(wrote.start[2])
        assert (read.goal, read.building) == (wrote.goal, wrote.building)
        assert read.geodesic_distance == wrote.geodesic_distance
        env.reset(options={"episode": read})
        assert env.worlds.distances[0] == pytest.approx(wrote.geodesic_distance)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("start_position", [0.0, 3.0, 0.0], r"start_position\[1\]: expected a number from -0.5"),
        ("start_position", [0.0, 0.0], "start_position: expected a list of 3 numbers"),
        ("start_rotation", [0.0, 0.0, 0.0, 0.9], "start_rotation: expected a quaternion"),
        ("start_rotation", [HALF, 0.0, 0.0, HALF], "start_rotation: expected a quaternion"),
        ("goals", [], "goals: expected a list of 1 to 1"),
        ("goals", [{"radius": 0.2}], r"goals\[0\]: expected an object with a field 'position'"),
        ("goals", [{"position": [0, 0, 0], "radius": -1}], r"goals\[0\]\.radius: expected"),
        ("info", {"geodesic_distance": "far"}, r"info\.geodesic_distance: expected a number"),
        ("episode_id", 7, "episode_id: expected 1 to 200 printable"),
        (
            "scene_id",
            "data/gibson/Adrian.glb",
            r"scene_id: .*no such scene file, found 'data/gibson",
        ),
    ],
)
def test_broken_files_name_episode_and_field(tmp_path, field, value, told):
    path = save(tmp_path / "bad.json.gz", GOOD, GOOD | {"episode_id": "8", field: value})
    with pytest.raises(UserError, match=rf"bad\.json\.gz: episodes\[1\]: {told}") as error:
        read_episodes(path)
    assert "\n" not in str(error.value)


def test_missing_fields_files_and_double_ids_are_told(tmp_path):
    for name in ("goals", "scene_id", "start_rotation"):
        short = {key: value for key, value in GOOD.items() if key != name}
        with pytest.raises(UserError, match=f"expected an object with a field '{name}'"):
            read_episodes(save(tmp_path / "short.json.gz", short))
    with pytest.raises(UserError, match="an id that the scene has not yet"):
        read_episodes(save(tmp_path / "twice.json.gz", GOOD, GOOD))
    with pytest.raises(UserError, match="No such file"):
        read_episodes(tmp_path / "none.json.gz")
    plain = tmp_path / "plain.json.gz"
    plain.write_text("{}")
    with pytest.raises(UserError, match="expected a gzip file"):
        read_episodes(plain)
