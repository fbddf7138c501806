"""Command lines: errors, Ctrl-C and paths."""

import subprocess
import sys
from argparse import ArgumentTypeError

import pytest

from interrupts import INTERRUPTED
from interrupts.command_line import OneLineParser, output_file, output_folder, run_command


class MistakeError(Exception):
    pass


def ends(main, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["it", "word"])
    with pytest.raises(SystemExit) as left:
        run_command(main, (MistakeError,))
    return left.value.code


def test_a_command_ends_with_its_own_code_or_a_line(monkeypatch, capsys):
    def fail(error):
        def main(words):
            raise error

        return main

    assert ends(lambda words: 3 if words == ["word"] else 4, monkeypatch) == 3
    assert ends(lambda words: None, monkeypatch) == 0
    assert ends(fail(MistakeError("too much")), monkeypatch) == 2
    assert ends(fail(OSError(28, "No space left", "here")), monkeypatch) == 2
    assert ends(fail(OSError(28, "No space left")), monkeypatch) == 2
    assert ends(fail(KeyboardInterrupt()), monkeypatch) == INTERRUPTED
    told = capsys.readouterr().err.splitlines()
    full = ["error: here: No space left", "error: No space left"]
    assert told == ["error: too much", *full, "interrupted"]


@pytest.mark.parametrize(
    ("where", "code", "told"),
    [("| true", 130, ""), ("> /dev/full", 2, "error: No space left on device\n")],
)
def test_output_that_cannot_be_written_is_no_traceback(where, code, told):
    program = "from interrupts.command_line import run_command as r; r(lambda _: print('word'), ())"
    words = f'(sleep 0.2; "{sys.executable}" -c "{program}") {where}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, told)


def test_parser_errors_are_one_line(capsys):
    parser = OneLineParser(prog="it")
    with pytest.raises(SystemExit) as left:
        parser.parse_args(["--number"])
    assert left.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "9" * 30])
def test_numbers_beyond_all_sense_are_refused(word, capsys):
    parser = OneLineParser(prog="it")
    parser.add_argument("--seconds", type=float)
    assert parser.parse_args(["--seconds=0"]).seconds == 0.0
    with pytest.raises(SystemExit):
        parser.parse_args([f"--seconds={word}"])
    assert f"--seconds: must be from 0 to 2147483647, found {word}" in capsys.readouterr().err


def test_outputs_are_checked_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    assert output_file(str(tmp_path / "new" / "x.json")) == tmp_path / "new" / "x.json"
    assert output_folder(str(tmp_path / "new")) == tmp_path / "new"
    with pytest.raises(ArgumentTypeError, match="is a folder: name a file in it"):
        output_file(str(tmp_path))
    with pytest.raises(ArgumentTypeError, match="/dev/null is a device"):
        output_file("/dev/null")  # a file would replace it
    for check in (output_file, output_folder):
        with pytest.raises(ArgumentTypeError, match="/proc/x cannot be written"):
            check("/proc/x")  # also for those who may write everywhere
        with pytest.raises(ArgumentTypeError, match="is a file, no folder: choose another"):
            check(str(tmp_path / "file" / "below"))
