from rearrange.shipped import SHIPPED, find_shipped


def test_a_checkout_is_its_root_and_a_wheel_has_a_folder_of_its_own(tmp_path):
    package = tmp_path / "rearrange"
    (tmp_path / "configs").mkdir()
    assert find_shipped(package) == package / "shipped"  # somebody else's configs beside it
    (tmp_path / "setup.py").touch()
    assert find_shipped(package) == tmp_path


def test_configs_and_data_are_there():
    assert (SHIPPED / "configs" / "pick.yaml").is_file()
    assert (SHIPPED / "data" / "episodes").is_dir()
