import json

import numpy as np
import pytest
import torch

from tests.helpers.coin_race import CoinRace
from ver import TrainerConfig, load_policy, merge_config
from ver.__main__ import main
from ver.errors import UserError
from ver.league.league import League

QUICK = [
    "collect.num_environments=4",
    "collect.rollout_length=16",
    "network.hidden_size=8",
    "network.memory=lstm",
    "tensorboard=false",
    "learner_threads=1",
    "log_interval_s=1e9",
]
GAME = "tests.helpers.coin_race:CoinRace"


def league(directory, *overrides, policies=2, make=CoinRace, **more):
    config = merge_config(TrainerConfig, [], [*QUICK, "total_steps=512", *overrides])
    return League(config, make, directory, policies, **more)


def rows_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


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


def test_all_agents_together_win_what_the_others_lose(tmp_path):
    played = league(tmp_path, "total_steps=4000", policies=2)
    told = [[], []]
    for number, trainer in enumerate(played.trainers):
        drained = trainer.progress.add

        def add(reports, number=number, drained=drained):
            told[number] += [
                episode["episode_return"] for episodes, _ in reports for episode in episodes
            ]
            drained(reports)

        trainer.progress.add = add
    played.train()
    counts = [len(each) for each in told]
    assert min(counts) / sum(counts) > 0.45  # chance gives each policy half of the seats
    # But for the newest episodes, whose other agent was not asked for yet
    assert abs(sum(map(sum, told))) <= 8


def test_what_is_learned_repeats(tmp_path):
    learned = []
    for name in "ab":
        played = league(tmp_path / name)
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


def test_a_game_that_falls_over_is_made_anew(tmp_path):
    rng = np.random.default_rng(0)
    played = league(tmp_path, make=lambda: CoinRace(falls=lambda: rng.random() < 0.02))
    rows = played.train()
    assert all(row["steps"] == 512 for row in rows)
    assert sum(row["faults/raised"] for row in rows) >= 3
    assert sum(row["faults/steps_lost"] for row in rows) >= 6
    faults = (tmp_path / "policy_0" / "faults.jsonl").read_text()
    assert "raised OSError: the table fell over" in faults


def test_policies_are_kept_and_rated(tmp_path, capsys):
    run, path = tmp_path / "run", tmp_path / "ratings.json"
    words = [*QUICK, f"run={run}", "total_steps=1024", "snapshot_every=512", "env.limit=6"]
    assert main(["league", GAME, *words]) == 0
    kept = sorted(file.name for file in (run / "policy_1" / "snapshots").glob("*.safetensors"))
    assert kept == ["000000000512.safetensors", "000000001024.safetensors"]
    capsys.readouterr()
    assert main(["rate", str(run), "--games", "16", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert [row["steps"] for row in result["players"]] == [512, 1024, 1024] * 2
    assert result["players"][0]["elo"] == 0.0
    scores = np.array(result["scores"])
    np.testing.assert_array_equal(scores + scores.T, 16.0 * (1.0 - np.eye(6)))
    assert "policy_1/policy.safetensors" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("overrides", "more", "message"),
    [
        ([], {"policies": 0}, "policies must be from 1 to 64, found 0"),
        ([], {"snapshot_every": -1}, "snapshot_every must not be negative, found -1"),
        (["collect.overlap=true"], {}, "collect.overlap=true: a league collects in one process"),
        (["deterministic=true"], {}, "deterministic=true: .* set it to false"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, overrides, more, message):
    with pytest.raises(UserError, match=message):
        league(tmp_path, *overrides, **more)


def test_no_leagues_run_is_told(tmp_path):
    with pytest.raises(UserError, match="is no league's run directory"):
        main(["rate", str(tmp_path)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_later_policies_beat_earlier_ones(tmp_path, seed):
    words = [f"run={tmp_path}", f"seed={seed}", "total_steps=40000", "snapshot_every=10000"]
    words += ["collect.num_environments=16", "tensorboard=false", "policies=2"]
    path = tmp_path / "ratings.json"
    assert main(["league", GAME, *words]) == 0
    assert main(["rate", str(tmp_path), "--games", "160", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["players"]
    for own in (rows[:5], rows[5:]):
        assert own[-1]["elo"] > own[0]["elo"]
