"""Small policies with fresh weights."""

import pytest

from skills.settings import SkillEnvironments
from skills.train import load_settings
from ver import ActorCritic, save_policy


@pytest.fixture(scope="session")
def make_checkpoint(tmp_path_factory):
    """A function from a skill, and overrides, to the path of an untrained policy that sees 40x40 depth."""
    made = {}

    def make(skill, *overrides):
        key = (skill, *overrides)
        if key not in made:
            settings = load_settings(skill, ["camera_size=40", "task.max_steps=20", *overrides])
            settings.trainer.network.hidden_size = 8
            settings.trainer.network.visual_features = 8
            environments = SkillEnvironments.from_settings(settings)
            env = environments(0, 0)
            policy = ActorCritic(env.observation_space, env.action_space, settings.trainer.network)
            path = tmp_path_factory.mktemp("checkpoints") / f"{skill}.safetensors"
            save_policy(path, policy, {}, environments.metadata())
            made[key] = path
        return made[key]

    return make


@pytest.fixture(scope="session")
def pick_checkpoint(make_checkpoint):
    """Path of an untrained Pick policy."""
    return make_checkpoint("pick")
