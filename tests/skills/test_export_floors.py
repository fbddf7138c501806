"""Our floors as Habitat's scenes, by the command."""

import pytest

from nav.habitat import read_episodes
from rearrange.errors import UserError
from skills.export_floors import main


def test_floors_and_the_episodes_in_them_are_written(tmp_path):
    assert main(["--episodes", "2", "--homes", "classic", "--data", str(tmp_path)]) == 0
    (path,) = tmp_path.rglob("val.json.gz")
    episodes = read_episodes(path, tmp_path / "scene_datasets")
    assert [episode.episode_id for episode in episodes] == ["0", "1"]


def test_the_test_split_is_a_releases(tmp_path):
    with pytest.raises(UserError, match="--split test judges a release, once"):
        main(["--split", "test", "--episodes", "1", "--data", str(tmp_path)])
    assert not list(tmp_path.iterdir())
