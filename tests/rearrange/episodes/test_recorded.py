from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rearrange.episodes import RecordedStarts
from rearrange.episodes.dataset import EpisodeSet, record_of
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes.registry import CLASSIC, GENERATED, layouts_of


@pytest.fixture
def recorded(episode_set, tmp_path):
    """Recorded starts: one in a first home, three in a second."""
    places = [(layouts_of("val", GENERATED)[0], variation) for variation in (0, 1)]
    apartments = {place: record_of(load_layout(*place)[0]) for place in places}
    first = episode_set.episodes[0]
    episodes = tuple(
        replace(first, episode_id=f"val/{k}", layout=layout, variation=variation)
        for k, (layout, variation) in enumerate([places[0]] + 3 * [places[1]])
    )
    path = tmp_path / "some_val.json.gz"
    EpisodeSet("pick", "val", 0, "by hand", apartments, episodes).save(path)
    return RecordedStarts([str(path)], share=1.0)


def drawn(starts, rng, home_seed=()):
    episode = starts.draw("pick", "val", rng, home_seed)
    return episode.episode_id


def test_all_recorded_starts_are_equally_likely(recorded):
    rng = np.random.default_rng(0)
    counts = Counter(drawn(recorded, rng) for _ in range(400))
    assert len(counts) == 4
    assert min(counts.values()) > 70
    homes = Counter(drawn(recorded, rng, (7, number)) for number in range(400))
    assert min(homes.values()) > 70


def test_a_seed_of_the_home_keeps_to_one_apartment(recorded):
    rng = np.random.default_rng(0)
    found = [{drawn(recorded, rng, (7, number)) for _ in range(40)} for number in range(8)]
    assert {frozenset(ids) for ids in found} == {
        frozenset({"val/0"}),
        frozenset({"val/1", "val/2", "val/3"}),
    }


def test_none_is_drawn_where_the_share_says_so(recorded):
    rng = np.random.default_rng(0)
    none = [replace(recorded, share=0.25).draw("pick", "val", rng) is None for _ in range(400)]
    assert 0.65 < np.mean(none) < 0.85
    assert RecordedStarts([]).draw("pick", "val", rng) is None


def test_starts_in_other_homes_are_refused(recorded):
    recorded.check("pick", "val", GENERATED)
    with pytest.raises(
        UserError, match=r"homes: expected 'classic', found 'generated' .*starts.paths=\[\]"
    ):
        recorded.check("pick", "val", CLASSIC)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"share": 1.5}, "starts.share must be from 0 to 1, found 1.5"),
        ({"share": "0.5"}, "starts.share must be from 0 to 1, found 0.5"),
        ({"paths": "runs/a"}, "starts.paths must be a list of files and folders, found 'runs/a'"),
    ],
)
def test_values_of_another_type_are_refused_in_one_line(what, told):
    with pytest.raises(UserError) as error:
        RecordedStarts(**what).check("place", "train", CLASSIC)
    assert str(error.value) == told
