import pytest

from rearrange.command_line import OneLineParser


def test_parser_errors_are_one_line(capsys):
    parser = OneLineParser(prog="it")
    parser.add_argument("--number", type=int)
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--number", "x"])
    assert stopped.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
