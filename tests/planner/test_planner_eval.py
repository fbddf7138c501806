import json
import subprocess
import sys

import pytest

from planner import eval as command
from planner import evaluation, scenarios
from skills.command import run_command


@pytest.fixture
def stage(monkeypatch, stage_factory):
    """Tidy House in a world without physics."""
    stage = stage_factory()
    monkeypatch.setattr(scenarios, "open_stage", lambda scenario, split, skills: stage)
    return stage


def run_json(tmp_path, *arguments):
    path = tmp_path / "deep" / "result.json"
    assert command.main(["tidy_house", "--workers", "1", "--json", str(path), *arguments]) == 0
    return json.loads(path.read_text())


def test_json_has_the_promised_keys(stage, tmp_path):
    result = run_json(tmp_path, "--episodes", "3", "--seed", "4", "--split", "test")
    assert result["task"] == "tidy_house"
    assert (result["split"], result["episodes"], result["seed"]) == ("test", 3, 4)
    assert result["skills"] == {"navigate": "fake", "pick": "fake", "place": "fake"}
    assert set(result["full_task"]["success_at_end"]) == {"mean", "low", "high"}
    assert result["full_task"]["success_once"]["mean"] == 1.0
    assert [i["name"] for i in result["interactions"]][-2:] == ["pick_4", "place_4"]
    assert result["interactions"][0]["success"]["mean"] == 1.0
    assert result["failures"] == {}
    assert [r["index"] for r in result["records"]] == [0, 1, 2]
    assert len(set(stage.world.seeds)) == 3
    assert len(result["records"][0]["hand_offs"]) == 39
    assert "--seed 4" in result["command"]
    assert {"cpu", "cores"} <= set(result["machine"])


def test_failures_are_counted_by_cause(stage, tmp_path):
    stage.skills["pick"].never_done = (1,)
    result = run_json(tmp_path, "--episodes", "2")
    assert result["failures"] == {"pick: time-out": 2}
    assert result["full_task"]["success_at_end"]["mean"] == 0.0
    # pick_1 itself did hold its object: the chain ends after it.
    assert [i["success"]["mean"] for i in result["interactions"]] == [1.0] * 3 + [0.0] * 7
    assert stage.world.closed


def test_tables_are_printed_as_plain_lines(stage, tmp_path, capsys):
    run_json(tmp_path, "--episodes", "1")
    text = capsys.readouterr().out
    assert "episode 0: 10/10 interactions, 147 steps" in text
    assert "full task" in text
    assert "100.0 %" in text
    assert "\x1b[" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["laundry"], "unknown task 'laundry': choose one of tidy_house"),
        (["tidy_house", "--split", "moon"], "unknown split 'moon': choose one of train, val, test"),
        (
            ["tidy_house", "--skills", "magic"],
            "unknown skills 'magic': choose one of oracle, learned, mixed",
        ),
        (["tidy_house", "--engine", "x"], "unknown engine 'x': choose one of forward"),
        (["tidy_house", "--episodes", "0"], "--episodes must be at least 1, found 0"),
        (["tidy_house", "--episodes", "many"], "argument --episodes: invalid int value: 'many'"),
        (["tidy_house", "--colour", "red"], "unrecognized arguments: --colour red"),
        (
            ["tidy_house", "--navigate-timeout", "x"],
            "unknown navigate-timeout 'x': choose one of end, proceed",
        ),
        ([], "the following arguments are required: task"),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["planner.eval", *arguments])
    with pytest.raises(SystemExit) as stopped:
        run_command(command.main)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.err.partition(": ")[2].startswith(message)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_exit_code_reaches_the_shell():
    done = subprocess.run(
        [sys.executable, "-m", "planner.eval", "laundry"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "error: unknown task 'laundry': choose one of tidy_house\n"


def test_seed_decides_the_episodes(stage):
    def seeds(seed):
        stage.world.seeds.clear()
        settings = evaluation.EvaluationSettings("tidy_house", episodes=2, seed=seed)
        list(evaluation.run_episodes(settings, workers=1))
        return list(stage.world.seeds)

    assert seeds(1) == seeds(1)
    assert not set(seeds(1)) & set(seeds(2))


def test_worker_count_does_not_exceed_the_episodes(stage):
    settings = evaluation.EvaluationSettings("tidy_house", episodes=1)
    assert [r.index for r in evaluation.run_episodes(settings, workers=8)] == [0]
