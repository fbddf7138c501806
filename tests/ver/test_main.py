"""`python -m ver`."""

import subprocess
import sys

import pytest

from tests.helpers import ROOT
from ver.__main__ import main
from ver.errors import UserError


def test_help_names_the_commands(capsys):
    assert main([]) == 0
    told = capsys.readouterr().out
    assert "train" in told
    assert "eval" in told
    with pytest.raises(SystemExit) as left:
        main(["eval", "--help"])
    assert left.value.code == 0


def test_an_unknown_command_is_refused():
    with pytest.raises(UserError, match="unknown command 'learn': choose one of train, eval"):
        main(["learn"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["train", "Nothing-v0"], "error: Nothing-v0: Environment `Nothing` doesn't exist."),
        (["train", "CartPole-v1", "ppo.clip=0"], "error: ppo.clip must be above 0"),
        (["eval", "nowhere"], "error: No checkpoint at nowhere"),
        (["eval", "x", "--episodes", "few"], "ver eval: argument --episodes: invalid int"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(words, told):
    command = [sys.executable, "-m", "ver", *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith(told)
    assert ended.stderr.count("\n") == 1
