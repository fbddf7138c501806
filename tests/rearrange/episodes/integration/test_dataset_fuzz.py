"""Whatever an episode file holds, reading it gives an EpisodeSet or a UserError of one line."""

import copy
import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rearrange.episodes import dataset
from rearrange.episodes.dataset import EpisodeSet
from rearrange.errors import UserError
from tests.helpers.drawn import part_of

BOUNDED = settings(
    max_examples=part_of(120),
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["pick", "val", "sofa", "fridge_door", 1e300, -1, 30, 31, 2**63, 0.0])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture
def small(raw):
    """A file of episodes with few objects, so that every field is hit often."""
    for episode in raw["episodes"]:
        slot = episode["targets"][0]["slot"]
        rows = episode["objects"]
        episode["objects"] = [row for row in rows if row[0] == slot] + [
            row for row in rows if row[0] != slot
        ][:2]
    return raw


def loads_or_complains(path):
    """Whether the file could be read."""
    dataset._load.cache_clear()  # files are rewritten faster than the clock of the file system ticks
    try:
        found = EpisodeSet.load(path)
    except UserError as error:
        message = str(error)
        assert "\n" not in message
        assert str(path) in message
        assert len(message) < 1000
        return False
    for episode in found.episodes:
        assert len({target.slot for target in episode.targets}) == len(episode.targets)
        assert all(0 <= slot < 30 and len(pose) == 7 for slot, pose in episode.objects.items())
    return True


def places(value, path=()):
    """Paths to everything within JSON values."""
    yield path
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from places(entry, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


@BOUNDED
@given(data=st.data())
def test_changed_values(small, write_raw, data):
    changed = copy.deepcopy(small)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in places(changed) if path]))
        holder = at(changed, path[:-1])
        action = data.draw(st.sampled_from(["replace", "drop", "repeat", "swap"]))
        if action == "replace":
            holder[path[-1]] = data.draw(VALUES)
        elif action == "drop":
            del holder[path[-1]]
        elif action == "repeat" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
        elif isinstance(holder, list):
            holder.reverse()
    loads_or_complains(write_raw(changed))


@BOUNDED
@given(value=VALUES)
def test_any_json(write_raw, value):
    assert not loads_or_complains(write_raw(value))


@BOUNDED
@given(data=st.data())
def test_damaged_bytes(saved, tmp_path, data):
    packed = bytearray(saved.read_bytes())
    if data.draw(st.booleans()):
        packed = packed[: data.draw(st.integers(0, len(packed) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(packed) - 1))
            packed[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(packed)
    loads_or_complains(path)


@BOUNDED
@given(data=st.data())
def test_damaged_text(saved, tmp_path, data):
    text = gzip.decompress(saved.read_bytes())
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(start + 50, len(text))))
    patch = data.draw(st.binary(max_size=6) | st.sampled_from([b"NaN", b"1e999", b"-", b"]", b"{"]))
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(gzip.compress(text[:start] + patch + text[end:]))
    loads_or_complains(path)


@BOUNDED
@given(order=st.randoms(use_true_random=False))
def test_fields_and_objects_in_any_order(raw, write_raw, order):
    changed = copy.deepcopy(raw)
    for episode in changed["episodes"]:
        order.shuffle(episode["objects"])
    fields = list(changed.items())
    order.shuffle(fields)
    path = write_raw(dict(fields))
    assert loads_or_complains(path)
    assert EpisodeSet.load(path).episodes == EpisodeSet.load(write_raw(raw, "first")).episodes


@pytest.mark.parametrize("depth", [50, 5000, 200_000])
def test_deep_nesting(tmp_path, depth):
    path = tmp_path / "deep.json.gz"
    path.write_bytes(gzip.compress(b'{"task":' * depth))
    assert not loads_or_complains(path)
    assert json.loads("1") == 1  # the parser still works
