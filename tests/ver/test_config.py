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
