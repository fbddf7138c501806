"""Bad values for every option of every command, from the parsers themselves: one line and exit code 2."""

import argparse
import importlib

import pytest

from console.commands import COMMANDS
from rearrange.command_line import OneLineParser, output_file, output_folder
from tests.helpers.refusals import refusal

FILE = "file"  # there is one of that name
NUMBERS = ["word", "nan", "inf", "", "-1", "9" * 30]
GOOD = {  # what has to stand before the options
    **{name: ["pick"] for name in ("train", "eval", "film", "live", "view", "record")},
    "plan": ["tidy_house"],
    "check-scene": ["home.yaml"],
    "episodes": ["generate", "pick"],
    "completion": ["bash"],
    "plot": ["run", "--output", "a.png"],
    "push": [FILE, "me/pick"],
    "pull": ["me/pick"],
}
FREE = {  # any text will do, or is known to be wrong only by who is asked
    "eval": ["--scenes"],
    "push": ["--result"],
    "pull": ["--revision"],
    "live": ["--host"],
}


class ReadError(Exception):
    """Carries the parser of a command that was about to read its words."""


@pytest.fixture
def parsers(monkeypatch):
    """Find the parser of a command without running it."""

    def find(module, words):
        def caught(parser, *_):
            raise ReadError(parser)

        with monkeypatch.context() as patch:
            for name in ("parse_args", "parse_intermixed_args"):
                patch.setattr(OneLineParser, name, caught)
            with pytest.raises(ReadError) as stopped:
                module.main(words)
        parser = stopped.value.args[0]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parser = action.choices[words[0]]
        return parser

    return find


def bad_words(action, free):
    """Words that an option cannot be given with."""
    option = action.option_strings[-1]
    if action.nargs == 0:
        yield [f"{option}=3"]
        return
    if action.nargs != "?":
        yield [option]
    if action.type in (int, float):
        values = NUMBERS + (["1.5"] if action.type is int else [])
    elif action.type is output_file:
        values = ["", ".", f"{FILE}/x.png"]
    elif action.type is output_folder:
        values = [FILE, f"{FILE}/x"]
    else:
        values = [] if option in free else ["no_such"]
    yield from ([f"{option}={value}"] for value in values)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_every_option_is_refused_in_one_line(name, parsers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE).touch()
    command = COMMANDS[name]
    module = importlib.import_module(command.module)
    if not hasattr(module, "main"):  # a package
        module = importlib.import_module(f"{command.module}.__main__")
    good = [*command.arguments, *GOOD.get(name, [])]
    parser = parsers(module, good)
    wrong = []
    cases = [["--no-such-option"], ["--no-such-option=1"]]
    for action in parser._actions:
        if action.option_strings and action.dest != "help":
            cases += bad_words(action, FREE.get(name, []))
    for words in cases:
        try:
            line = refusal(module.main, [*good, *words])
        except AssertionError as error:
            wrong.append(f"{words}: {error}")
            continue
        option, _, value = words[0].partition("=")
        told = (option.lstrip("-").split("-")[0], value or option)
        if not any(each in line for each in told):
            wrong.append(f"{words}: neither option nor value is told: {line}")
    assert not wrong, "\n".join(wrong)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
