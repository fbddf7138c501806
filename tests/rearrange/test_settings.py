import dataclasses
import math

import pytest

from rearrange.errors import UserError
from rearrange.rules import hab_config
from rearrange.settings import check_ranges, setting_of
from rearrange.tasks import TASKS, default_config, make_task


def numbers_of(config, path=()):
    """Paths of all numbers of a config, and their fields."""
    for each in dataclasses.fields(config):
        value = getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            yield from numbers_of(value, (*path, each.name))
        elif type(value) in (int, float):
            yield (*path, each.name), each


def changed(config, path, value):
    name, *rest = path
    part = changed(getattr(config, name), rest, value) if rest else value
    return dataclasses.replace(config, **{name: part})


@pytest.mark.parametrize("task", TASKS)
def test_our_values_and_habs_are_within(task):
    check_ranges(default_config(task), "task")
    check_ranges(hab_config(task), "task")


@pytest.mark.parametrize("task", TASKS)
def test_every_number_has_a_range(task):
    config = default_config(task)
    for path, each in numbers_of(config):
        known = setting_of(each)
        bad = [math.nan, known.low - 1]
        bad += [known.high + 1] if math.isfinite(known.high) else []
        bad += [] if math.inf in (each.default, known.hab) else [math.inf]
        for value in bad:
            key = ".".join(("task", *path))
            with pytest.raises(UserError, match=rf"^{key} must be (at least|from) .*, found \S+$"):
                make_task(task, changed(config, path, value))
