import json

import pytest
import torch

from tests.helpers.leagues import quick_league as league
from ver import load_policy
from ver.errors import UserError


def rows_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def files_of(run):
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize("policies", [1, 3])
def test_each_policy_learns_from_its_own_steps(tmp_path, policies):
    played = league(tmp_path, policies=policies)
    # 4 games of 2 agents, and each policy's share of 16 steps of each
    share = 8 * round(16 / policies)
    rows = played.train()
    weights = []
    for number, row in enumerate(rows):
        assert row["steps"] == -(-512 // share) * share
        logged = rows_of(tmp_path / f"policy_{number}")
        assert [each["steps"] for each in logged] == list(
            range(share, int(row["steps"]) + 1, share)
        )
        assert 1.0 <= row["episode/episode_length"] <= 8.0
        assert row["episode/score"] == pytest.approx(0.5 + 0.5 * row["episode/episode_return"])
        policy = load_policy(tmp_path / f"policy_{number}" / "policy.safetensors")
        weights.append(policy.head.state_dict())
    assert len({tuple(w["logits.weight"].flatten().tolist()) for w in weights}) == policies


def test_what_is_learned_repeats(tmp_path):
    learned = []
    for name in "ab":
        played = league(tmp_path / name, "total_steps=256")
        played.train()
        learned.append([trainer.policy.state_dict() for trainer in played.trainers])
    for one, other in zip(*learned, strict=True):
        for key, value in one.items():
            assert torch.equal(value, other[key]), key


def test_a_league_goes_on_where_it_was(tmp_path):
    played = league(tmp_path)
    stop = played.trainers[1].after_update
    played.trainers[1].after_update = lambda trainer, row: (
        stop(trainer, row) or trainer.steps >= 128
    )
    played.trainers[0].config.total_steps = 256
    played.train()
    assert [trainer.steps for trainer in played.trainers] == [256, 128]
    again = league(tmp_path)
    assert [trainer.steps for trainer in again.trainers] == [256, 128]
    again.train()
    assert [trainer.steps for trainer in again.trainers] == [512, 512]
    assert [row["steps"] for row in rows_of(tmp_path / "policy_1")] == list(range(64, 513, 64))
    assert league(tmp_path).train() == [{}, {}]  # nothing is left to do


def test_a_second_league_in_a_run_directory_is_refused_and_changes_nothing(tmp_path):
    first, second = league(tmp_path), league(tmp_path)
    adopted = tmp_path / "policy_0" / "adopt.safetensors"
    told = []

    def train_second(trainer, row):
        if not told:
            first.trainers[1].hand_over(adopted)
            before = files_of(tmp_path)
            with pytest.raises(UserError, match="another training writes into") as refused:
                second.train()
            assert files_of(tmp_path) == before
            told.append(refused.value)
        return True

    first.trainers[1].after_update = train_second
    first.train()
    assert told
    assert not adopted.exists()  # the first has taken it over since


@pytest.mark.parametrize(
    ("overrides", "more", "message"),
    [
        ([], {"policies": 0}, "policies must be from 1 to 64, found 0"),
        ([], {"snapshot_every": -1}, "snapshot_every must not be negative, found -1"),
        (["collect.overlap=true"], {}, "collect.overlap=true cannot be had in a league"),
        (["deterministic=true"], {}, "deterministic=true cannot be had in a league"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, overrides, more, message):
    with pytest.raises(UserError, match=message):
        league(tmp_path, *overrides, **more)
