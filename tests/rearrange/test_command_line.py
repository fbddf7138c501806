import subprocess
import sys
import textwrap
from argparse import Namespace
from pathlib import Path

import pytest
from PIL import Image

from rearrange.command_line import check_counts, check_picture, output_console, refuse, save_picture
from rearrange.errors import UserError
from tests.helpers import ROOT


def test_a_count_below_one_is_named():
    options = Namespace(episodes=1, max_steps=0, workers=None)
    check_counts(options, "episodes", "workers")
    with pytest.raises(UserError, match=r"^--max-steps must be at least 1, found 0$"):
        check_counts(options, "episodes", "max_steps")


def test_pictures_are_written_and_told_or_refused_in_one_line(tmp_path, capsys):
    check_picture(Namespace(output=None))
    with pytest.raises(UserError, match=r"^--output must end in \.png, found sheet\.gif$"):
        check_picture(Namespace(output=Path("sheet.gif")))
    picture, path = Image.new("L", (2, 2)), tmp_path / "new" / "sheet.png"
    save_picture(picture, path, "sheet: ")
    assert capsys.readouterr().out == f"sheet: {path}\n"
    assert Image.open(path).size == (2, 2)
    with pytest.raises(ZeroDivisionError):
        save_picture(Namespace(save=lambda file, kind: file.write_bytes(b"half") / 0), path)
    assert Image.open(path).size == (2, 2)  # what was there is whole
    assert [each.name for each in path.parent.iterdir()] == ["sheet.png"]
    with pytest.raises(UserError, match=r"sheet\.png: .*choose another --output") as error:
        save_picture(picture, path / "sheet.png")  # in what is no folder
    assert "\n" not in str(error.value)


def test_an_option_that_does_not_go_with_another_is_named():
    options = Namespace(video=False, record_hand_offs="x", replan=0)
    refuse(options, "leave out {option}", video=False, replan=0)
    with pytest.raises(UserError, match=r"^--plan-only: leave out --record-hand-offs$"):
        refuse(options, "--plan-only: leave out {option}", video=False, record_hand_offs=None)


def test_sigterm_ends_a_command_like_ctrl_c_and_leaves_no_unfinished_film(tmp_path):
    program = textwrap.dedent(
        """
        import sys, time
        import numpy as np
        from rearrange.command_line import run_command
        from rearrange.render import VideoWriter

        def main(arguments):
            with VideoWriter(arguments[0]) as writer:
                writer.write(np.zeros((50, 70, 3), np.uint8))
                print("begun", flush=True)
                time.sleep(100)

        run_command(main)
        """
    )
    command = [sys.executable, "-c", program, str(tmp_path / "film.mp4")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert list(tmp_path.glob(".film.mp4.*.tmp"))
        process.terminate()
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_tables_are_wide_where_no_terminal_says_how_wide_it_is(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert output_console().width == 120
    monkeypatch.setenv("COLUMNS", "50")
    assert output_console().width == 50
