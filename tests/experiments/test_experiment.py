"""Experiments: the order of their commands, and what is gathered of them."""

from dataclasses import dataclass
from typing import Any

import pytest

from experiments.claims import HOLDS, Claim
from experiments.experiment import POINTS, Experiment, rounded
from skills.jobs import Job


@dataclass(frozen=True)
class Told:
    """An arm whose figures are known."""

    name: str
    speed: float
    length: int = 3

    def jobs(self, seed, folder):
        return [Job("shared", ("-c", "pass")), Job(f"{self.name}_{seed}", ("-c", self.name))]

    def row(self, seed, folder):
        return {"speed": self.speed + seed / 7}

    def curve(self, seed, folder):
        steps = [float(10 * i) for i in range(1, self.length + 1)]
        return {"steps": steps, "seconds": steps, "success": [i / 100 for i in steps]}


def experiment(*arms: Told, **more: Any) -> Experiment:
    claim = Claim("a is faster", "speed", "a", "b", least=1.0)
    return Experiment(
        "toy", "Paper", "Table 9", lambda quick: arms, {"speed": "speed"}, (claim,), ("Smaller.",), **more
    )  # fmt: skip


def test_seeds_take_turns_and_what_arms_share_is_run_once(tmp_path):
    jobs = experiment(Told("a", 20.0), Told("b", 10.0)).jobs(True, 2, tmp_path)
    assert [job.name for job in jobs] == ["shared", "a_1", "b_1", "a_2", "b_2"]


def test_two_commands_of_one_name_are_refused(tmp_path):
    arms = Told("a", 20.0), Told("a", 10.0)
    assert len(experiment(*arms).jobs(True, 1, tmp_path)) == 2  # the same command

    class Other(Told):
        def jobs(self, seed, folder):
            return [Job("shared", ("-c", "other"))]

    with pytest.raises(ValueError, match="two commands are called shared"):
        experiment(Told("a", 1.0), Other("b", 1.0)).jobs(True, 1, tmp_path)


def test_rows_verdicts_and_curves_are_gathered(tmp_path):
    arms = Told("a", 20.0), Told("b", 10.0, length=5)
    record = experiment(*arms, curves=("success", "spl")).gather(False, 3, tmp_path)
    assert record["rows"][0] == {"arm": "a", "seed": 1, "speed": 20.14}
    assert [(row["arm"], row["seed"]) for row in record["rows"][:3]] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
    ]
    assert [claim["verdict"] for claim in record["claims"]] == [HOLDS]
    line = record["curves"]["b"]["success"]["seconds"]
    assert len(line["grid"]) == len(line["low"]) == POINTS
    assert (line["grid"][-1], line["mean"][-1]) == (50.0, 0.5)
    assert "spl" not in record["curves"]["b"]  # there is none


def test_without_time_curves_are_of_steps_alone(tmp_path):
    told = experiment(Told("a", 1.0), curves=("success",), timed=False).gather(True, 1, tmp_path)
    assert list(told["curves"]["a"]["success"]) == ["steps"]
    assert experiment(Told("a", 1.0)).gather(True, 1, tmp_path)["curves"] == {}


def test_figures_keep_four_digits():
    assert rounded({"a": [123456.0, 0.00123456, 7, None, "x"]}) == {
        "a": [123500.0, 0.001235, 7, None, "x"]
    }
