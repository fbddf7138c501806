"""Values of the YAML files that say what is what in a model."""

import pytest

from rearrange.declarations import (
    as_file,
    as_mapping,
    as_name,
    as_number,
    as_numbers,
    as_record,
    as_text,
    nearest,
    parse_yaml,
)
from rearrange.errors import UserError
from tests.helpers import ROOT

FILE = ROOT / "home.yaml"


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (as_text, ""),
        (as_text, 3),
        (as_name, "two words"),
        (as_name, "1st"),
        (as_number, True),
        (as_number, "2"),
        (as_number, float("nan")),
        (as_mapping, {}),
        (as_mapping, {1: 2}),
        (as_mapping, []),
    ],
)
def test_what_is_wrong_names_file_key_and_value(read, value):
    with pytest.raises(UserError, match=r"home\.yaml: parts\.x: ") as told:
        read(FILE, "parts.x", value)
    assert "\n" not in str(told.value)


def test_so_many_numbers_are_read():
    assert as_numbers(FILE, "at", [1, 2.5], 2) == (1.0, 2.5)
    with pytest.raises(UserError, match="3 numbers are expected"):
        as_numbers(FILE, "at", [1, 2.5], 3)


def test_a_record_has_known_names_and_those_that_are_needed():
    assert as_record(FILE, "", {"a": 1}, ("a", "b"), ("a",)) == {"a": 1}
    with pytest.raises(UserError, match="c: unknown key: a, b are known"):
        as_record(FILE, "", {"a": 1, "c": 1}, ("a", "b"), ("a",))
    with pytest.raises(UserError, match=r"parts\.a is missing"):
        as_record(FILE, "parts", {"b": 1}, ("a", "b"), ("a",))


def test_near_names_are_told():
    assert nearest("draw", ["drawer", "door"]) == "did you mean drawer?"
    assert nearest("x", []) == "there are none"


def test_what_is_no_file_or_no_yaml_is_told(tmp_path):
    with pytest.raises(UserError, match="name the YAML file of a robot"):
        parse_yaml(tmp_path / "none.yaml", "robot")
    (tmp_path / "odd.yaml").write_text("a: [")
    with pytest.raises(UserError, match="no YAML"):
        parse_yaml(tmp_path / "odd.yaml", "robot")


def test_a_file_is_found_beside_the_words_or_in_a_package(tmp_path):
    words = tmp_path / "words.yaml"
    (tmp_path / "mug.obj").write_text("")
    assert as_file(words, "model", "mug.obj") == tmp_path / "mug.obj"
    assert as_file(words, "model", "yaml:__init__.py").parent.name == "yaml"
    for value, complaint in (
        ("cup.obj", r"model: there is no file .*cup\.obj"),
        (
            "no_such_thing:cup.obj",
            "model: no package no_such_thing is installed: pip install --no-deps no_such",
        ),
        ("yaml:cup.obj", r"model: there is no file .*cup\.obj"),
    ):
        with pytest.raises(UserError, match=complaint):
            as_file(words, "model", value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: 2024-13-45", "month must be in"),
        ("scale: !!int abc", "invalid literal"),
        ("parts: {door: 1, door: 2}", "line 1: 'door' stands twice"),
        ("a: 1\nb: 2\na: 1", "line 3: 'a' stands twice"),
    ],
)
def test_what_yaml_cannot_make_sense_of_is_a_line(tmp_path, text, told):
    path = tmp_path / "home.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=told) as found:
        parse_yaml(path, "home")
    assert "\n" not in str(found.value)


def test_a_merged_key_may_be_written_anew(tmp_path):
    path = tmp_path / "home.yaml"
    path.write_text("a: &a {p: 1, q: 2}\nb: {<<: *a, p: 3}")
    assert parse_yaml(path, "home")["b"] == {"p": 3, "q": 2}
