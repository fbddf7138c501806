"""Leagues whose later policies are rated beside earlier ones."""

import json

import pytest

from benchmarks.league import main, summarise
from skills.command import USER_ERRORS
from tests.helpers.leagues import GAME, QUICK
from ver.errors import UserError


def player(steps, elo):
    return {"policy": f"at {steps}", "steps": steps, "elo": elo, "points": 0.0}


def test_ratings_are_summed_up_by_how_long_a_policy_had_learned():
    """Two policies, each kept twice: one has risen by 30, the other has fallen by 10."""
    scores = [[0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]
    league = {
        "players": [player(10, 0.0), player(20, 30.0), player(12, 20.0), player(22, 10.0)],
        "scores": scores,
    }
    found = summarise([league], 2)
    assert found["moments"] == [
        {"steps": 11.0, "elo": 0.0, "worst": -10.0},
        {"steps": 21.0, "elo": 10.0, "worst": 0.0},
    ]
    assert (found["rises"], found["of"]) == (1, 2)
    assert found["points_of_last_against_first"] == pytest.approx((0.75 + 0.5) / 2)
    assert found["fewest"] == 0.5


def test_leagues_are_trained_and_rated_once(tmp_path, capsys, monkeypatch):
    path, run = tmp_path / "told.json", tmp_path / "run"
    words = ["--game", GAME, "--steps", "256", "--snapshots", "2", "--games", "4", "--seeds", "2"]
    words += ["--policies", "2", "--run", str(run), "--json", str(path), *QUICK, "env.limit=6"]
    assert main(words) == 0
    found = json.loads(path.read_text())
    assert [league["league_seed"] for league in found["leagues"]] == [1, 2]
    assert [row["steps"] for row in found["moments"]] == [128, 256]
    assert found["of"] == 4
    assert "policies in a league: 2" in capsys.readouterr().out
    monkeypatch.setattr("benchmarks.league.make_league", None)
    assert main(words) == 0
    assert json.loads(path.read_text())["leagues"] == found["leagues"]
    with pytest.raises(UserError, match="begun with other settings"):
        main([*words, "env.limit=7"])


def test_bad_input_is_one_line(capsys):
    for words, told in (
        (["--snapshots", "1"], "--snapshots must be at least 2 and at most --steps"),
        (["--seeds", "0"], "--seeds must be at least 1, found 0"),
        (["--policies", "99"], "--policies must be from 1 to 64, found 99"),
    ):
        with pytest.raises((SystemExit, *USER_ERRORS)) as ended:
            main(words)
        assert told in capsys.readouterr().err + str(ended.value)
