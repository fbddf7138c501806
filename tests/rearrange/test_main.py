"""`python -m rearrange` says in one line what to type."""

import runpy

import pytest


def test_it_names_the_command(capsys):
    with pytest.raises(SystemExit) as left:
        runpy.run_module("rearrange", run_name="__main__")
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "python -m console --help" in told
