"""preset=paper against table A1 of the VER paper, typed by hand."""

import pytest

from skills.train import load_settings
from ver import TrainerConfig

TABLE_A1 = {
    "Optimizer": ("ppo.optimizer", "adam"),
    "Initial Learning Rate": ("ppo.learning_rate", 2.5e-4),
    "Decay Schedule, to 0": ("ppo.schedule", "cosine"),
    "Total Training Steps": ("total_steps", 500_000_000),
    "PPO Epochs": ("ppo.epochs", 3),
    "Mini-batches per Epoch": ("ppo.mini_batches", 2),
    "PPO Clip": ("ppo.clip", 0.2),
    "Initial Entropy Coefficient": ("ppo.entropy.initial", 1e-3),
    "Entropy Coefficient Bounds, lower": ("ppo.entropy.minimum", 1e-4),
    "Entropy Coefficient Bounds, upper": ("ppo.entropy.maximum", 1.0),
    "Target Entropy": ("ppo.entropy.target", 0.0),
    "Value Loss Coefficient": ("ppo.value_coefficient", 0.5),
    "Clipped Value Loss": ("ppo.clip_value", False),
    "Normalized Advantage": ("ppo.normalise_advantages", False),
    "GAE Parameter": ("ppo.gae_lambda", 0.95),
    "Discount Factor": ("ppo.gamma", 0.99),
    "VER Important Sampling": ("ppo.importance_weights", True),
    "Max VER IS": ("ppo.max_importance_weight", 1.0),
    "Number of Environments, per GPU": ("collect.num_environments", 16),
    "T of T x N": ("collect.rollout_length", 128),
}
TEXT = {
    "ResNet18, half width, ConvNeXt's changes": ("network.encoder", "resnet18"),
    "2-layer LSTM": ("network.memory", "lstm"),
    "layers": ("network.layers", 2),
    "the entropy coefficient is learned": ("ppo.entropy.learned", True),
}
# What our recipes have and the paper has not
OURS = {
    "ppo.target_kl": 0.0,
    "ppo.final_log_std": None,
    "network.binary_actions": [],
    "network.initial_mean": [],
    "network.angles": {},
    "network.distances": {},
    "network.vector_features": 0,
    "network.binary_threshold": 0.5,
}


def value_of(config, name):
    for part in name.split("."):
        config = getattr(config, part)
    return config


@pytest.mark.parametrize("rules", ["ours", "hab"])
@pytest.mark.parametrize("skill", ["navigate", "pick", "place", "open_cab", "tidy_house"])
def test_the_preset_is_table_a1_whatever_the_skills_own_settings(skill, rules):
    settings = load_settings(skill, ["preset=paper", f"rules={rules}"])
    for told, (name, expected) in {**TABLE_A1, **TEXT}.items():
        assert value_of(settings.trainer, name) == expected, told
    for name, expected in OURS.items():
        assert value_of(settings.trainer, name) == expected, name
    assert settings.camera_size == 128
    assert settings.trainer.network.hidden_size == 512


def test_the_device_and_all_else_can_be_changed():
    settings = load_settings("pick", ["preset=paper", "trainer.device=cpu", "trainer.ppo.epochs=1"])
    assert (settings.trainer.device, settings.trainer.ppo.epochs) == ("cpu", 1)
    assert settings.trainer.ppo.mini_batches == 2


def test_our_task_stays_under_our_rules():
    settings = load_settings("pick", ["preset=paper"])
    assert settings.task == load_settings("pick").task
    assert settings.starts == load_settings("pick").starts


def test_the_gpu_preset_does_not_claim_to_be_table_a1():
    ppo = load_settings("pick", ["preset=gpu"]).trainer.ppo
    assert ppo.value_coefficient != TABLE_A1["Value Loss Coefficient"][1]
    assert ppo.target_kl > 0.0
    assert TrainerConfig().ppo.value_coefficient == 0.5
