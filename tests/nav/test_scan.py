"""Scenes of files: their frame, and where on their floors places lie."""

import json

import numpy as np
import pytest

from nav.agent import AgentConfig
from nav.episode import SceneMesh
from nav.scan import NOT_UP, ScanKey, load_scan, turn_of
from rearrange import UserError
from tests.helpers.scanned import UPSTAIRS, room, two_storeys, write

AGENT = AgentConfig()


def scan_of(path):
    return load_scan(ScanKey.of(SceneMesh(str(path)), AGENT))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return scan_of(write(tmp_path_factory.mktemp("scans") / "house.glb", two_storeys()))


def test_a_file_is_z_up_unless_its_config_says_otherwise(tmp_path):
    scene = tmp_path / "a.glb"
    assert (turn_of(scene, "") == np.eye(3)).all()
    dataset = tmp_path / "d.scene_dataset_config.json"
    y_up = {"up": [0, 2, 0], "front": [0, 0, -1]}
    dataset.write_text(json.dumps({"stages": {"default_attributes": y_up}}))
    turn = turn_of(scene, str(dataset))
    assert turn @ (1, 2, 3) == pytest.approx((1, -3, 2))
    beside = tmp_path / "a.stage_config.json"
    beside.write_text(json.dumps({"up": [0, 1, 0]}))
    assert turn_of(scene, "") == pytest.approx(turn)
    beside.write_text(json.dumps({"up": [0, 0, 1], "front": [0, 1, 0]}))
    assert turn_of(scene, str(dataset)) == pytest.approx(np.eye(3))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "expected an object, found list"),
        ('{"up": "z"}', "up must be three numbers that are not all 0, found z"),
        ('{"up": [0, 0, 0]}', "up must be three numbers that are not all 0"),
        ('{"front": [0, 0, 1]}', "front must be at right angles to up"),
        ('{"scale": [2, 2, 2]}', r"scale must be \[1, 1, 1\]: other sizes are not supported"),
    ],
)
def test_bad_configs_are_refused_in_one_line(tmp_path, text, told):
    (tmp_path / "a.stage_config.json").write_text(text)
    with pytest.raises(UserError, match=rf"a\.stage_config\.json.* {told}"):
        turn_of(tmp_path / "a.glb", "")


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        ([], "stages must be an object, found list"),
        ({"default_attributes": [["up", 1]]}, "default_attributes must be an object, found list"),
        ({"default_attributes": "up"}, "default_attributes must be an object, found str"),
    ],
)
def test_a_bad_config_of_a_dataset_is_refused_in_one_line(tmp_path, stages, told):
    dataset = tmp_path / "d.scene_dataset_config.json"
    dataset.write_text(json.dumps({"stages": stages}))
    with pytest.raises(UserError, match=rf"d\.scene_dataset_config\.json: {told}$"):
        turn_of(tmp_path / "a.glb", str(dataset))


def test_a_scan_is_loaded_once(tmp_path):
    path = write(tmp_path / "room.glb", room(6.0, 4.0))
    assert scan_of(path) is scan_of(path)
    assert scan_of(path).triangles == 5 * 12
    assert scan_of(path).floors[0].name == "room.glb, storey 0"


def test_places_are_put_on_the_floor_that_is_nearest(house):
    below, above = house.floors
    assert house.on_floor((8.0, 3.0, 0.1)) == (below, (8.0, 3.0))
    assert house.on_floor((8.0, 3.0, UPSTAIRS - 0.1)) == (above, (8.0, 3.0))
    floor, (x, y) = house.on_floor((-0.1, 2.0, 0.0))  # in the wall
    assert floor is below
    assert (x, y) == pytest.approx((0.18, 2.0), abs=0.06)
    assert house.on_floor((2.0, 3.0, 2.5)) is None
    assert house.on_floor((-3.0, 2.0, 0.0)) is None
    # Low on the stairs one is downstairs, high upstairs
    for x, floor in ((2.6, below), (4.4, above)):
        height = 0.17 * (int((x - 2.0) / 0.25) + 1)
        assert house.on_floor((x, 0.5, height))[0] is floor


def test_goals_of_another_storey_are_not_on_this_one(house):
    below, above = house.floors
    goals = np.array([(8.0, 3.0, 0.0), (8.0, 3.0, UPSTAIRS), (1.0, 3.0, NOT_UP + 0.1)])
    assert below.near(goals).tolist() == [[8.0, 3.0]]
    assert above.near(goals).tolist() == [[8.0, 3.0]]
    assert above.near(goals[2:] - (0.0, 0.0, 0.2)).tolist() == [[1.0, 3.0]]
    assert len(above.near(goals[:1])) == 0
