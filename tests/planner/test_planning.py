"""Plans that nobody follows."""

import pytest

from planner import eval as command
from rearrange.errors import UserError
from tests.helpers.planner_runs import run_json


def test_plans_alone_are_timed_and_validated(tmp_path, capsys):
    result = run_json(
        tmp_path, "--plan-only", "--validate-plans", "--episodes", "2", task="set_table"
    )
    assert (result["episodes"], result["validated"]) == (2, True)
    assert result["plan_length"] == {"median": 12.0, "max": 12.0}
    assert [record["index"] for record in result["records"]] == [0, 1]
    assert all("open-cab" in "".join(record["plan"]) for record in result["records"])
    assert 0.0 < result["planning_seconds"]["median"] <= result["planning_seconds"]["worst"]
    assert "set_table: 2 planned, all of them valid; plans of 12 steps" in capsys.readouterr().out
    with pytest.raises(UserError, match="--plan-only takes episodes from a file"):
        command.main(["set_table", "--plan-only", "--dataset", "sampled"])


def test_plans_alone_may_be_without_navigation(tmp_path):
    options = ("--plan-only", "--no-nav", "--episodes", "1")
    result = run_json(tmp_path, *options, task="set_table")
    assert not result["navigate"]
    assert result["plan_length"]["max"] == 6
    assert not any(step.startswith("(nav") for step in result["records"][0]["plan"])
