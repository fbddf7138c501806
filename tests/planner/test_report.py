import json

import pytest

from planner.report import FIGURES, episode_table, read_result, redrives_line
from tests.helpers.planner_runs import run_json


@pytest.mark.usefixtures("stage")
def test_the_ledger_has_one_short_row_of_every_episode(tmp_path):
    path = tmp_path / "slim.json"
    full = run_json(tmp_path, "--episodes", "2", "--ledger", str(path))
    slim = json.loads(path.read_text())
    table = slim["per_episode"]
    assert table["rows"][0][:3] == [
        0,
        full["records"][0]["layout"],
        full["records"][0]["variation"],
    ]
    assert [row[-1] for row in table["rows"]] == ["2" * 10] * 2
    assert table["columns"][-1] == "interactions"
    assert "records" not in slim
    assert slim["full_task"] == full["full_task"]
    assert str(tmp_path) not in path.read_text()
    assert read_result(path, FIGURES) == slim


def test_new_drives_are_counted(tmp_path, stage):
    navigate, done = stage.skills["navigate"], stage.skills["navigate"].done
    navigate.done = lambda world: len(navigate.resets) not in (2, 5) and done(world)
    result = run_json(tmp_path, "--episodes", "2", "--redrive", "3")
    assert result["redrives"] == {"limit": 3, "drives": 2, "episodes": 1}
    assert result["executive"]["redrives"] == 3
    line = "driving anew, at most 3 times in a row: 2 in 1 episode"
    assert redrives_line(result["redrives"]) == line
    assert run_json(tmp_path, "--episodes", "1")["redrives"] is None


def test_an_empty_table_says_what_it_waits_for():
    caption = str(episode_table([], 3).caption)
    assert caption == "0 of 3 episodes: they begin once all is loaded, and compiled where it is new"
