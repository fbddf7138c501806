"""Evaluation of a skill."""

import json

import pytest

from skills import eval as evaluation
from ver import UserError


def test_figures_do_not_depend_on_the_number_of_workers(pick_checkpoint, tmp_path):
    records = []
    for workers in ("1", "2"):
        path = tmp_path / f"{workers}.json"
        common = ["pick", "--checkpoint", str(pick_checkpoint), "--episodes", "3", "--seed", "4"]
        assert evaluation.main([*common, "--workers", workers, "--json", str(path)]) == 0
        records.append(json.loads(path.read_text()))
    one, two = records
    for record in records:
        keys = {"skill", "split", "episodes", "seed", "checkpoint", "failures", "steps_per_second"}
        assert keys <= set(record)
        assert (
            set(record["success_at_end"]) == {"mean", "low", "high"} == set(record["success_once"])
        )
    assert one["means"] == two["means"]
    assert one["failures"] == two["failures"]


def test_summary_counts_causes_of_failed_episodes_only():
    won = {"episode": 1, "success": 1.0, "success_once": 1.0, "length": 5.0, "failure/timeout": 0.0}
    lost = {
        "episode": 0,
        "success": 0.0,
        "success_once": 1.0,
        "length": 7.0,
        "failure/timeout": 1.0,
    }
    summary = evaluation.summarise([won, lost])
    assert summary["success_at_end"]["mean"] == 0.5
    assert summary["success_once"]["mean"] == 1.0
    assert summary["failures"] == {"timeout": 1}
    assert summary["means"] == {"length": 6.0}


@pytest.mark.parametrize("arguments", [["--episodes", "0"], ["--workers", "0"]])
def test_counts_must_be_positive(arguments):
    with pytest.raises(UserError, match="at least 1"):
        evaluation.parse(["pick", *arguments])
