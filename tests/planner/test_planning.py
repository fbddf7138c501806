"""Plans that nobody follows."""

import sys

import pytest

from planner import eval as command
from planner import evaluation
from planner.search import PlanningError
from rearrange.errors import UserError
from skills.command import run_command
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
    told = capsys.readouterr().out
    assert "set_table: 2 planned, all of them valid; plans of 12 steps" in told
    for record in result["records"]:
        assert "\n  ".join([f"episode {record['index']}:", *record["plan"]]) in told
    with pytest.raises(UserError, match="--plan-only takes episodes from a file"):
        command.main(["set_table", "--plan-only", "--dataset", "sampled"])


def test_plans_alone_may_be_without_navigation(tmp_path):
    options = ("--plan-only", "--no-nav", "--episodes", "1")
    result = run_json(tmp_path, *options, task="set_table")
    assert not result["navigate"]
    assert result["plan_length"]["max"] == 6
    assert not any(step.startswith("(nav") for step in result["records"][0]["plan"])


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("how", [["--plan-only"], ["--replan", "--workers", "1"]])
def test_an_episode_without_a_plan_is_named_in_one_line(how, monkeypatch, capsys):
    def fails(problem, engine, validate):
        raise PlanningError("the problem has no plan")

    monkeypatch.setattr(evaluation, "find_plan", fails)
    monkeypatch.setattr(sys, "argv", ["planner.eval", "set_table", *how, "--episodes", "1"])
    with pytest.raises(SystemExit) as stopped:
        run_command(command.main)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "error: episode 0 of set_table: the problem has no plan\n"
