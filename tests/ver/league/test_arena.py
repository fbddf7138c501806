import numpy as np
import pytest

from tests.helpers.coin_race import CoinRace
from tests.helpers.leagues import quick_league
from ver.errors import WorkerCrashError


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


class Moody(CoinRace):
    """Has something wrong in one reset or step of fifty."""

    def __init__(self, wrong, rng):
        super().__init__()
        self.wrong, self.rng = wrong, rng

    def reset(self, seed=None, options=None):
        shown, infos = super().reset(seed)
        if self.wrong == "reset" and self.rng.random() < 0.02:
            shown["red"] = shown["red"] * np.nan
        return shown, infos

    def step(self, actions):
        shown, worth, over, late, infos = super().step(actions)
        if self.wrong == "step" and self.rng.random() < 0.02:
            worth["blue"] = float("inf")
        if self.wrong == "ends" and not self.agents:
            over, late = dict.fromkeys(over, False), dict.fromkeys(late, False)
        if self.wrong == "agents" and not self.agents:
            self.agents = list(self.possible_agents)
        return shown, worth, over, late, infos


@pytest.mark.parametrize(
    ("wrong", "faults"), [("reset", True), ("step", True), ("ends", False), ("agents", False)]
)
def test_games_with_something_wrong_do_no_harm(tmp_path, wrong, faults):
    """NaN when they begin, infinite rewards, agents that leave without a word, or end and stay."""
    rng = np.random.default_rng(0)
    rows = quick_league(tmp_path, "total_steps=256", make=lambda: Moody(wrong, rng)).train()
    assert [row["steps"] for row in rows] == [256, 256]
    assert (sum(row["faults/not_finite"] for row in rows) > 0) == faults
    assert 1.0 <= rows[0]["episode/episode_length"] <= 8.0


def test_too_many_faults_end_the_league_and_are_told(tmp_path, capsys):
    league = quick_league(
        tmp_path, "collect.max_faults_per_hour=0", make=lambda: CoinRace(falls=lambda: True)
    )
    with pytest.raises(WorkerCrashError):
        league.train()
    assert "the table fell over" in capsys.readouterr().out


@pytest.mark.parametrize("resets", [0, 6])  # of the four games: one at the start, one later
def test_a_game_that_does_not_begin_again_ends_the_league_in_one_line(tmp_path, capsys, resets):
    left = [resets]

    class Locked(CoinRace):
        def reset(self, seed=None, options=None):
            left[0] -= 1
            if left[0] < 0:
                raise OSError("the box is locked")
            return super().reset(seed)

    league = quick_league(tmp_path, make=Locked)
    with pytest.raises(
        WorkerCrashError, match=r"^game \d cannot be started: .* is locked; mend it"
    ):
        league.train()
    assert "Traceback" in capsys.readouterr().out
