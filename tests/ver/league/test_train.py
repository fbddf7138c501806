import pytest

from tests.helpers.leagues import GAME, QUICK
from ver.errors import UserError
from ver.league.train import main, make_league


def test_settings_of_a_league_and_of_its_game(tmp_path, capsys):
    words = [*QUICK, f"run={tmp_path / 'run'}", "total_steps=64", "policies=3", "env.limit=2"]
    league = make_league(GAME, words)
    assert len(league.trainers) == 3
    assert league.arena.table.make_game().limit == 2
    assert main([GAME, *words]) == 0
    told = capsys.readouterr().err
    assert "training 3 policies of tests.helpers.coin_race:CoinRace in" in told
    assert "let them play: python -m ver rate" in told
    assert league.trainers[2].run_directory.name == "policy_2"
    assert main([GAME, *words]) == 0
    assert "resuming at step" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["policies=0"], "policies must be from 1 to 64, found 0"),
        (["ppo.learning_rate=-1"], "ppo.learning_rate"),
        (["env.size=3"], "takes no such arguments"),
        (["no.such=1"], "unknown key 'no'"),
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path, words, message):
    with pytest.raises(UserError, match=message):
        make_league(GAME, [f"run={tmp_path}", *words])
