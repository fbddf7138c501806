"""Bad values for every keyword of every id that `gymnasium.make` knows: one line that names key and value."""

import math
import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import gymnasium
import pytest

from nav.gym_ids import IDS
from nav.table import TASKS, default_config
from rearrange import choices
from rearrange.errors import UserError
from rearrange.gym_ids import id_of
from rearrange.registration import NAMES
from rearrange.rules import task_config
from rearrange.sim.config import SimulatorConfig

SEED, MISSPELLED = 38, 10  # of the draws; how many keys are misspelled, too
NO_NUMBERS = ["word", "1", None, [1], {"a": 1}, True, 1j]
WRONG = {  # what makes no sense, by the type of a value
    bool: [2, 0, "True", None, [True], math.nan],
    int: [*NO_NUMBERS, 1.5, 2.0, math.nan, math.inf, -(2**40), 2**40, 10**400],
    float: [*NO_NUMBERS, math.nan, -1e30, 1e30, 10**400],
    str: ["no_such", 5, None, ["train"], "a\nb"],
    list: [5, "word", None, [5], ["no_such"]],
    type(None): ["no_such", 1.5, [1], True, -1],
}
GROUP = [5, "word", None, [1], {"no_such": 1}]


def places(parts, prefix="") -> Iterator[tuple[str, list]]:
    """Every keyword of some dataclasses, and values that it cannot have."""
    for part in parts:
        for each in fields(part):
            key, value = f"{prefix}{each.name}", getattr(part, each.name)
            if is_dataclass(value):
                yield key, GROUP
                yield from places([value], f"{key}.")
            else:
                yield key, [bad for bad in WRONG[type(value)] if bad is not value]


def ids():
    """Of each id what it is made of: alone, and side by side."""
    for task in NAMES:
        parts = [task_config(task), SimulatorConfig()]
        yield id_of(task), [*parts, choices.OneRobot()], [*parts, choices.ManyRobots()]
    for task, name in IDS.items():
        parts = [default_config(task), TASKS[task].agent_config()]
        yield name, [*parts, choices.One()], [*parts, choices.Many()]


def complaint(make, name, key, value) -> str:
    """What is wrong with how a value is refused; "" where nothing is."""
    told = f"{name} {key}={str(value)[:40]!r}"
    try:
        make(name, **{key: value})
    except UserError as error:
        line = str(error)
    except Exception as error:
        return f"{told}: {type(error).__name__}: {error}"
    else:
        return f"{told}: it is taken"
    if "\n" in line:
        return f"{told}: no single line: {line}"
    if key.rstrip("_").rpartition(".")[2] not in line:
        return f"{told}: the key is not told: {line}"
    if not key.endswith("_") and not any(each in line for each in shown(value)):
        return f"{told}: the value is not told: {line}"
    return ""


def shown(value):
    """Ways to write a value, or a part of it."""
    yield from (str(value), repr(value))
    if type(value) in (int, float) and abs(value) < 1e300:
        yield f"{value:g}"
    if isinstance(value, (list, dict)):
        yield from map(str, value)


def alone(name, **keywords):
    """An environment of one world."""
    gymnasium.make(name, disable_env_checker=True, **keywords).close()


def together(name, **keywords):
    """An environment of two."""
    gymnasium.make_vec(name, **({"num_envs": 2} | keywords)).close()


def cases(make):
    """Every keyword once, of one of the ids that have it, and values that it cannot have."""
    found = {}
    for name, *both in ids():
        for key, values in places(both[make is together]):
            found.setdefault((name in IDS.values(), key), (name, key, values))
    return [*found.values()]


@pytest.mark.parametrize("make", [alone, pytest.param(together, marks=pytest.mark.slow)])
def test_drawn_values_are_refused_in_one_line(make):
    rng, every = random.Random(SEED), cases(make)
    drawn = [(name, key, rng.choice(values)) for name, key, values in every]
    drawn += [(name, f"{key}_", 1) for name, key, _ in rng.sample(every, MISSPELLED)]
    assert len(drawn) > 100
    assert not (wrong := [*filter(None, (complaint(make, *each) for each in drawn))]), "\n".join(
        wrong
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [alone, together])
def test_every_bad_value_is_refused_in_one_line(make):
    every = [(name, key, value) for name, key, values in cases(make) for value in values]
    assert not (wrong := [*filter(None, (complaint(make, *each) for each in every))]), "\n".join(
        wrong
    )
