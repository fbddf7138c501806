import pytest

from tests.helpers.lab_entries import marker, transformation


@pytest.fixture
def entry(tmp_path):
    """An episode by hand: two cans and a bowl, of which the second can and the bowl have goals."""
    (tmp_path / "configs").mkdir()
    for kind in ("005_tomato_soup_can", "024_bowl"):
        (tmp_path / "configs" / f"{kind}.object_config.json").write_text("{}")
    for name in ("room.scene_instance.json", "room.scene_dataset_config.json"):
        (tmp_path / name).write_text("{}")
    can = "005_tomato_soup_can.object_config.json"
    return {
        "episode_id": "7",
        "scene_id": str(tmp_path / "room.scene_instance.json"),
        "scene_dataset_config": str(tmp_path / "room.scene_dataset_config.json"),
        "additional_obj_config_paths": [str(tmp_path)],
        "info": {
            "object_labels": {
                "024_bowl_:0000": "any_targets|0",
                "005_tomato_soup_can_:0001": "any_targets|1",
            }
        },
        "ao_states": {"fridge_:0000": {"1": 1.5}},
        "markers": [
            marker("cab_push_point_5", "kitchen_:0000", "drawer3", (0.3, 0.0, 0.0)),
            marker("fridge_push_point", "fridge_:0000", "top_door", (0.1, -0.62, 0.2)),
            marker("another", "door_:0000", "door", (0.0, 0.0, 0.0)),
        ],
        "rigid_objs": [
            [can, transformation((1.0, 1.2, -2.0))],
            ["024_bowl.object_config.json", transformation((2.0, 1.3, -2.0))],
            [can, transformation((3.0, 1.4, -1.0))],
        ],
        "targets": {
            "005_tomato_soup_can_:0001": transformation((1.0, 1.5, -3.0)),
            "024_bowl_:0000": transformation((2.5, 1.6, -3.5)),
        },
    }
