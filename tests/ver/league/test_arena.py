import numpy as np

from tests.helpers.coin_race import CoinRace
from tests.helpers.leagues import quick_league


def test_all_agents_together_win_what_the_others_lose(tmp_path):
    played = quick_league(tmp_path, "total_steps=1000", policies=2)
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
    assert min(counts) / sum(counts) > 0.4  # chance gives each policy half of the seats
    # But for the newest episodes, whose other agent was not asked for yet
    assert abs(sum(map(sum, told))) <= 8


def test_a_game_that_falls_over_is_made_anew(tmp_path):
    rng = np.random.default_rng(0)
    played = quick_league(tmp_path, make=lambda: CoinRace(falls=lambda: rng.random() < 0.02))
    rows = played.train()
    assert all(row["steps"] == 512 for row in rows)
    assert sum(row["faults/raised"] for row in rows) >= 3
    assert sum(row["faults/steps_lost"] for row in rows) >= 6
    faults = (tmp_path / "policy_0" / "faults.jsonl").read_text()
    assert "raised OSError: the table fell over" in faults
