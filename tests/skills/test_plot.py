"""Training curves: what their axes say."""

import json

import pytest

from skills import plot


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
