"""Bad values for every option of every command, from the parsers themselves: one line and exit code 2.

Commands are found in the sources, so that a new one is tested, too.
"""

import argparse
import importlib
import re

import pytest

from interrupts import PACKAGES
from rearrange.command_line import OneLineParser, output_file, output_folder
from tests.helpers import ROOT
from tests.helpers.refusals import refusal

FILE = "file"  # there is one of that name
NUMBERS = ["word", "nan", "inf", "", "-1", "9" * 30]
TAKES_ITS_PARSER_FROM = {
    "planner.eval": "planner.eval_options",
    "skills.eval": "skills.eval_options",
}
GOOD = {  # what has to stand before the options
    **{
        name: ["pick"]
        for name in (
            "skills.train",
            "skills.eval",
            "benchmarks.timed_training",
            "benchmarks.warm_up",
        )
    },
    **{name: ["pick"] for name in ("planner.film", "planner.rollouts", "live.__main__")},
    "rearrange.view.command": ["pick"],
    "rearrange.generate.command generate": ["pick"],
    "rearrange.generate.command check": [FILE],
    "rearrange.check_scene.command": ["home.yaml"],
    "rearrange.check_robot.command": ["robot.yaml"],
    "skills.population": ["pick", "until=alone"],
    "skills.plot": ["run", "--output", "a.png"],
    "benchmarks.side_by_side_plot": ["a.json", "--output", "a.png"],
    "skills.hub push": [FILE, "me/pick"],
    "skills.hub pull": ["me/pick"],
    "nav.view": ["pointnav"],
    "planner.blind_drives": ["navigate"],
    "planner.eval": ["tidy_house"],
    "planner.page": [FILE],
    "skills.emergent_navigation": [],
    "skills.initiation.__main__": ["pick"],
    "ver.eval": ["run"],
    "ver.league.rate": ["run"],
    "ver.league.train": ["game"],
    "ver.train": ["CartPole-v1"],
    "planner.ship": ["run"],
    "benchmarks.sample_factory": ["--python", FILE],
    "benchmarks.kill_storm": ["pick", "trainer.seed=1"],
    "benchmarks.kill_storm_plot": ["a.json", "--output", "a.png"],
    "console.completion": ["bash"],
    "experiments.__main__": ["sf_lag"],
}
FREE = {  # any text will do, or is known to be wrong only by who is asked
    "skills.eval": ["--scenes"],
    "skills.hub push": ["--result"],
    "skills.hub pull": ["--revision"],
    "skills.population": ["--metric"],
    "skills.check_habitat": ["--data", "--frame"],
    "benchmarks.sample_factory": ["--theirs"],
}


class ReadError(Exception):
    """Carries the parser of a command that was about to read its words."""


def modules():
    """Every module that reads a command line."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if re.search(r"= OneLineParser\(", path.read_text()):
                yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


def commands():
    """Modules with a main function, and those that take their parsers from others."""
    elsewhere = {parser: name for name, parser in TAKES_ITS_PARSER_FROM.items()}
    return [elsewhere.get(name, name) for name in modules()]


@pytest.fixture
def parsers(monkeypatch):
    """Find the parsers of a command without running it: of each subcommand its own, or the only one."""

    def find(module):
        def caught(parser, *_):
            raise ReadError(parser)

        with monkeypatch.context() as patch:
            for name in ("parse_args", "parse_intermixed_args"):
                patch.setattr(OneLineParser, name, caught)
            with pytest.raises(ReadError) as stopped:
                module.main([])
        parser = stopped.value.args[0]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                return dict(action.choices)
        return {"": parser}

    return find


def bad_words(action, free):
    """Words that an option, or what stands in its place, cannot be given with."""
    if not action.option_strings:
        if action.metavar in ("key=value", "task.KEY=VALUE"):
            yield from (["no_such=1"], ["=1"])
        elif action.choices:
            yield ["no_such"]
        return
    option = action.option_strings[-1]
    if action.nargs == 0:
        yield [f"{option}=3"]
        return
    if action.nargs not in ("?", "*"):
        yield [option]
    if action.type in (int, float):
        values = NUMBERS + (["1.5"] if action.type is int else [])
    elif action.type is output_file:
        values = ["", ".", f"{FILE}/x.png", "/proc/x.png", "/dev/null"]
    elif action.type is output_folder:
        values = ["", FILE, f"{FILE}/x", "/proc/x"]
    else:
        values = [] if option in free else ["no_such"]
    yield from ([f"{option}={value}"] for value in values)


@pytest.mark.parametrize("name", commands())
def test_every_option_is_refused_in_one_line(name, parsers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE).touch()
    module, wrong = importlib.import_module(name), []
    for word, parser in parsers(module).items():
        place = f"{name} {word}".rstrip()
        good = [*filter(None, [word]), *GOOD.get(place, [])]
        cases = [["--no-such-option"], ["--no-such-option=1"]]
        for action in parser._actions:
            if action.dest != "help":
                cases += bad_words(action, FREE.get(place, []))
        wrong += filter(None, (complaint(module.main, good, words) for words in cases))
    assert not wrong, "\n".join(wrong)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def complaint(main, good, words):
    """What is wrong with how a command refuses the words; "" where nothing is."""
    try:
        line = refusal(main, [*good, *words])
    except AssertionError as error:
        return f"{[*good, *words]}: {error}"
    option, _, value = words[0].partition("=")
    told = (option.lstrip("-").split("-")[0], value or option)
    if not any(each in line for each in told):
        return f"{[*good, *words]}: neither option nor value is told: {line}"
    return ""


def test_commands_are_found():
    assert {"skills.population", "planner.table", "ver.train", "benchmarks.systems"} < {*commands()}
