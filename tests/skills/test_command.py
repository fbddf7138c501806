"""What the command lines share."""

import argparse
import json

import pytest

import rearrange.errors
import ver.errors
from rearrange.command_line import output_file, output_folder
from rearrange.shipped import SHIPPED
from skills.command import (
    counted,
    run_command,
    short_path,
    write_json,
)


@pytest.mark.parametrize("kind", [rearrange.errors.UserError, ver.errors.UserError])
def test_user_errors_become_one_line_and_exit_code_2(kind, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["command"])

    def main(_arguments):
        raise kind("take the other one")

    with pytest.raises(SystemExit) as stopped:
        run_command(main)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "error: take the other one\n"


def test_other_errors_are_not_hidden(monkeypatch):
    monkeypatch.setattr("sys.argv", ["command"])

    def main(_arguments):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_command(main)


def test_json_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "figures.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [file.name for file in path.parent.iterdir()] == ["figures.json"]


def test_one_is_singular():
    assert [counted(n, "episode") for n in (0, 1, 2)] == ["0 episodes", "1 episode", "2 episodes"]


def test_paths_are_told_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert short_path(tmp_path / "a" / "b.json") == "a/b.json"
    assert short_path("oracle") == "oracle"
    assert short_path(tmp_path.parent / "b.json") == str(tmp_path.parent / "b.json")
    shipped = SHIPPED / "data" / "checkpoints" / "pick.safetensors"  # of a wheel, too
    assert short_path(shipped) == "data/checkpoints/pick.safetensors"


def test_lists_of_plain_values_take_one_line(tmp_path):
    path = tmp_path / "a.json"
    value = {"rows": [[1, 2.5, "a [ b"], [3, None, "c\\n]"]], "empty": [], "deep": [{"a": [1]}]}
    write_json(path, value)
    assert json.loads(path.read_text()) == value
    assert '  [1, 2.5, "a [ b"],\n' in path.read_text()


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (
            PermissionError(13, "Permission denied", "a.json"),
            2,
            "error: a.json: Permission denied\n",
        ),
    ],
)
def test_interruptions_and_what_the_system_refuses_are_one_line(
    error, code, told, capsys, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["command"])

    def main(_arguments):
        raise error

    with pytest.raises(SystemExit) as stopped:
        run_command(main)
    assert stopped.value.code == code
    assert capsys.readouterr().err == told


def test_outputs_are_checked_where_they_are_named(tmp_path):
    (tmp_path / "file").touch()
    assert output_file(str(tmp_path / "new" / "a.json")) == tmp_path / "new" / "a.json"
    assert output_folder(str(tmp_path / "new")) == tmp_path / "new"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]  # nothing is left
    for check, name, told in (
        (output_file, "", "is a folder: name a file in it"),
        (output_file, "file/a.json", "file is a file, no folder"),
        (output_folder, "file", "file is a file, no folder"),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match=told):
            check(str(tmp_path / name))
