"""Household scenarios as arms: their commands, and what is read of their results."""

import json

import pytest

from experiments.arms import Training, result
from experiments.chains import Chain

PICK, PLACE = Training("pick, near", "pick", ()), Training("place, near", "place", ())


def words_of(job) -> str:
    return " ".join(job.arguments)


def test_a_chain_plays_after_its_skills_were_trained(tmp_path):
    arm = Chain("Tidy", "tidy_house", "learned", (PICK, PLACE), ("--episodes", "3", "--no-nav"))
    *trains, judge, play = arm.jobs(2, tmp_path)
    assert [job.name for job in trains] == ["train_pick_near_2", "train_place_near_2"]
    assert judge.name == "judge_pick_near_2"  # Place's own task is not told
    assert play.after == ("train_pick_near_2", "train_place_near_2")
    pick, place = (
        tmp_path / "runs" / f"{name}_near_2" / "policy.safetensors" for name in ("pick", "place")
    )
    assert f"tidy_house --skills learned,pick={pick},place={place} " in words_of(play)
    assert (
        f"--seed 2 --workers 1 --episodes 3 --no-nav --ledger {result(tmp_path, 'Tidy', 2)}"
        in words_of(play)
    )


def test_one_policy_plays_alone_and_plans_need_no_training(tmp_path):
    whole = Training("whole", "tidy_house", ())
    train, play = Chain("one", "tidy_house", "monolithic", (whole,)).jobs(1, tmp_path)
    assert (
        f"--skills monolithic={tmp_path / 'runs' / 'whole_1' / 'policy.safetensors'} "
        in words_of(play)
    )
    assert play.after == (train.name,)
    (play,) = Chain("spa", "tidy_house", "spa").jobs(1, tmp_path)
    assert "--skills spa --dataset sampled" in words_of(play)


@pytest.mark.parametrize("trained", [True, False])
def test_figures_are_those_of_the_first_interactions_and_of_the_whole(trained, tmp_path):
    told = {
        "full_task": {"success_at_end": {"mean": 0.1}, "success_once": {"mean": 0.2}},
        "interactions": [
            {"success": {"mean": mean}, "success_at_end": {"mean": 0.0}}
            for mean in (0.9, 0.8, 0.7, 0.6)
        ],
    }
    for path, each in (
        (result(tmp_path, "a", 1), told),
        (result(tmp_path, PICK.name, 1), {"success_at_end": {"mean": 0.95}}),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(each))
    log = tmp_path / "runs" / "pick_near_1" / "metrics.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"steps": 9, "seconds": 1.0}))
    arm = Chain("a", "tidy_house", "learned", (PLACE, PICK) if trained else ())
    assert arm.row(1, tmp_path) == {
        "success": 0.1,
        "after_1": 0.9,
        "after_2": 0.8,
        "after_3": 0.7,
        "pick_alone": 0.95 if trained else None,
    }
    assert arm.curve(1, tmp_path) == {}
