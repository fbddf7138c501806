"""`python -m ver`."""

import pytest

from tests.helpers.refusals import refusal_of
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
    assert refusal_of("ver", words).startswith(told)
