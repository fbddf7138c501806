"""An evaluation that was killed goes on: the same episodes, none twice, the same result."""

import dataclasses
import json

import pytest

from planner import eval as command
from planner import evaluation, journal
from planner.evaluation import EpisodeRecord
from planner.journal import Journal, code_version, decode
from planner.problem import goal_name
from rearrange.errors import UserError

TIMES = ("wall_seconds", "plan_seconds", "problem_seconds", "planning_seconds", "parsing_seconds")


@pytest.fixture
def evaluate(tmp_path):
    def evaluate(*arguments, name="result.json"):
        path = tmp_path / name
        options = ["tidy_house", "--workers", "1", "--dataset", "sampled", "--json", str(path)]
        assert command.main([*options, *arguments]) == 0
        return untimed(json.loads(path.read_text()))

    return evaluate


def untimed(value):
    """A result without what differs from run to run."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if k not in (*TIMES, "made")}
    return [untimed(v) for v in value] if isinstance(value, list) else value


@pytest.fixture
def kill_at(monkeypatch):
    """Ends an evaluation as a kill would, when the episode of this index begins."""
    run = evaluation.EpisodeRunner.play

    def kill_at(killed):
        def dies(runner, index):
            if index == killed:
                raise SystemExit(137)
            return run(runner, index)

        monkeypatch.setattr(evaluation.EpisodeRunner, "play", dies)

    return kill_at


@pytest.mark.parametrize("torn", [pytest.param(b"", marks=pytest.mark.slow), b'{"index": 2, "layo'])
def test_a_killed_evaluation_goes_on(stage, evaluate, kill_at, tmp_path, capsys, torn):
    stage.skills["pick"].misses = (3,)
    undisturbed = evaluate("--episodes", "4", name="other.json")
    seeds = list(stage.world.seeds)
    stage.world.seeds.clear()
    part = tmp_path / "result.json.part"

    kill_at(2)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "4")
    assert not (tmp_path / "result.json").exists()
    assert len(part.read_text().splitlines()) == 3  # the settings, and two episodes
    with part.open("ab") as file:
        file.write(torn)  # of a record that was being written

    kill_at(None)
    capsys.readouterr()
    assert evaluate("--episodes", "4") == undisturbed
    assert "2 are there already" in capsys.readouterr().out
    assert stage.world.seeds == seeds  # none twice
    assert not part.exists()


def test_more_episodes_may_be_asked_for_than_before(stage, evaluate, kill_at):
    kill_at(2)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "3")
    kill_at(None)
    assert [r["index"] for r in evaluate("--episodes", "5")["records"]] == list(range(5))
    assert len(stage.world.seeds) == 5


def test_where_no_episode_is_done_nothing_is_left(stage, evaluate, kill_at, tmp_path):
    part = tmp_path / "result.json.part"
    kill_at(0)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "2")
    assert not part.exists()
    kill_at(None)
    part.write_text('{"seed": 7}\n')  # of other settings, killed before it could remove it
    assert evaluate("--episodes", "2", "--seed", "3")["seed"] == 3
    assert not part.exists()


def test_other_settings_do_not_mix(stage, evaluate, kill_at, tmp_path):
    kill_at(1)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "2")
    kill_at(None)
    with pytest.raises(UserError, match=r"with another seed, replanning: delete it") as error:
        evaluate("--episodes", "2", "--seed", "3", "--replan")
    assert "\n" not in str(error.value)
    (tmp_path / "result.json.part").unlink()
    assert evaluate("--episodes", "2", "--seed", "3")["seed"] == 3


def test_other_code_does_not_mix(stage, evaluate, kill_at, monkeypatch):
    kill_at(1)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "2")
    kill_at(None)
    monkeypatch.setattr(journal, "code_version", lambda: "of tomorrow")
    with pytest.raises(UserError, match=r"with another version of the code: delete it") as error:
        evaluate("--episodes", "2")
    assert "\n" not in str(error.value)


def test_the_code_is_what_decides_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "ROOT", tmp_path)
    versions = set()
    for name in (
        "planner/a.py",
        "planner/domain.pddl",
        "rearrange/tasks/a.py",
        "ver/b.py",
        "skills/c.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        for text in ("1", "2"):
            (tmp_path / name).write_text(text)
            versions.add(code_version())
    assert len(versions) == 10
    (tmp_path / "ver" / "b.pyc").write_text("compiled")
    (tmp_path / "docs.md").write_text("told")
    assert code_version() in versions


def test_files_of_homes_and_robots_decide_the_results(tmp_path):
    (tmp_path / "home.yaml").write_text("model: home.xml\nparts: [{mesh: door.obj, name: door}]\n")
    for name in ("home.xml", "door.obj", "other.obj"):
        (tmp_path / name).write_text(name)
    home = str(tmp_path / "home.yaml")
    settings = evaluation.EvaluationSettings("tidy_house", skills="oracle", homes=home)
    files = command._files(settings)
    assert [path.name for path in files] == ["home.yaml", "home.xml", "door.obj"]
    before = journal.heading(settings, files)
    (tmp_path / "door.obj").write_text("another")
    assert journal.heading(settings, files) != before


def test_two_processes_do_not_write_one_file(stage, evaluate, kill_at, tmp_path):
    settings = evaluation.EvaluationSettings("tidy_house", episodes=2)
    with Journal(tmp_path / "result.json", settings, []) as first:
        written = first.path.read_bytes()
        with pytest.raises(
            UserError, match=r"part is being written by another evaluation"
        ) as error:
            evaluate("--episodes", "2")
        assert first.path.read_bytes() == written
    assert "\n" not in str(error.value)
    assert stage.world.seeds == []
    first.delete()
    evaluate("--episodes", "2")


@pytest.mark.parametrize("text", ["[]\n", "nonsense\n", '{"task": "tidy_house"}\n{}\n'])
def test_a_broken_file_is_named(stage, evaluate, tmp_path, text):
    (tmp_path / "result.json.part").write_text(text)
    with pytest.raises(UserError, match=r"result\.json\.part .*delete it to start anew"):
        evaluate("--episodes", "2")
    assert stage.world.seeds == []


def test_a_broken_record_is_named(stage, evaluate, kill_at, tmp_path):
    kill_at(1)
    with pytest.raises(SystemExit):
        evaluate("--episodes", "2")
    with (tmp_path / "result.json.part").open("a") as file:
        file.write('{"index": 1}\n')
    with pytest.raises(UserError, match="is broken: delete it"):
        evaluate("--episodes", "2")


def test_records_come_back_as_they_were(stage):
    """With decisions, hand-offs and recorded start states, whose slots are keys of dictionaries."""
    stage.skills["pick"].misses = (1,)
    settings = evaluation.EvaluationSettings("tidy_house", episodes=1)
    settings = dataclasses.replace(
        settings, replanning=evaluation.ReplanSettings(limit=1), knowledge="privileged"
    )
    (record,) = evaluation.run_episodes(settings, workers=1)
    record = dataclasses.replace(record, starts=(("pick", stage.world.episode),))
    assert record.execution.decisions[0].plan
    assert goal_name(1) in {h.label for h in record.execution.hand_offs}
    stored = json.loads(json.dumps(dataclasses.asdict(record)))
    assert decode(EpisodeRecord, stored) == record
