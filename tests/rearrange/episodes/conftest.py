import gzip
import json

import pytest

from rearrange.episodes.dataset import EpisodeSet
from rearrange.episodes.schema import record_of
from rearrange.navigation import load_layout


@pytest.fixture
def episode_set(pick_episodes):
    """Two Pick episodes of the validation layout."""
    first = pick_episodes[0]
    episodes = tuple(
        type(first)(**{**vars(first), "episode_id": f"val/{k}", "seed": k}) for k in range(2)
    )
    key = first.layout, first.variation
    apartments = {key: record_of(load_layout(*key)[0])}
    return EpisodeSet("pick", "val", 0, "python -m rearrange.episodes", apartments, episodes)


@pytest.fixture
def saved(episode_set, tmp_path):
    """Their file."""
    path = tmp_path / "val.json.gz"
    episode_set.save(path)
    return path


@pytest.fixture
def raw(saved):
    """What stands in the file."""
    return json.loads(gzip.decompress(saved.read_bytes()))


@pytest.fixture
def write_raw(tmp_path):
    """Writes JSON values as an episode file; returns its path."""

    def write(value, name="changed.json.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(json.dumps(value).encode()))
        return path

    return write
