import pytest

from rearrange.errors import UserError
from rearrange.shipped import CONFIGS, SHIPPED, find_shipped, fitting, preset_file


def test_a_checkout_is_its_root_and_a_wheel_has_a_folder_of_its_own(tmp_path):
    package = tmp_path / "rearrange"
    (tmp_path / "configs").mkdir()
    assert find_shipped(package) == package / "shipped"  # somebody else's configs beside it
    (tmp_path / "setup.py").touch()
    assert find_shipped(package) == tmp_path


def test_configs_and_data_are_there():
    assert (SHIPPED / "configs" / "pick.yaml").is_file()
    assert (SHIPPED / "data" / "episodes").is_dir()


def test_of_configs_only_what_policies_see_and_how_they_act_is_taken():
    seen = {"camera_size": 64, "floor_map": True, "map_way": True}
    assert fitting(["skill", "navigate"], "cpu") == {**seen, "action": {"repeat": 3}}
    assert fitting(["objectnav"], "cpu") == {"rgb": False, "goal_mask": True}
    assert fitting(["skill", "flee", "no_such"], "gpu") == {
        "camera_size": 128
    }  # flee's has no task


def test_a_preset_is_a_file_or_nothing():
    assert preset_file("cpu") is None
    assert preset_file("gpu") == CONFIGS / "presets" / "gpu.yaml"
    with pytest.raises(
        UserError, match=r"^unknown preset 'huge': choose one of cpu, bps, gpu, paper$"
    ):
        preset_file("huge")
