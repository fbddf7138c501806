"""Trainings in stages."""

import json
from dataclasses import asdict

import pytest
from safetensors.torch import load_file

from nav import env as nav_env
from rearrange.errors import UserError
from skills import plot, train
from skills.recipe import Stage, differences, recipe_of
from tests.helpers.small_runs import TINY_NAVIGATION
from ver import UserError as VerUserError
from ver.checkpoint import load_policy
from ver.run_checkpoints import RunCheckpoints

TINY = list(TINY_NAVIGATION)
STAGES = (
    "stages=[{name: first, settings: {task.max_steps: 9, trainer.total_steps: 48}},"
    " {name: second, settings: {trainer.ppo.epochs: 1, trainer.total_steps: 32}}]"
)


def test_a_stage_is_between_the_config_and_the_command():
    first, second = train.load_stages("pointnav", [STAGES])
    alone = train.load_settings("pointnav")
    assert (first.task.max_steps, first.trainer.total_steps) == (9, 48)
    assert (second.task.max_steps, second.trainer.total_steps) == (alone.task.max_steps, 32)
    assert (first.trainer.ppo.epochs, second.trainer.ppo.epochs) == (alone.trainer.ppo.epochs, 1)
    first, second = train.load_stages("pointnav", [STAGES, "task.max_steps=5"])
    assert first.task.max_steps == second.task.max_steps == 5


def test_without_stages_there_is_one_part():
    assert train.load_stages("pointnav") == [train.load_settings("pointnav")]
    assert recipe_of(train.load_stages("pointnav"))["stages"] == []


def test_until_ends_with_a_stage():
    assert len(train.load_stages("pointnav", [STAGES, "until=first"])) == 1
    assert len(train.load_stages("pointnav", [STAGES, "until=second"])) == 2


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["stages=[{name: a}, {name: a}]"], "'a' must be a name .* once in the list"),
        (["stages=[{name: ../a}]"], r"'\.\./a' must be a name"),
        (["stages=[{settings: {task.max_steps: 1}}]"], "'' must be a name"),
        (["stages=[{name: checkpoints}]"], "none of checkpoints, tensorboard"),
        (["stages=[{name: a, settings: {run: x}}]"], "'a' cannot set run"),
        (["stages=[{name: a, settings: {preset: bps}}]"], "'a' cannot set preset"),
        (["stages=[{name: a, settings: {task.max_step: 1}}]"], "stage a: .*did you mean"),
        (["stages=[{name: a, settings: {split: test}}]"], "stage a: split=test judges"),
        ([STAGES, "until=third"], "until must be one of first, second, found 'third'"),
        ([STAGES, "since=third"], "since must be one of first, second, found 'third'"),
        ([STAGES, "since=second"], "since=second needs trainer.start_from"),
        ([STAGES, "since=second", "until=first"], "since=second comes after until=first"),
        (["until=first"], "until must be one of no stages, found 'first'"),
    ],
)
def test_stages_that_make_no_sense_are_refused_before_anything_starts(overrides, message):
    with pytest.raises((UserError, VerUserError), match=message):
        train.load_stages("pointnav", overrides)


def test_the_hash_tells_what_is_learned_apart_and_not_where():
    def hash_of(*overrides: str) -> str:
        return recipe_of(train.load_stages("pointnav", [STAGES, *overrides]))["sha256"]

    assert hash_of() == hash_of("run=elsewhere") == hash_of("trainer.seed=7")
    assert hash_of() != hash_of("trainer.ppo.learning_rate=1e-4")
    assert hash_of() != hash_of("until=first")


def test_bars_are_no_part_of_what_is_learned():
    bar = "bars=[{budget: quick, reaches: {success_at_end: [0.5, 1.0]}}]"
    hashes = {recipe_of(train.load_stages("pointnav", more))["sha256"] for more in ([], [bar])}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("bars", "message"),
    [
        ("[{budget: nightly}]", "budget must be one of quick, full, each once, found 'nightly'"),
        ("[{budget: full}, {budget: full}]", "each once, found 'full'"),
        ("[{reaches: {success: [0.5]}}]", r"success must be \[least, most\], found \[0.5\]"),
        ("[{reaches: {success: [1.0, 0.5]}}]", r"success must be \[least, most\]"),
    ],
)
def test_bars_that_make_no_sense_are_refused(bars, message):
    with pytest.raises(UserError, match=message):
        train.load_settings("pick", [f"bars={bars}"])


def test_the_hash_knows_who_recorded_starts_and_not_where():
    def hash_of(path: str) -> str:
        return recipe_of(train.load_stages("pick", [f"starts.paths=[{path}]"]))["sha256"]

    assert hash_of("runs/seed_1/oracles") == hash_of("runs/seed_2/oracles")
    assert hash_of("runs/seed_1/oracles") != hash_of("runs/seed_1/learned")


def test_a_training_may_begin_with_a_later_stage():
    parts = train.load_stages("pointnav", [STAGES, "since=second", "trainer.start_from=x"])
    (second,) = parts
    whole = train.load_stages("pointnav", [STAGES])
    assert second.trainer.ppo == whole[1].trainer.ppo
    assert recipe_of(parts)["stages"] == ["second"]


def test_settings_of_a_stage_read_as_they_are_typed():
    stage = Stage("a", {"starts.paths": ["x"], "rules": "hab", "trainer.resume": False})
    assert stage.overrides() == ['starts.paths=["x"]', 'rules="hab"', "trainer.resume=false"]


def test_stages_are_trained_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(nav_env, "building_names", lambda *_: ("layout5000_variation00",))
    run = [STAGES, *TINY[:2], *TINY[3:], f"run={tmp_path}", "trainer.total_steps=64"]
    assert train.main(["pointnav", *run, "until=first"]) == 0
    assert not (tmp_path / "second").exists()
    assert train.main(["pointnav", *run]) == 0
    told = capsys.readouterr().err
    assert f"from the weights of {tmp_path / 'first' / 'policy.safetensors'}" in told
    first, second = (
        load_file(tmp_path / name / "policy.safetensors") for name in ("first", "second")
    )
    assert load_file(tmp_path / "policy.safetensors").keys() == second.keys()
    assert (tmp_path / "policy.safetensors").read_bytes() == (
        tmp_path / "second" / "policy.safetensors"
    ).read_bytes()
    assert any((first[name] != second[name]).any() for name in first)
    recipe = load_policy(tmp_path / "policy.safetensors").metadata["recipe"]
    assert recipe["stages"] == ["first", "second"]
    assert recipe["stage"] == "second"
    assert [row["steps"] for row in plot.read_rows(tmp_path)] == [32, 64, 96, 128]
    # What going on with a stage would need is gone once the next one has begun with its policy
    kept = {name: len(RunCheckpoints(tmp_path / name, 1).all()) for name in ("first", "second")}
    assert kept == {"first": 0, "second": 2}

    before = (tmp_path / "policy.safetensors").stat().st_mtime_ns
    capsys.readouterr()
    assert train.main(["pointnav", *run]) == 0  # all is done: nothing is trained again
    assert json.loads((tmp_path / "policy.json").read_text())["metadata"]["steps"] == 64
    assert "from the weights" not in capsys.readouterr().err
    assert before <= (tmp_path / "policy.safetensors").stat().st_mtime_ns
    with pytest.raises(
        VerUserError, match=f"{tmp_path / 'first'} holds a policy and no checkpoints"
    ):
        train.main(["pointnav", *run, "trainer.ppo.learning_rate=0.5"])


def test_a_policys_file_tells_how_it_was_trained_otherwise():
    stage = train.load_stages("open_cab")[-1]
    settings = asdict(stage)
    config, metadata = settings.pop("trainer"), settings
    assert differences(config, metadata, stage) == []
    # What does not count, and what a file is too old to tell
    config["seed"], config["system"], config["learner_threads"] = 9, "batched", 7
    metadata["starts"] = metadata["starts"] | {"paths": ["elsewhere"]}
    del config["ppo"]["adam_beta1"]
    assert differences(config, metadata, stage) == []
    config["ppo"]["entropy"]["initial"] = 0.5
    metadata["task"] = metadata["task"] | {"slack": 7.0}
    assert differences(config, metadata, stage) == ["task.slack", "trainer.ppo.entropy.initial"]
