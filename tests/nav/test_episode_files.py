"""Files of episodes: one, or one for each scene."""

import numpy as np
import pytest

from nav.buildings import load_building
from nav.episode import NavEpisode
from nav.episode_files import STAY, SceneEpisodes, episode_files
from nav.export import export
from nav.habitat import write_episodes
from rearrange import UserError
from rearrange.episodes.dataset import write_packed

NAME = "layout5000_variation00"


def test_a_dataset_with_a_file_for_each_scene(tmp_path):
    path = tmp_path / "val" / "val.json.gz"
    with pytest.raises(UserError, match="datasets_download"):
        episode_files(path)
    write_packed(path, '{"episodes": []}')
    assert episode_files(path) == [path]
    for name in ("b", "a"):
        write_packed(path.parent / "content" / f"{name}.json.gz", '{"episodes": []}')
    assert [file.name for file in episode_files(path)] == ["a.json.gz", "b.json.gz"]


def test_an_agent_stays_in_a_scene_for_some_episodes(tmp_path):
    names = ("layout5000_variation00", "layout5000_variation01", "layout5001_variation00")
    scenes, _ = export(tmp_path, "floors", "val", map(load_building, names), [])
    episodes = [
        NavEpisode(f"{k}", name, (1.0, 1.0, 0.0), (2.0, 2.0)) for name in names for k in range(4)
    ]
    path = tmp_path / "three.json.gz"
    write_episodes(path, episodes, scene="floors/{}.glb")
    files = SceneEpisodes("pointnav", str(path), str(scenes))
    rng = np.random.default_rng(0)
    drawn = [[files.draw(agent, rng) for _ in range(4 * STAY)] for agent in range(3)]
    for each in drawn:
        places = [episode.building for episode in each]
        stays = [set(places[k : k + STAY]) for k in range(0, len(places), STAY)]
        assert all(len(stay) == 1 for stay in stays)
    assert len({each.building for row in drawn for each in row}) == 3
    assert len({each.episode_id for each in drawn[0][:STAY]}) == 4
    with pytest.raises(UserError, match="flee knows no scenes of Habitat: choose one of pointnav"):
        SceneEpisodes("flee", str(path), str(scenes))
