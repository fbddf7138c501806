import importlib.util
import subprocess
import sys

import pytest

from console.commands import COMMANDS, help_text, main
from nav.table import TASKS


def called(monkeypatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rearrange", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_every_command_is_a_module_and_stands_in_the_help():
    for name, command in COMMANDS.items():
        assert importlib.util.find_spec(command.module) is not None
        assert f"  {name} " in help_text()
    assert max(map(len, help_text().splitlines())) <= 80


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_help_is_no_error(monkeypatch, capsys, words):
    assert called(monkeypatch, *words) == 0
    assert "usage: rearrange" in capsys.readouterr().out


def test_nothing_asked_and_unknown_words_end_with_2(monkeypatch, capsys):
    assert called(monkeypatch) == 2
    assert "usage: rearrange" in capsys.readouterr().err
    assert called(monkeypatch, "trian") == 2
    assert capsys.readouterr().err == (
        "rearrange: no command 'trian' (did you mean train?): rearrange --help lists them\n"
    )


def test_a_command_gets_its_arguments_and_gives_its_exit_code(monkeypatch, capsys):
    assert called(monkeypatch, "train", "jump") == 2
    assert "unknown skill 'jump'" in capsys.readouterr().err
    assert called(monkeypatch, "plan", "--help") == 0
    assert "usage: rearrange plan " in capsys.readouterr().out


def test_what_comes_first_can_be_said_otherwise(monkeypatch, capsys):
    assert called(monkeypatch, "demo", "--episodes", "0") == 2
    assert "--episodes" in capsys.readouterr().err


def test_a_live_view_is_the_live_page(monkeypatch, capsys):
    assert called(monkeypatch, "view", "--live", "pick", "--agent", "nobody") == 2
    assert capsys.readouterr().err.startswith(
        "rearrange live: argument --agent: invalid choice: 'nobody'"
    )


def test_a_view_of_a_navigation_task_is_its_own(monkeypatch, capsys):
    assert called(monkeypatch, "view", "--steps", "-1", "pointnav") == 2
    assert "--steps: must be from 0" in capsys.readouterr().err
    for task in TASKS:
        assert called(monkeypatch, "view", task, "--help") == 0
        assert "one episode of a navigation task" in capsys.readouterr().out
    assert called(monkeypatch, "view", "pick", "--help") == 0
    assert "one episode of a navigation task" not in capsys.readouterr().out


def test_help_loads_no_library():
    code = (
        "import sys, console.commands; sys.exit('numpy' in sys.modules or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_who_stands_in_another_checkout_is_told_whose_code_runs(monkeypatch, capsys, tmp_path):
    assert called(monkeypatch, "train", "jump") == 2
    assert "runs the code of" not in capsys.readouterr().err
    (tmp_path / "console").mkdir()
    (tmp_path / "console" / "commands.py").touch()
    monkeypatch.chdir(tmp_path)
    assert called(monkeypatch, "train", "jump") == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("rearrange: runs the code of ")
    assert "unknown skill 'jump'" in second


def test_the_version_is_told(monkeypatch, capsys):
    assert called(monkeypatch, "--version") == 0
    name, number = capsys.readouterr().out.split()
    assert name == "rearrange"
    assert number[0].isdigit()


def test_the_demo_has_a_help_of_its_own(monkeypatch, capsys):
    assert called(monkeypatch, "demo", "--help") == 0
    told = capsys.readouterr().out
    assert "usage: rearrange demo [option" in told
    assert "rearrange plan tidy_house --episodes 3" in told


@pytest.mark.parametrize("name", ["push", "pull"])
def test_a_help_shows_the_command_that_is_typed(monkeypatch, capsys, name):
    assert called(monkeypatch, name, "--help") == 0
    assert f"usage: rearrange {name} [-h]" in capsys.readouterr().out
