import dataclasses
import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.rules import hab_config
from rearrange.settings import check_order, check_ranges, setting_of
from rearrange.tasks import (
    TASKS,
    ActionConfig,
    OpenCabConfig,
    PickConfig,
    default_config,
    make_task,
)


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


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("max_steps", "300", "a whole number"),
        ("max_steps", 2.5, "a whole number"),
        ("max_steps", True, "a whole number"),
        ("slack", None, "a number"),
        ("slack", False, "a number"),
        ("glimpse", 1, "True or False"),
    ],
)
def test_a_value_of_another_type_is_one_line(name, value, allowed):
    with pytest.raises(UserError, match=rf"^task\.{name} must be {allowed}, found {value!r}$"):
        make_task("pick", PickConfig(**{name: value}))


def test_numbers_of_numpy_are_numbers_within_the_same_range():
    found = PickConfig(max_steps=np.int64(3), slack=np.float32(0.5), glimpse=np.bool_(True))  # pyright: ignore
    check_ranges(found, "task")
    with pytest.raises(UserError, match=r"^task\.max_steps must be from 1 to 1e\+09, found -5$"):
        check_ranges(PickConfig(max_steps=np.int64(-5)), "task")  # pyright: ignore
    with pytest.raises(UserError, match=r"^task\.slack must be from 0 to 1e\+09, found nan$"):
        check_ranges(PickConfig(slack=np.float64("nan")), "task")


def test_an_action_of_a_kilometre_is_a_slip():
    action = ActionConfig(forward_step=1000.0)
    with pytest.raises(UserError, match=r"^task\.action\.forward_step must be from 0 to 1, found"):
        make_task("pick", PickConfig(action=action))


def test_the_least_is_not_above_the_most():
    check_order(OpenCabConfig(), "start_x_low", "start_x_high")
    with pytest.raises(
        UserError, match=r"^task\.start_x_low must be at most task\.start_x_high=0\.95,"
    ):
        check_order(OpenCabConfig(start_x_low=2.0), "start_x_low", "start_x_high")
