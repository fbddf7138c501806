"""Our buildings as scenes of Habitat, and the episodes in them, without Habitat."""

import json
import struct

import numpy as np
import pytest

from nav.buildings import PlainBuilding, load_building
from nav.episode import NavEpisode, SceneMesh
from nav.export import building_glb, export
from nav.habitat import read_episodes
from nav.habitat_objects import read_object_episodes
from rearrange import UserError
from rearrange.episodes.dataset import write_packed
from rearrange.scenes.apartment import Solid

NAME = "layout5000_variation00"


def corners(content):
    """Least and greatest corner of each mesh of a binary glTF."""
    size = struct.unpack_from("<I", content, 12)[0]
    document = json.loads(content[20 : 20 + size])
    boxes = [document["accessors"][m["primitives"][0]["attributes"]["POSITION"]]
             for m in document["meshes"]]  # fmt: skip
    return [(box["min"], box["max"]) for box in boxes]


def test_solids_stand_where_they_stood():
    """Worked by hand; a scene file without a config is z up to Habitat."""
    tall = Solid("box", (1.0, 2.0, 1.5), (0.1, 0.2, 1.5), 0.0)
    turned = Solid("box", (1.0, 2.0, 1.5), (0.1, 0.2, 1.5), np.pi / 2)
    drum = Solid("cylinder", (4.0, 5.0, 0.5), (0.3, 0.5), 0.0)
    building = PlainBuilding("b", (0.0, 0.0, 9.0, 9.0), {}, (tall, turned, drum))
    first, second, third = corners(building_glb(building))
    assert np.allclose(first, [(0.9, 1.8, 0.0), (1.1, 2.2, 3.0)])
    assert np.allclose(second, [(0.8, 1.9, 0.0), (1.2, 2.1, 3.0)])
    assert np.allclose(third, [(3.7, 4.7, 0.0), (4.3, 5.3, 1.0)], atol=0.01)


def test_what_is_written_is_read_as_a_scene(data):
    scenes, path = data
    first, *_, last = read_episodes(path, scenes)
    assert first.mesh == SceneMesh(f"{scenes}/floors/{NAME}.glb", "", 0.0, 0.0)
    assert first.building == first.mesh.file
    assert last.start == pytest.approx((3.0, 1.0, 0.5))
    assert last.goal == (2.0, 2.0)
    assert read_episodes(path)[0].mesh is None  # and without scenes as our building


def test_heights_and_dataset_configs_are_kept(data, tmp_path):
    scenes, _ = data
    (scenes / "floors.scene_dataset_config.json").write_text("{}")
    row = {
        "episode_id": "a", "scene_id": f"data/scene_datasets/floors/{NAME}.glb",
        "scene_dataset_config": "./data/scene_datasets/floors.scene_dataset_config.json",
        "start_position": [1.0, 3.2, -2.0], "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "goals": [{"position": [4.0, 6.1, -5.0], "radius": None}],
    }  # fmt: skip
    path = tmp_path / "up.json.gz"
    write_packed(path, json.dumps({"episodes": [row]}))
    (episode,) = read_episodes(path, scenes)
    assert (episode.mesh.start_height, episode.mesh.goal_height) == (3.2, 6.1)
    assert episode.mesh.dataset == str(scenes / "floors.scene_dataset_config.json")
    assert (episode.start[:2], episode.goal) == ((1.0, 2.0), (4.0, 5.0))
    for field in ("scene_id", "scene_dataset_config"):
        write_packed(path, json.dumps({"episodes": [row | {field: "hm3d/none.glb"}]}))
        with pytest.raises(UserError, match=rf"episodes\[0\]: {field}: expected a file in .*hm3d"):
            read_episodes(path, scenes)
    for none in (None, "", "default"):
        write_packed(path, json.dumps({"episodes": [row | {"scene_dataset_config": none}]}))
        assert read_episodes(path, scenes)[0].mesh.dataset == ""
    for wrong in ([], {}, 0, False):
        write_packed(path, json.dumps({"episodes": [row | {"scene_dataset_config": wrong}]}))
        with pytest.raises(
            UserError, match=r"episodes\[0\]: scene_dataset_config: expected 1 to 1000"
        ):
            read_episodes(path, scenes)


def test_view_points_keep_their_heights(data, tmp_path):
    scenes, _ = data
    row = {
        "episode_id": "a", "scene_id": f"floors/{NAME}.glb", "start_position": [1.0, 3.2, -2.0],
        "start_rotation": [0.0, 0.0, 0.0, 1.0], "object_category": "chair",
    }  # fmt: skip
    view = {"agent_state": {"position": [4.0, 3.1, -5.0], "rotation": [0, 0, 0, 1]}, "iou": 0.3}
    listed = {f"{NAME}.glb_chair": [{"view_points": [view]}]}
    path = tmp_path / "chairs.json.gz"
    write_packed(path, json.dumps({"episodes": [row], "goals_by_category": listed}))
    (episode,) = read_object_episodes(path, scenes)
    assert episode.view_points.points.tolist() == [[4.0, 5.0, 3.1]]
    assert episode.mesh.start_height == 3.2


@pytest.fixture
def data(tmp_path):
    """A data folder with one scene and three episodes; the folder of scenes and the file."""
    episodes = [
        NavEpisode(str(k), NAME, (1.0 + k, 1.0, 0.5), (2.0, 2.0), 0.2, 1.5) for k in range(3)
    ]
    return export(tmp_path, "floors", "val", [load_building(NAME)], episodes)
