"""What is told of settings that a resumed run has otherwise."""

import json

import pytest

from tests.helpers import toy_environments
from tests.helpers.small_runs import small_run
from ver.changed_settings import changed_settings, check_same_start
from ver.config import TrainerConfig, config_to_dict
from ver.errors import UserError
from ver.trainer import Trainer


def train(directory, steps, *overrides, metadata=None):
    config = small_run("collect.num_environments=2", f"total_steps={steps}", *overrides)
    Trainer(config, toy_environments.make_cue, directory, metadata or {"task": {"far": 1}}).train()


def test_where_a_run_began_stays_known_where_that_is_left_out(tmp_path):
    train(tmp_path / "first", 32)
    source = f"start_from={tmp_path / 'first' / 'policy.safetensors'}"
    for steps, words in ((32, [source]), (64, []), (96, [source])):
        train(tmp_path / "run", steps, *words)
    with pytest.raises(UserError, match=r"holds a run that began from .*first/policy.safetensors"):
        train(tmp_path / "run", 128, "start_from=other/policy.safetensors")


def test_each_is_told_once_where_a_run_goes_on(tmp_path, capsys):
    train(tmp_path, 32, "ppo.clip=0.3")
    assert "another setting" not in capsys.readouterr().out
    train(tmp_path, 64, "ppo.clip=0.1", "ppo.epochs=2", metadata={"task": {"far": [2]}})
    told = [line for line in capsys.readouterr().out.splitlines() if "another setting" in line]
    assert told == [
        "going on with another setting: total_steps: 32 before, 64 now",
        "going on with another setting: ppo.epochs: 3 before, 2 now",
        "going on with another setting: ppo.clip: 0.3 before, 0.1 now",
        "going on with another setting: task.far: 1 before, [2] now",
    ]
    train(tmp_path, 64, "ppo.clip=0.1", "ppo.epochs=2", metadata={"task": {"far": [2]}})
    assert "another setting" not in capsys.readouterr().out


def test_a_setting_that_was_none_is_told(tmp_path):
    config = config_to_dict(TrainerConfig())
    (tmp_path / "config.yaml").write_text("tracker: none\nseed: null\n")
    (tmp_path / "run.json").write_text(json.dumps({"metadata": {}}))
    told = changed_settings(tmp_path, config | {"tracker": "wandb", "seed": 1}, {})
    assert told == ["seed: None before, 1 now", "tracker: none before, wandb now"]


def test_what_an_environment_is_given_no_more_is_told(tmp_path):
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    before, now = ({"arguments": each} for each in ({"gravity": -5.0, "x": 1}, {"x": 1, "wind": 2}))
    (tmp_path / "run.json").write_text(json.dumps({"metadata": before}))
    assert changed_settings(tmp_path, {"seed": 1}, now) == [
        "arguments.wind: not given before, 2 now",
        "arguments.gravity: -5.0 before, not given now",
    ]


def test_digests_are_not_told(tmp_path):
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    before, now = ({"recipe": {"stage": "one", "sha256": each}} for each in ("ab", "cd"))
    (tmp_path / "run.json").write_text(json.dumps({"metadata": before}))
    assert changed_settings(tmp_path, {"seed": 2}, now) == ["seed: 1 before, 2 now"]


def test_younger_settings_and_unreadable_files_are_no_change(tmp_path):
    config = config_to_dict(TrainerConfig())
    assert changed_settings(tmp_path, config, {}) == []
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    (tmp_path / "run.json").write_text(json.dumps({"metadata": {}}))
    assert changed_settings(tmp_path, config, {"new": 3}) == []
    (tmp_path / "config.yaml").write_text("seed: [")
    assert changed_settings(tmp_path, config, {}) == []


def test_another_start_is_refused_where_the_run_goes_on(tmp_path):
    check_same_start(tmp_path, "/nope.safetensors")  # a run that cannot be read is left to others
    (tmp_path / "config.yaml").write_text("start_from: ''\n")
    check_same_start(tmp_path, "")
    with pytest.raises(UserError, match="holds a run that began from scratch; leave it out"):
        check_same_start(tmp_path, "/nope.safetensors")
    (tmp_path / "config.yaml").write_text("start_from: runs/pick/alone/policy.safetensors\n")
    check_same_start(tmp_path, "")
    check_same_start(tmp_path, "/moved/runs/pick/alone/policy.safetensors")
    with pytest.raises(UserError, match=r"began from runs/pick/alone/policy\.safetensors"):
        check_same_start(tmp_path, "runs/place/near/policy.safetensors")
