"""A small Pick policy with fresh weights."""

import pytest

from skills.settings import SkillEnvironments
from skills.train import load_settings
from ver import ActorCritic, save_policy


@pytest.fixture(scope="session")
def pick_checkpoint(tmp_path_factory):
    """Path of an untrained Pick policy that sees 40x40 depth."""
    settings = load_settings("pick", ["camera_size=40", "task.max_steps=20"])
    settings.trainer.network.hidden_size = 8
    settings.trainer.network.visual_features = 8
    environments = SkillEnvironments.from_settings(settings)
    env = environments(0, 0)
    policy = ActorCritic(env.observation_space, env.action_space, settings.trainer.network)
    path = tmp_path_factory.mktemp("checkpoints") / "pick.safetensors"
    save_policy(path, policy, {}, environments.metadata())
    return path
