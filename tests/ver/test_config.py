from dataclasses import dataclass, field

import pytest

from ver.config import (
    NetworkConfig,
    TrainerConfig,
    config_from_dict,
    config_to_dict,
    merge_config,
)
from ver.errors import UserError


@dataclass
class Task:
    name: str = "pick"


@dataclass
class Nested:
    task: Task = field(default_factory=Task)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    names: list[str] = field(default_factory=list)


def test_whole_numbers_may_be_written_as_powers_of_ten(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("trainer: {total_steps: 2.0e+6}\n")
    assert merge_config(Nested, [file]).trainer.total_steps == 2_000_000
    steps = merge_config(Nested, [], ["trainer.total_steps=1e8"]).trainer.total_steps
    assert (steps, type(steps)) == (100_000_000, int)
    assert merge_config(Nested, [], ["names=[x=y,z]"]).names == ["x=y", "z"]


def test_overrides_win_over_files(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("trainer:\n  seed: 5\n  ppo: {epochs: 7, clip: 0.1}\n")
    config = merge_config(Nested, [file], ["trainer.ppo.epochs=9", "task.name=place"])
    assert isinstance(config.trainer, TrainerConfig)
    assert (config.trainer.seed, config.trainer.ppo.epochs) == (5, 9)
    assert (config.trainer.ppo.clip, config.task.name) == (0.1, "place")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("trainer.ppo.epoch=3", ["trainer.ppo.epoch", "trainer.ppo.epochs"]),
        ("trainr.seed=3", ["trainr", "did you mean 'trainer'?"]),
        ("trainer.ppo.learn_rate=1", ["did you mean 'trainer.ppo.learning_rate'?"]),
        ("trainer.total_steps=1.5", ["1.5", "Integer"]),
        ("names=x=y", ["'names' is a list: write names=[x=y]"]),
        ("trainer.ppo.epochs=many", ["many", "epochs"]),
        ("trainer.ppo", ["key=value"]),
    ],
)
def test_mistakes_are_one_line_that_helps(override, words):
    with pytest.raises(UserError) as caught:
        merge_config(Nested, [], [override])
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_settings_saved_under_an_older_name_are_read(tmp_path):
    assert config_from_dict(NetworkConfig, {"bfloat16": True}).mixed_precision == "bfloat16"
    assert config_from_dict(NetworkConfig, {"bfloat16": False}).mixed_precision == "none"
    file = tmp_path / "old.yaml"
    file.write_text("trainer:\n  network: {bfloat16: true, layers: 3}\n")
    network = merge_config(Nested, [file]).trainer.network
    assert (network.mixed_precision, network.layers) == ("bfloat16", 3)


def test_settings_of_before_are_read_under_their_names_of_today(tmp_path):
    old = {"core": "none", "switches": [2], "switch_threshold": 0.2}
    network = config_from_dict(NetworkConfig, old)
    assert (network.memory, network.binary_actions, network.binary_threshold) == ("none", [2], 0.2)
    file = tmp_path / "a.yaml"
    file.write_text("trainer:\n  network: {core: residual}\n")
    words = ["trainer.network.switches=[1]", "trainer.reset_spread=true"]
    trainer = merge_config(Nested, [file], words).trainer
    assert (trainer.network.memory, trainer.network.binary_actions) == ("residual", [1])
    assert trainer.reset_log_std
    with pytest.raises(UserError, match=r"unknown key 'trainer.core'"):
        merge_config(Nested, [], ["trainer.core=none"])


def test_missing_file():
    with pytest.raises(UserError, match=r"none\.yaml"):
        merge_config(Nested, ["none.yaml"])


def test_dictionary_round_trip():
    config = NetworkConfig(hidden_size=7)
    assert config_from_dict(NetworkConfig, config_to_dict(config)) == config
    with pytest.raises(UserError, match="Valid keys"):
        config_from_dict(NetworkConfig, {"hiden": 1})


def test_a_switch_is_true_or_false():
    assert merge_config(TrainerConfig, [], ["tensorboard=0"]).tensorboard is False
    assert merge_config(TrainerConfig, [], ["tensorboard=yes"]).tensorboard is True
    with pytest.raises(UserError, match="'tensorboard' must be true or false, found 2"):
        merge_config(TrainerConfig, [], ["tensorboard=2"])
    with pytest.raises(UserError, match="tensorboard"):
        merge_config(TrainerConfig, [], ["tensorboard=maybe"])
