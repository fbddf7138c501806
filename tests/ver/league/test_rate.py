import json

import numpy as np
import pytest

from tests.helpers.leagues import GAME, QUICK, quick_league
from ver.__main__ import main
from ver.errors import UserError
from ver.league.rate import Told


def test_policies_are_kept_and_rated(tmp_path, capsys):
    run, path = tmp_path / "run", tmp_path / "ratings.json"
    words = [*QUICK, f"run={run}", "total_steps=512", "snapshot_every=256", "env.limit=6"]
    assert main(["league", GAME, *words]) == 0
    kept = sorted(file.name for file in (run / "policy_1" / "snapshots").glob("*.safetensors"))
    assert kept == ["000000000256.safetensors", "000000000512.safetensors"]
    capsys.readouterr()
    assert main(["rate", str(run), "--games", "16", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert [row["steps"] for row in result["players"]] == [256, 512] * 2
    assert result["players"][0]["elo"] == 0.0
    scores = np.array(result["scores"])
    np.testing.assert_array_equal(scores + scores.T, 16.0 * (1.0 - np.eye(4)))
    assert "policy_1/policy.safetensors" in capsys.readouterr().out


def test_a_league_that_names_no_game_is_told(tmp_path):
    quick_league(tmp_path, "total_steps=64").train()
    with pytest.raises(UserError, match="names no game: train with python -m ver league"):
        main(["rate", str(tmp_path)])


def test_a_leagues_policies_are_not_judged_alone(tmp_path):
    quick_league(tmp_path, "total_steps=64", metadata={"game": GAME, "arguments": {}}).train()
    with pytest.raises(UserError, match=r"is of a league: python -m ver rate"):
        main(["eval", str(tmp_path)])
    with pytest.raises(UserError, match=r"is of a league, whose policies python -m ver rate"):
        main(["eval", str(tmp_path / "policy_0")])


def test_one_policy_has_nobody_to_play(tmp_path):
    about = {"game": GAME, "arguments": {}}
    quick_league(tmp_path, "total_steps=64", policies=1, metadata=about).train()
    with pytest.raises(UserError, match=r"one policy as it is now, .*: train with snapshot_every"):
        main(["rate", str(tmp_path)])


def test_how_far_it_is_is_told_at_times(monkeypatch, capsys):
    told = Told()
    told(1, 6)
    monkeypatch.setattr("ver.league.rate.EVERY_S", 0.0)
    told(2, 6)
    assert capsys.readouterr().err == "2 of 6 pairs have played\n"


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
    for own in (rows[:4], rows[4:]):
        assert own[-1]["elo"] > own[0]["elo"]
