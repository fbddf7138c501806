"""Bad values for every setting of every training: one line that names it, and exit code 2."""

import dataclasses
import math
import random
import re
import subprocess
import sys
from typing import NamedTuple

import pytest
import yaml

from rearrange.settings import setting_of
from rearrange.tasks import household_names
from skills import train
from skills.navigation import navigation_names
from skills.registry import skill_names
from skills.settings import settings_type
from tests.helpers import ROOT
from tests.helpers.refusals import refusal
from ver.ranges import NUMBERS

SEED, MISSPELLED = 38, 20  # of the draws; how many keys are misspelled, too
FEW = 9  # the fast test takes one draw of so many
FREE = ("run", "scenes", "project")  # any text will do
LIST, GROUP, TWICE = "[1, 2]", "{a: 1}", "[[1]]"
WRONG = {  # what makes no sense, by the type of a setting
    bool: ["word", "2", "nan", "", "[true]", GROUP],
    int: ["word", "1.5", "nan", "inf", "", "-1e30", "1e30", "9" * 30, LIST, GROUP],
    float: ["word", "nan", "", "-1e30", "1e30", "9" * 400, LIST, GROUP],
    str: ["no_such", LIST, GROUP],
    list: ["5", "word", GROUP],
    dict: ["5", "word", "{no_such: [0]}"],
}
MORE = {  # of single settings
    "run": ["", "/proc/x"],
    "trainer.project": ["", "a/b", "''"],
    "stages": ["[5]", "[{name: a b}]", "[{nme: a}]", "[{name: a}, {name: a}]"],
    "since": ["no_such"],
    "starts.paths": ["[no_such]", "[/]"],
    "starts.share": ["2", "-1"],
    "split": ["test"],
    "trainer.network.binary_actions": ["[no_such]", "[99]", "[1, 1]"],
    "trainer.network.initial_mean": [
        "word", "5", "[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]", "{no_such: 0.1}", "{grip: 2}", "{grip: nan}",
    ],
    "trainer.network.angles": ["{joint: [99]}", "{joint: 5}", "{joint: [no_such]}"],
    "trainer.network.critic_only": ["[true_state, no_such]"],
}  # fmt: skip


class Place(NamedTuple):
    """A setting of a training: what is trained, its key, and the values that it cannot have."""

    skill: str
    key: str
    bad: list[str]


def places(skill, config, prefix=""):
    """All settings of a dataclass, and the groups that they are in."""
    for each in dataclasses.fields(config):
        key, value = f"{prefix}{each.name}", getattr(config, each.name)
        if dataclasses.is_dataclass(value):
            yield Place(skill, key, ["5", "word", LIST, "{no_such: 1}"])
            yield from places(skill, value, f"{key}.")
            continue
        kind = float if value is None else type(value)
        bad = [] if key.rpartition(".")[2] in FREE else list(WRONG[kind])
        if value is None:  # an empty one is none
            bad.remove("")
        if kind is str and not bad:
            bad = [LIST, GROUP]
        yield Place(skill, key, bad + MORE.get(key, []) + near(key, each, value))


def near(key, each, value):
    """Numbers that are only just out of the range of a setting."""
    if type(value) not in (int, float):
        return []
    if key.removeprefix("trainer.") in NUMBERS:
        low, high, above = NUMBERS[key.removeprefix("trainer.")]
        return [str(low - 1), f"{high * 1.1 + 1:.0f}", *(["0"] if above else []), "inf"]
    if key.startswith(("task.", "randomise.")) and each.metadata:
        known = setting_of(each)
        endless = math.inf in (each.default, known.hab)
        return [str(known.low - 1), f"{known.high * 1.1 + 1:.0f}", *([] if endless else ["inf"])]
    return ["-1", "inf"]


def all_places():
    """Every key once, of one of the trainings that have it."""
    names = dict.fromkeys(["pick", *skill_names(), *household_names(), *navigation_names()])
    found = {}
    for name in names:
        for place in places(name, settings_type(name)()):
            found.setdefault(place.key, place)
    return [*found.values()]


def draws():
    """A value for every key, and some keys misspelled: the same in every run."""
    rng, every = random.Random(SEED), all_places()
    for place in every:
        if place.bad:
            yield place.skill, place.key, rng.choice(place.bad)
    for place in rng.sample(every, MISSPELLED):
        yield place.skill, f"{place.key}_", "1"


@pytest.fixture(scope="module")
def pick_spaces():
    """Spaces of Pick, so that no test has to make a world."""
    world = train.make_environments(train.load_settings("pick"))(0, 0)
    world.close()
    return world.observation_space, world.action_space


@pytest.fixture
def nothing_begins(monkeypatch, pick_spaces, tmp_path):
    """Let trainings raise where they would begin to collect."""

    def begin(*_):
        raise AssertionError("the training began")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ver.trainer.probe_spaces", lambda *_: pick_spaces)
    monkeypatch.setattr("ver.trainer.Trainer.train", begin)
    monkeypatch.setattr("skills.train.imitate", begin)


def complaint(skill, key, value):
    """What is wrong with how a training refuses a value; "" where nothing is."""
    words = [skill, f"{key}={value}"]
    words += [] if key.startswith("stages") else ["stages=[]"]
    try:
        line = refusal(train.main, words)
    except AssertionError as error:
        return f"{skill} {key}={value}: {error}"
    if key.rstrip("_").rpartition(".")[2] not in line:
        return f"{skill} {key}={value}: the key is not told: {line}"
    if not any(each in line for each in shown(value)):
        return f"{skill} {key}={value}: the value is not told: {line}"
    return ""


def shown(value):
    """Ways to write a value."""
    read = yaml.safe_load(value) if value else ""
    ways = [value, str(read), repr(read)]
    if isinstance(read, (list, dict)):  # what is wrong may be a part
        return [*ways, *filter(None, re.split(r"[^\w./-]+", value))]
    try:
        return [*ways, f"{float(value):g}"]
    except ValueError:
        return ways


def test_every_setting_is_drawn():
    drawn = [*draws()]
    assert len(drawn) > 200
    assert {key.rstrip("_") for _, key, _ in drawn} == {
        place.key for place in all_places() if place.bad
    }


def test_some_of_the_drawn_values_are_refused_in_one_line(nothing_begins):
    some = [*draws()][::FEW]
    assert len(some) > 25
    wrong = list(filter(None, (complaint(*each) for each in some)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_drawn_values_are_refused_in_one_line(nothing_begins):
    wrong = list(filter(None, (complaint(*each) for each in draws())))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_every_bad_value_is_refused_in_one_line(nothing_begins):
    every = [(place.skill, place.key, value) for place in all_places() for value in place.bad]
    wrong = list(filter(None, (complaint(*each) for each in every)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_the_command_itself_refuses_them(tmp_path):
    for skill, key, value in random.Random(SEED).sample([*draws()], 20):
        words = ["train", skill, f"{key}={value}"]
        done = subprocess.run(
            [sys.executable, "-m", "console", *words],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            check=False, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, ""), done.stderr
        assert not [*tmp_path.iterdir()]
