"""What a person sees while training."""

import io
import time

from rich.console import Console

from ver.dashboard import Dashboard

ROW = {
    "steps": 50.0,
    "steps_per_second": 10.0,
    "episode/episode_return": 3.0,
    "episode/episode_length": 7.0,
    "episode/return": 3.0,
    "episode/success": 0.25,
    "time/learning": 0.4,
    "loss/entropy": 1.5,
    "faults/hung": 0.0,
}


def drawn(row: dict[str, float], width: int = 100, height: int = 50) -> list[list[str]]:
    file = io.StringIO()
    console = Console(file=file, width=width)
    console.print(Dashboard("pick", 200, live=False).table(row, width, height))
    return [line.split() for line in file.getvalue().splitlines()]


def test_the_table_shows_each_number_once_and_the_time_left():
    words = [word for line in drawn(ROW) for word in line]
    assert words.count("return") == 1
    assert "episode_return" not in words  # the task tells it itself
    assert "episode_length" in words  # which the task does not
    assert "0:00:15" in words
    assert "40%" in words
    assert "hung" not in words
    assert "hung" in [word for line in drawn(ROW | {"faults/hung": 2.0}) for word in line]


def test_the_plain_line_says_where_the_run_is():
    line = Dashboard("pick", 200, live=False).line(ROW)
    assert line.startswith("steps 50/200 | 10 steps/s | success 0.25 | episode_return 3 |")
    assert line.endswith("learning 40% | 0:00:00 so far | left 0:00:15")


def test_all_that_matters_fits_the_smallest_terminal():
    loss = dict.fromkeys(("policy_loss", "value_loss", "entropy", "kl", "learning_rate"), 1e-3)
    row = {**ROW, "seconds": 3700.0, "episodes": 1234.0}
    row |= {f"loss/{name}": value for name, value in loss.items()}
    row |= {f"loss/more_{k}": 1.0 for k in range(6)}
    row |= {f"episode/reward/part_{k}": 1.0 for k in range(12)}
    row |= {f"time/what_takes_time_{k}": 0.1 for k in range(8)}
    lines = drawn(row, 80, 24)
    words = [word for line in lines for word in line]
    assert len(lines) <= 23
    assert {"1:01:40", "1,234", "learning_rate", "more_5", "reward/part_11"} <= set(words)
    short = drawn(row, 80, 15)
    assert len(short) <= 14
    assert [word for line in short for word in line if word in ("and", "more")][:2] == [
        "and",
        "more",
    ]


def test_a_run_that_is_over_its_steps_is_done():
    words = [word for line in drawn(ROW | {"steps": 210.0}) for word in line]
    assert "(done)" in words
    assert not any("105" in word for word in words)


def test_a_person_is_told_how_long_figures_have_not_come(capsys, monkeypatch):
    monkeypatch.setattr("ver.dashboard.SILENT_S", 0.02)
    dashboard = Dashboard("pick", 200, live=False)
    dashboard.wait()
    told = ""
    while "no figures after 0:00:00" not in told:
        told += capsys.readouterr().out
    dashboard.update(ROW)
    dashboard.update(ROW)
    time.sleep(0.1)  # the thread may have been about to speak
    assert "left ?\n" in capsys.readouterr().out
    time.sleep(0.1)
    assert capsys.readouterr().out == ""


def test_the_first_row_does_not_tell_how_long_it_takes(capsys):
    """It compiles."""
    dashboard = Dashboard("pick", 200, interval_s=0.0, live=False)
    dashboard.update(ROW)
    assert capsys.readouterr().out.endswith("left ?\n")
    dashboard.update(ROW)
    assert capsys.readouterr().out.endswith("left 0:00:15\n")


def test_shares_that_are_none_are_left_out():
    line = Dashboard("pick", 200, live=False).line(
        ROW | {"time/packing": 0.004, "time/wait": 0.006}
    )
    assert "learning 40% wait 1% |" in line
