"""The command line of experiments: what is run, where results go, and that a killed one goes on."""

import json
from dataclasses import replace

import pytest

from experiments import __main__ as command
from experiments.claims import Claim
from experiments.experiment import Experiment
from skills.command import USER_ERRORS
from skills.jobs import Job

WRITE = "import pathlib, sys; pathlib.Path(sys.argv[1]).open('a').write('x')"
FAIL = f"{WRITE}; sys.exit(int(not pathlib.Path(sys.argv[2]).exists()))"


class Counting:
    """An arm that counts how often it was run, and fails until a file is there."""

    def __init__(self, name, code=WRITE):
        self.name, self.code = name, code

    def jobs(self, seed, folder):
        words = (str(folder / f"{self.name}_{seed}"), str(folder / "ready"))
        return [Job(f"{self.name}_{seed}", ("-c", self.code, *words))]

    def row(self, seed, folder):
        return {"runs": len((folder / f"{self.name}_{seed}").read_text())}

    def curve(self, seed, folder):
        return {}


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """One experiment, a ledger of its own, and no matplotlib needed."""
    arms = Counting("a"), Counting("b", FAIL)
    claim = Claim("b is run more often", "runs", "b", "a", least=1.0)
    experiment = Experiment(
        "toy", "Paper", "Table 9", lambda quick: arms, {"runs": "runs"}, (claim,), ("It is a toy.",)
    )
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(command, "EXPERIMENTS", {"toy": experiment})
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "load_pyplot", lambda: None)
    monkeypatch.setattr(command, "plot", lambda experiment, record, path: None)
    monkeypatch.setattr(command, "commit_of", lambda root: ("0" * 40, False))
    return experiment  # fmt: skip


def test_a_failed_one_goes_on_where_it_was(toy, tmp_path, capsys):
    words = ["toy", "--run", str(tmp_path / "run")]
    assert command.main(words) == 1
    (tmp_path / "run" / "toy" / "ready").touch()
    assert command.main(words) == 0
    record = json.loads((tmp_path / "run" / "toy" / "toy.json").read_text())
    assert {row["arm"]: row["runs"] for row in record["rows"]} == {"a": 1, "b": 2}
    assert record["claims"][0]["verdict"] == "cannot be told"
    assert list((tmp_path / "results").iterdir()) == []  # quick results are none
    assert "b is run more often" in capsys.readouterr().out


def test_a_full_one_goes_into_the_ledger(toy, tmp_path, monkeypatch):
    run = tmp_path / "run" / "toy"
    run.mkdir(parents=True)
    (run / "ready").touch()
    assert command.main(["toy", "--budget=full", "--seeds=3", "--run", str(run.parent)]) == 0
    record = json.loads((tmp_path / "results" / "paper_toy.json").read_text())
    assert record["made"]["command"] == "python -m experiments toy --budget full --seeds 3"
    assert (record["seeds"], len(record["rows"])) == (3, 6)
    assert record["departures"] == ["It is a toy."]


def test_a_quick_one_is_kept_if_asked_for_beside_a_full_one(toy, tmp_path):
    run = tmp_path / "run" / "toy"
    run.mkdir(parents=True)
    (run / "ready").touch()
    assert command.main(["toy", "--ledger", "--run", str(run.parent)]) == 0
    (path,) = (tmp_path / "results").iterdir()
    assert path.name == "quick_toy.json"
    record = json.loads(path.read_text())
    assert (
        record["made"]["command"] == "python -m experiments toy --budget quick --seeds 1 --ledger"
    )


def test_a_training_of_another_budget_is_not_gone_on_with(toy, tmp_path, monkeypatch):
    class Budgets(Counting):
        steps = ""

        def jobs(self, seed, folder):
            (job,) = super().jobs(seed, folder)
            return [replace(job, arguments=(*job.arguments, f"run={folder}", self.steps))]

    def arms(quick):
        arm = Budgets("a")
        arm.steps = f"trainer.total_steps={10 if quick else 1000}"
        return (arm,)

    monkeypatch.setattr(command, "EXPERIMENTS", {"toy": replace(toy, arms=arms)})
    words = ["toy", "--run", str(tmp_path / "run")]
    assert command.main(words) == 0
    with pytest.raises(USER_ERRORS, match=r"a_1 was begun with other settings .*total_steps=10, "):
        command.main([*words, "--budget", "full"])


def test_time_is_that_of_the_seeds_that_are_told(toy, tmp_path):
    run = tmp_path / "run" / "toy"
    run.mkdir(parents=True)
    (run / "ready").touch()
    words = ["toy", "--run", str(run.parent), "--seeds"]
    assert command.main([*words, "2"]) == 0
    state = json.loads((run / "state.json").read_text())
    for each in state.values():
        each["seconds"] = 5.0
    (run / "state.json").write_text(json.dumps(state))
    assert command.main([*words, "1"]) == 0
    assert json.loads((run / "toy.json").read_text())["seconds"] == 10.0


def test_commands_of_two_experiments_beside_each_other_run_once(toy, tmp_path, monkeypatch):
    other = replace(
        toy, name="other", beside="toy", arms=lambda quick: toy.arms(quick)[:1], claims=()
    )
    monkeypatch.setattr(command, "EXPERIMENTS", {"toy": toy, "other": other})
    run = tmp_path / "run" / "toy"
    run.mkdir(parents=True)
    (run / "ready").touch()
    assert command.main(["toy", "other", "--run", str(run.parent)]) == 0
    told = {name: json.loads((run / f"{name}.json").read_text()) for name in ("toy", "other")}
    assert {row["arm"]: row["runs"] for row in told["other"]["rows"]} == {"a": 1}
    assert len(told["toy"]["rows"]) == 2


def test_results_of_two_commits_are_marked(toy, tmp_path, monkeypatch):
    options = command.parse(["toy"])
    clean = {"commit": "a", "date": "then", "dirty": False}
    monkeypatch.setattr(command, "made", lambda *_, **__: dict(clean))
    assert command.origin_of(toy, options, tmp_path) == clean
    later = clean | {"commit": "b", "date": "now"}
    monkeypatch.setattr(command, "made", lambda *_, **__: dict(later))
    assert command.origin_of(toy, options, tmp_path) == later | {"date": "then", "dirty": True}


def test_outside_git_it_is_unknown_whether_sources_have_changed(toy, tmp_path, monkeypatch):
    unknown = {"commit": "unknown", "date": "then", "dirty": None}
    monkeypatch.setattr(command, "made", lambda *_, **__: dict(unknown))
    assert command.origin_of(toy, command.parse(["toy"]), tmp_path) == unknown


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_broken_origin_is_one_line(text, toy, tmp_path):
    (tmp_path / "begun.json").write_text(text)
    with pytest.raises(USER_ERRORS, match=r"begun.json is broken: choose another --run"):
        command.origin_of(toy, command.parse(["toy"]), tmp_path)


def test_all_are_run_and_what_is_timed_runs_alone(toy, tmp_path, monkeypatch):
    at_once = []
    monkeypatch.setattr(
        command, "EXPERIMENTS", {"toy": toy, "two": replace(toy, name="two", timed=False)}
    )
    monkeypatch.setattr(
        command, "run_jobs", lambda jobs, folder, title, count: at_once.append(count) or 1
    )
    monkeypatch.setattr(command, "processor_ids", lambda: [0, 1, 2])
    for name in ("toy", "two"):
        assert command.main([name, "--run", str(tmp_path)]) == 1
    assert at_once == [1, 3]
    monkeypatch.setattr(
        command, "reproduce", lambda experiment, *_: at_once.append(experiment.name)
    )
    assert command.main(["all", "--run", str(tmp_path)]) == 0
    assert at_once[2:] == ["toy", "two"]  # fmt: skip


def test_the_list_names_them(toy, capsys):
    assert command.main(["list"]) == 0
    assert "Table 9" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dance"], "unknown experiment 'dance': choose of toy"),
        (["toy", "--seeds", "0"], "--seeds must be at least 1, found 0"),
        (["toy", "--budget", "endless"], "--budget"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told, toy, capsys):
    with pytest.raises((SystemExit, *USER_ERRORS)) as caught:
        command.main(words)
    assert told in str(caught.value) + capsys.readouterr().err
