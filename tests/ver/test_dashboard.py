"""What a person sees while training."""

import io

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


def drawn(row: dict[str, float]) -> list[list[str]]:
    file = io.StringIO()
    console = Console(file=file, width=100)
    console.print(Dashboard("pick", 200, live=False)._table(row))
    return [line.split() for line in file.getvalue().splitlines()]


def test_the_table_shows_each_number_once_and_the_time_left():
    words = [word for line in drawn(ROW) for word in line]
    assert words.count("return") == 1
    assert "episode_return" not in words  # the task tells it itself
    assert "episode_length" in words  # which the task does not
    assert "0:00:15" in words
    assert "40.0%" in words
    assert "hung" not in words
    assert "hung" in [word for line in drawn(ROW | {"faults/hung": 2.0}) for word in line]


def test_the_plain_line_says_where_the_run_is():
    line = Dashboard("pick", 200, live=False).line(ROW)
    assert line.startswith("steps 50/200 | 10 steps/s | success 0.25 | episode_return 3 |")
    assert line.endswith("learning 40% | left 0:00:15")
