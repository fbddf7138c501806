"""Training curves: what their axes say."""

import json

import pytest

from rearrange.errors import UserError
from skills import plot
from ver import UserError as VerUserError


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"metadata": {"task": {"action": {"repeat": 3}}}}, True),
        ({"metadata": {"task": {"action": {"repeat": 1}}}}, False),
        ({"metadata": {}}, False),
        (None, False),
    ],
)
def test_steps_of_repeated_actions_are_decisions(tmp_path, about, expected):
    if about is not None:
        (tmp_path / "run.json").write_text(json.dumps(about))
    assert plot.steps_are_decisions(tmp_path) == expected


def test_of_a_log_that_is_being_written_the_whole_rows_are_read(tmp_path):
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"steps": 1, "seconds": 2, "episode/success": 0.5}\n{"ste')
    assert [row["steps"] for row in plot.read_curve(tmp_path)] == [1]
    log.write_text('{"ste\n{"steps": 1}\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl:1: expected a row with its steps"):
        plot.read_curve(tmp_path)


def test_stages_follow_each_other_as_in_the_recipe_whenever_they_were_written(tmp_path):
    for steps, name in ((30, "in_chains"), (10, "alone"), (20, "stops_end")):
        (tmp_path / name).mkdir()
        row = {"steps": steps, "seconds": 1.0, "episode/success": 0.5}
        (tmp_path / name / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    about = {"metadata": {"recipe": {"stages": ["alone", "stops_end", "in_chains"]}}}
    (tmp_path / "alone" / "run.json").write_text(json.dumps(about))
    assert [row["steps"] for row in plot.read_curve(tmp_path)] == [10, 30, 60]


@pytest.mark.parametrize("rows", ["", '{"steps": 1, "seconds": 2}\n'])
def test_a_run_of_which_no_success_is_known_is_told(tmp_path, rows):
    (tmp_path / "metrics.jsonl").write_text(rows)
    assert plot.validation_points(tmp_path) == []
    with pytest.raises(VerUserError, match="no row of its log has episode/success"):
        plot.plot([tmp_path], tmp_path / "curves.png")


def test_what_describes_a_run_and_is_broken_is_told(tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(VerUserError, match=r"run\.json is broken"):
        plot.steps_are_decisions(tmp_path)


def test_curves_are_written_as_a_picture_and_nothing_else(tmp_path):
    with pytest.raises(UserError, match=r"--output must end in \.png, found .*curves\.txt"):
        plot.main([str(tmp_path), "--output", str(tmp_path / "curves.txt")])


@pytest.mark.parametrize(
    ("minutes", "ticks"),
    [
        (0.5, [0]),
        (17.3, [0, 5, 10, 15]),
        (9.9, [0, 2, 4, 6, 8]),
        (390.0, list(range(0, 391, 60))),
    ],
)
def test_minutes_are_told_finely_enough(minutes, ticks):
    assert list(plot.minute_ticks(minutes)) == ticks


def test_returns_are_drawn_where_nothing_can_succeed(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plot, "plot", lambda runs, output: drawn.append("success"))
    monkeypatch.setattr(plot, "plot_returns", lambda runs, output: drawn.append("return"))
    for row in ({}, {plot.RETURN: 7.0}, {plot.RETURN: 7.0, plot.SUCCESS: 0.5}):
        log = {"steps": 1, "seconds": 2} | row
        (tmp_path / "metrics.jsonl").write_text(json.dumps(log) + "\n")
        plot.main([str(tmp_path), "--output", str(tmp_path / "curve.png")])
    assert drawn == ["success", "return", "success"]


def test_a_picture_of_returns(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [{"steps": 1000 * n, "seconds": n, plot.RETURN: 2.0 * n} for n in range(1, 5)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    plot.plot_returns([tmp_path], tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5000
