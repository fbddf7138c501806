import dataclasses

import pytest

from planner import eval as command
from planner import scenarios
from rearrange.episodes import EpisodeSet, default_path
from rearrange.errors import UserError
from rearrange.scenes.registry import GENERATED
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS
from tests.helpers.planner_fakes import make_table_episode
from tests.helpers.planner_runs import run_json
from tests.helpers.refusals import refusal


def test_json_has_the_promised_keys(stage, tmp_path):
    result = run_json(
        tmp_path, "--episodes", "3", "--seed", "4", "--split", "test", "--release", "1"
    )
    assert result["task"] == "tidy_house"
    assert (result["split"], result["episodes"], result["seed"]) == ("test", 3, 4)
    assert result["skills"] == {"navigate": "fake", "pick": "fake", "place": "fake"}
    assert set(result["full_task"]["success_at_end"]) == {"mean", "low", "high"}
    assert result["full_task"]["success_once"]["mean"] == 1.0
    assert [i["name"] for i in result["interactions"]][-2:] == ["pick_4", "place_4"]
    assert result["interactions"][0]["success"]["mean"] == 1.0
    assert result["failures"] == {}
    assert [r["index"] for r in result["records"]] == [0, 1, 2]
    assert len(set(stage.world.seeds)) == 3
    assert len(result["records"][0]["hand_offs"]) == 39
    made = result["made"]
    assert "--seed 4" in made["command"]
    assert (made["split"], made["seed"], made["release"]) == ("test", 4, "1")
    assert {"cpu", "cores"} <= set(made["machine"])
    assert (result["row"], result["navigate"], result["close"]) == (
        "TP-SRL (mixed, knowledge: robot)",
        True,
        False,
    )
    for times in (result["planning_seconds"], result["parsing_seconds"]):
        assert 0.0 < times["median"] <= times["worst"]
    assert result["plan_length"] == {"median": 20.0, "max": 20.0}
    assert result["wrong_object"] == {"wrong": 0, "picks": 15}


def test_homes_reach_the_world_and_the_record(stage, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(scenarios, "open_stage", lambda *asked: opened.append(asked) or stage)
    result = run_json(tmp_path, "--episodes", "1", "--homes", GENERATED)
    assert opened[0][-2:] == (GENERATED, "fetch")
    assert result["homes"] == result["made"]["homes"] == GENERATED


@pytest.mark.usefixtures("stage")
def test_what_is_printed_says_what_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(command, "first_start", lambda: "")  # where nothing is compiled yet
    run_json(tmp_path, "--episodes", "1", "--page", str(tmp_path / "out" / "x.html"))
    told = capsys.readouterr().out
    assert "tidy_house: 1 val episode in 1 process\n" in told
    assert "val split, 1 episode, 1 plan, 1 apartment: " in told
    assert "planning took: median " in told
    assert "page: out/x.html\n" in told


def test_failures_are_counted_by_cause(stage, tmp_path):
    stage.skills["pick"].never_done = (1,)
    result = run_json(tmp_path, "--episodes", "2")
    assert result["failures"] == {"pick: time-out": 2}
    assert result["full_task"]["success_at_end"]["mean"] == 0.0
    # pick_1 itself did hold its object: the chain ends after it.
    assert [i["success"]["mean"] for i in result["interactions"]] == [1.0] * 3 + [0.0] * 7
    assert stage.world.closed


def test_the_command_is_kept_without_private_folders(stage, tmp_path):
    # It stands in recorded hand-offs, too
    told = run_json(tmp_path, "--episodes", "1")["made"]["command"]
    assert told.startswith("python -m planner.eval tidy_house")
    assert str(tmp_path) not in told


def test_wrong_objects_are_counted(stage, tmp_path, capsys):
    def take_another(world, argument):
        world.state.held_object[0] = argument.slot + 1

    stage.skills["pick"].misses, stage.skills["pick"].wrong = (1, 3), take_another
    result = run_json(tmp_path, "--episodes", "2")
    assert result["failures"] == {"pick: wrong object": 2}
    assert result["wrong_object"] == {"wrong": 4, "picks": 10}
    assert "wrong objects picked: 4 of 10" in capsys.readouterr().out


def test_replanning_is_asked_for_and_reported(stage, tmp_path, capsys):
    stage.skills["pick"].misses = stage.skills["pick"].never_done = (1,)
    assert run_json(tmp_path, "--episodes", "1")["replanning"] is None
    result = run_json(tmp_path, "--episodes", "2", "--replan", "--knowledge", "privileged")
    assert result["knowledge"] == "privileged"
    assert result["replanning"] == {
        **{"limit": 12, "per_object": 6},
        **{"new_plans": 14, "episodes": 2},
    }
    decisions = result["records"][0]["decisions"]
    assert [len(decision["plan"]) for decision in decisions] == [16] * 6 + [12]
    assert "gives up object_1" in decisions[-1]["text"]
    assert [i["success"]["mean"] for i in result["interactions"]] == [1.0] * 2 + [0.0] * 8
    assert result["failures"] == {"pick: time-out": 2}
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "replanning, at most 12 new plans after faults: plans changed 14 times in 2 episodes"
        in printed
    )


def test_navigation_is_deleted_on_request(stage, tmp_path, capsys):
    result = run_json(tmp_path, "--episodes", "1", "--no-nav", "--skills", "oracle")
    assert (result["row"], result["navigate"]) == ("oracle (NoNav, knowledge: robot)", False)
    assert result["plan_length"]["max"] == 10
    assert not any(step.startswith("(nav") for step in result["records"][0]["plan"])
    assert result["full_task"]["success_at_end"]["mean"] == 1.0
    assert "oracle (NoNav, knowledge: robot)" in " ".join(capsys.readouterr().out.split())


def test_set_table_may_be_asked_to_close(stage, tmp_path, capsys):
    stage.world.load(make_table_episode())
    result = run_json(tmp_path, "--episodes", "1", "--close", task="set_table")
    assert result["close"]
    assert result["plan_length"]["max"] == 16
    names = [interaction["name"] for interaction in result["interactions"]]
    assert [name for name in names if name.startswith("close")] == ["close_cab_0", "close_fridge_0"]
    assert result["full_task"]["success_at_end"]["mean"] == 1.0
    assert "set_table, closing" in capsys.readouterr().out


def test_tables_are_printed_as_plain_lines(stage, tmp_path, capsys):
    run_json(tmp_path, "--episodes", "1")
    text = capsys.readouterr().out
    assert "episode 0: 10/10 interactions, 147 steps" in text
    assert "full task" in text
    assert "100.0 %" in text
    assert "\x1b[" not in text


def test_files_with_brackets_in_their_names_are_told(stage, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    stage.skills["pick"].source = "runs/[/old]/pick.safetensors"
    run_json(tmp_path, "--episodes", "1")
    assert "pick runs/[/old]/pick.safetensors" in capsys.readouterr().out


def test_results_are_written_where_nobody_reads_what_is_printed(stage, tmp_path, monkeypatch):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr(command, "print_summary", closed)
    with pytest.raises(BrokenPipeError):
        run_json(tmp_path, "--episodes", "1")
    assert (tmp_path / "deep" / "result.json").is_file()


def test_episodes_come_from_the_file_that_is_asked_for(stage, tmp_path, capsys):
    shipped = EpisodeSet.load(default_path("tidy_house", "val"))
    result = run_json(tmp_path, "--episodes", "2")
    assert stage.world.asked == list(shipped.episodes[:2])
    assert result["dataset"] == "data/episodes/tidy_house/val.json.gz"
    run_json(tmp_path, "--episodes", "2", "--seed", "3")
    assert stage.world.asked[2:] == [shipped.episode(k, seed=3) for k in range(2)]
    path = tmp_path / "few.json.gz"
    dataclasses.replace(shipped, episodes=shipped.episodes[5:6]).save(path)
    result = run_json(tmp_path, "--episodes", "1", "--dataset", str(path))
    assert stage.world.asked[4:] == [shipped.episodes[5]]
    assert result["dataset"] == str(path)
    assert "which holds 1" in capsys.readouterr().out
    with pytest.raises(UserError, match="holds 1 episodes, not 2"):
        command.main(["tidy_house", "--episodes", "2", "--dataset", str(path)])


def test_episodes_may_be_sampled(stage, tmp_path, capsys):
    result = run_json(tmp_path, "--episodes", "2", "--dataset", "sampled")
    assert stage.world.asked == [None, None]
    assert result["dataset"] == "sampled"
    # There is no file of the test split.
    released = ("--episodes", "1", "--split", "test", "--release", "1")
    assert run_json(tmp_path, *released)["dataset"] == "sampled"
    assert "sampled on the fly, since there is no" in capsys.readouterr().out


def test_a_policy_of_another_skill_is_refused_before_anything_begins(stage):
    place = shipped_policy("place", CHECKPOINTS)
    words = ["tidy_house", "--skills", f"oracle,pick={place}"]
    told = "holds a policy for 'place', not for 'pick': give a checkpoint of pick"
    assert refusal(command.main, words).endswith(told)
    assert stage.world.seeds == []
