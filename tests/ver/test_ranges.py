import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawn import part_of
from ver.config import CloningConfig, TrainerConfig, merge_config
from ver.errors import UserError
from ver.ranges import CHOICES, NUMBERS, check_ranges


def numbers_of(config, prefix=""):
    """Dotted keys of all numbers of a config."""
    keys = set()
    for each in dataclasses.fields(config):
        value = getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            keys |= numbers_of(value, f"{prefix}{each.name}.")
        elif type(value) in (int, float) or "float | None" in str(each.type):
            keys.add(prefix + each.name)
    return keys


def test_every_number_has_a_range_and_the_defaults_are_within():
    assert set(NUMBERS) == numbers_of(TrainerConfig()) | numbers_of(CloningConfig(), "cloning.")
    check_ranges(TrainerConfig())
    check_ranges(CloningConfig(), "cloning.")


def test_no_number_is_endless():
    assert all(math.isfinite(allowed.high) for allowed in NUMBERS.values())


def check(key, value):
    """Check a config in which one setting is changed."""
    *path, name = key.split(".")
    if path == ["cloning"]:
        return check_ranges(CloningConfig(**{name: value}), "cloning.")
    part = config = TrainerConfig()
    for each in path:
        part = getattr(part, each)
    setattr(part, name, value)
    return check_ranges(config)


@pytest.mark.parametrize(
    ("key", "value"),
    [("network.initial_log_std", -6), ("ppo.final_log_std", -6), ("network.binary_threshold", 1)],
)
def test_what_the_networks_would_cut_or_refuse_is_refused(key, value):
    with pytest.raises(UserError, match=f"{key} must be"):
        check(key, value)


def bad_values(key):
    """Numbers out of a range, among them the nearest."""
    low, high, above = NUMBERS[key]
    bad = [math.nan, math.inf, -math.inf, low - 1e-3, low - 1, *([low] if above else [])]
    if math.isfinite(high):
        bad += [high + 1e-3, high * 2 + 1]
    return st.sampled_from(bad) | st.floats(max_value=low, exclude_max=True, allow_nan=False)


@pytest.mark.parametrize("key", NUMBERS)
@settings(max_examples=part_of(40))
@given(data=st.data())
def test_bad_numbers_are_named_with_what_is_allowed(key, data):
    value = data.draw(bad_values(key))
    with pytest.raises(UserError) as told:
        check(key, value)
    assert str(told.value).startswith(f"{key} must be a")
    assert str(told.value).endswith(f"found {value:g}")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("key", NUMBERS)
@settings(max_examples=part_of(40))
@given(data=st.data())
def test_numbers_within_are_taken(key, data):
    low, high, above = NUMBERS[key]
    value = data.draw(st.floats(low, min(high, 1e9), exclude_min=above))
    check(key, value)


@pytest.mark.parametrize("key", CHOICES)
def test_choices_are_listed(key):
    with pytest.raises(UserError, match=f"{key} must be one of {CHOICES[key][0]}, .*found 'other'"):
        check_ranges(merge_config(TrainerConfig, [], [f"{key}=other"]))
    for choice in CHOICES[key]:
        check_ranges(merge_config(TrainerConfig, [], [f"{key}={choice}"]))
