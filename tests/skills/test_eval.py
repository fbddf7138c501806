"""Evaluation of a skill."""

import argparse
import json

import pytest

import rearrange
from rearrange.episodes import EpisodeSet, default_path
from rearrange.scenes.registry import GENERATED, layouts_of
from skills import eval as evaluation
from skills import eval_options, summary
from skills.provenance import checksum
from skills.summary import summarise


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_workers(pick_checkpoint, tmp_path):
    records = []
    for workers in ("1", "2"):
        path = tmp_path / f"{workers}.json"
        common = ["pick", "task.max_steps=60", "--checkpoint", str(pick_checkpoint)]
        common += ["--episodes", "3", "--seed", "4"]
        assert evaluation.main([*common, "--workers", workers, "--json", str(path)]) == 0
        records.append(json.loads(path.read_text()))
    one, two = records
    for record in records:
        keys = {"skill", "split", "episodes", "seed", "checkpoint", "failures", "steps_per_second"}
        assert record["dataset"] == "data/episodes/pick/val.json.gz"
        assert keys <= set(record)
        assert (
            set(record["success_at_end"]) == {"mean", "low", "high"} == set(record["success_once"])
        )
    assert one["means"] == two["means"]
    assert one["failures"] == two["failures"]


def test_the_episodes_of_the_file_are_played():
    shipped = EpisodeSet.load(default_path("pick", "val"))
    options = argparse.Namespace(skill="pick", file=shipped.path, seed=0)
    assert evaluation.asked(options, 7) == {"episode": shipped.episodes[7]}
    options.seed = 2
    assert evaluation.asked(options, 7) == {"episode": shipped.episode(7, seed=2)}
    options.file = None
    assert evaluation.asked(options, 7) is None


def test_files_that_hold_too_few_are_refused():
    path = default_path("pick", "val")
    with pytest.raises(rearrange.UserError, match="holds 200 episodes, not 201"):
        evaluation.main(["pick", "--episodes", "201", "--dataset", str(path)])


def test_figures_come_with_units_and_the_policy(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    played = {"episode": 0, "success": 1.0, "length": 5.0, "return": 2.0, "reward/way": 1.0}
    record = {
        "skill": "pick", "split": "val", "episodes": 1, "policy": "learned", "actions": "mean",
        "checkpoint": str(tmp_path / "runs" / "policy.safetensors"), "steps_per_second": 10.0,
        **summarise([played | {"detour": 1.0, "layout": 3, "variation": 7}]),
    }  # fmt: skip
    evaluation.show(record)
    told = capsys.readouterr().out
    assert "pick (mean actions) on 1 val episode " in told
    assert "brackets: 95 % intervals; policy: runs/policy.safetensors" in told
    for name in ("mean length [steps]", "mean return per episode", "mean reward/way per episode"):
        assert f"{name} " in told
    assert "success at end, 1 detour start " in told
    assert [line.split()[1:5] for line in told.splitlines() if " plans " in line] == [
        ["floor", "plans", "│", "1"]
    ]


def test_figures_are_kept_though_nobody_reads_the_table(monkeypatch, tmp_path):
    def closed(record):
        raise BrokenPipeError

    monkeypatch.setattr(evaluation, "show", closed)
    monkeypatch.setattr(
        evaluation, "evaluate", lambda *_: [{"episode": 0, "success": 1.0, "length": 2.0}]
    )
    path = tmp_path / "random.json"
    with pytest.raises(BrokenPipeError):
        evaluation.main(["pick", "--policy", "random", "--episodes", "1", "--json", str(path)])
    assert json.loads(path.read_text())["success_at_end"]["mean"] == 1.0


def test_a_policy_in_a_folder_with_brackets_is_told(capsys):
    record = {
        "skill": "pick", "split": "val", "episodes": 1, "policy": "learned", "actions": "mean",
        "checkpoint": "[/runs]/[bold]/policy.safetensors", "steps_per_second": 10.0,
        **summarise([{"episode": 0, "success": 1.0, "length": 5.0}]),
    }  # fmt: skip
    evaluation.show(record)
    assert "[/runs]/[bold]/policy.safetensors" in capsys.readouterr().out


def test_a_policy_may_be_judged_by_other_numbers_of_its_task(pick_checkpoint, tmp_path):
    path = tmp_path / "short.json"
    common = ["--checkpoint", str(pick_checkpoint), "--episodes", "2", "--workers", "1"]
    assert evaluation.main(["pick", *common, "--json", str(path), "task.max_steps=3"]) == 0
    record = json.loads(path.read_text())
    assert record["task"] == {"max_steps": 3}
    assert record["means"]["length"] == 3.0


@pytest.mark.parametrize("policy", ["learned", "oracle", "random"])
def test_whoever_plays_is_in_the_homes_that_are_asked_for(policy, pick_checkpoint):
    options = evaluation.parse(["pick", "--policy", policy, "--homes", GENERATED])
    world = evaluation.make_player(str(pick_checkpoint), options).environment
    world.reset(seed=1)
    assert world.episode.layout in layouts_of("val", GENERATED)


def test_the_record_says_which_homes(tmp_path):
    path = tmp_path / "random.json"
    asked = ["--policy", "random", "--homes", GENERATED, "--episodes", "2", "--workers", "1"]
    evaluation.main(["open_fridge", *asked, "--json", str(path), "task.max_steps=2"])
    record = json.loads(path.read_text())
    assert record["homes"] == record["made"]["homes"] == GENERATED
    assert {row[1] for row in record["per_episode"]["rows"]} <= set(layouts_of("val", GENERATED))


@pytest.mark.slow
def test_the_oracle_plays_its_own_task(tmp_path):
    path = tmp_path / "oracle.json"
    common = ["open_cab", "--policy", "oracle", "--episodes", "2", "--dataset", "sampled"]
    assert evaluation.main([*common, "--workers", "1", "--json", str(path)]) == 0
    record = json.loads(path.read_text())
    assert record["checkpoint"] == "oracle"
    assert record["success_at_end"]["mean"] == 1.0
    assert record["means"]["reward/success"] == 10.0


def test_a_scenarios_policy_plays_its_task(make_checkpoint, tmp_path):
    path = tmp_path / "result.json"
    arguments = ["--checkpoint", str(make_checkpoint("set_table")), "--episodes", "1"]
    evaluation.main(["set_table", *arguments, "--json", str(path), "task.max_steps=6"])
    record = json.loads(path.read_text())
    assert (record["skill"], record["success_at_end"]["mean"]) == ("set_table", 0.0)
    assert record["means"]["length"] <= 6.0


def test_sanity_rows_are_of_the_same_episodes(pick_checkpoint, tmp_path, capsys, monkeypatch):
    homes = []

    def record_homes(results):
        rows = sorted(results, key=lambda result: result["episode"])
        homes.append([(r["episode"], r["layout"], r["variation"]) for r in rows])
        return summarise(results)

    for module in (evaluation, summary):  # the sanity rows are made in the other
        monkeypatch.setattr(module, "summarise", record_homes)
    path = tmp_path / "pick.json"
    arguments = ["pick", "--checkpoint", str(pick_checkpoint), "--episodes", "3", "--workers", "1"]
    arguments += ["--sanity", "--sanity-episodes", "2", "--json", str(path), "task.max_steps=6"]
    assert evaluation.main(arguments) == 0
    assert len(homes) == 6
    assert all(home == homes[0] for home in homes[:5])
    assert homes[5][:2] == homes[0]  # all three
    record = json.loads(path.read_text())
    kept = ["episode", "layout", "variation", "detour", "receptacle", "success"]
    assert record["per_episode"]["columns"][:6] == kept
    assert [tuple(row[:3]) for row in record["per_episode"]["rows"]] == homes[5]
    assert list(record["rows"]) == ["policy", "blind", "swapped", "random", "oracle"]
    assert record["left_out"] == {}
    for name, row in record["rows"].items():
        assert row["episodes"] == 2
        assert set(row["success_at_end"]) == {"mean", "low", "high"}
        if name != "policy":
            table = row["per_episode"]
            lengths = [dict(zip(table["columns"], e, strict=True))["length"] for e in table["rows"]]
            assert max(lengths) <= 6
    assert "pick: sanity rows, the same 2 episodes each" in capsys.readouterr().out


def test_who_has_learned_nothing_is_judged_by_the_rules_that_are_asked_for(tmp_path, capsys):
    path = tmp_path / "pick.json"
    arguments = ["pick", "--policy", "random", "--episodes", "1", "--workers", "1"]
    arguments += ["--dataset", "sampled", "task.max_steps=2"]
    assert evaluation.main([*arguments, "--rules", "hab", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["rules"] == "hab"
    with pytest.raises(rearrange.UserError, match="unknown rules 'hub': choose one of ours, hab"):
        evaluation.main([*arguments, "--rules", "hub"])
    with pytest.raises(
        rearrange.UserError, match="by the rules of its training: leave --rules out"
    ):
        evaluation.main(["pick", "--rules", "hab"])


def test_sanity_rows_are_by_the_rules_of_the_policy(make_checkpoint, monkeypatch, tmp_path):
    worlds, make_player = [], evaluation.make_player

    def record_world(checkpoint, options):
        player = make_player(checkpoint, options)
        worlds.append(player.environment)
        return player

    monkeypatch.setattr(evaluation, "make_player", record_world)
    path = tmp_path / "pick.json"
    arguments = ["--checkpoint", str(make_checkpoint("pick", "rules=hab")), "--episodes", "1"]
    arguments += ["--workers", "1", "--sanity", "--json", str(path), "task.max_steps=3"]
    assert evaluation.main(["pick", *arguments]) == 0
    assert json.loads(path.read_text())["rules"] == "hab"
    assert len(worlds) == 5  # policy, blind, swapped, random, oracle
    for world in worlds:
        config = world.task.config
        assert (config.max_steps, config.action.arm_step, config.action.delay) == (3, 0.0125, 1)
        assert world.simulator.config.scene_force
        assert not world.simulator.config.slide


def test_rows_that_make_no_sense_are_left_out_with_the_reason():
    rows, left_out = eval_options.sanity_options(evaluation.parse(["set_table", "--sanity"]))
    assert list(rows) == ["blind", "swapped", "random"]
    assert "no oracle of its own" in left_out["oracle"]
    assert rows["random"].policy == "random"
    assert rows["blind"].episodes == 200
    with pytest.raises(
        rearrange.UserError, match="compares a policy with others: leave --policy out"
    ):
        evaluation.parse(["pick", "--sanity", "--policy", "random"])


def test_the_record_says_where_it_is_from_without_private_paths(pick_checkpoint, tmp_path):
    path = tmp_path / "out.json"
    common = ["pick", "--checkpoint", str(pick_checkpoint), "--episodes", "1", "--workers", "1"]
    assert evaluation.main([*common, "--json", str(path), "task.max_steps=2"]) == 0
    assert str(tmp_path) not in path.read_text()
    assert str(pick_checkpoint.parent) not in path.read_text()
    origin = json.loads(path.read_text())["made"]
    assert origin["command"] == (
        "python -m skills.eval pick --checkpoint pick.safetensors --episodes 1 --workers 1 "
        "--json out.json task.max_steps=2"
    )
    assert origin["checkpoints"] == {"pick.safetensors": checksum(pick_checkpoint)}
    assert (origin["split"], origin["seed"], origin["release"]) == ("val", 0, "")
