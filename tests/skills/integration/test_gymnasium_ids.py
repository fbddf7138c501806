"""Every id that `gymnasium.make` knows: Gymnasium's own checks, and the shipped policies."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import skills
from nav.gym_ids import IDS
from rearrange import shell
from rearrange.gym_ids import id_of
from rearrange.registration import NAMES
from rearrange.scenes.registry import CLASSIC
from rearrange.tasks import sampling
from skills.settings import CHECKPOINTS

ALL = {**{task: id_of(task) for task in NAMES}, **IDS}
SHIPPED = [path.stem for path in sorted(CHECKPOINTS.glob("*.safetensors"))]
SMALL = {"split": "val", "homes": CLASSIC, "camera_size": 40}


@pytest.fixture(autouse=True)
def few_homes(monkeypatch):
    """Only the first variation of each layout, so that few homes are built."""
    monkeypatch.setattr(sampling, "VARIATION_COUNT", 1)


class Blind:
    """A viewer that shows nothing."""

    def __init__(self, env):
        self.show = self.close = lambda: None


@pytest.mark.parametrize("task", ALL)
def test_gymnasiums_own_checker_passes_without_a_warning(task, monkeypatch):
    monkeypatch.setattr(shell, "find_viewer", lambda: Blind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ALL[task], max_steps=9, **SMALL)
        # Pictures of all tasks are drawn by the same code
        check_env(env.unwrapped, skip_render_check=task not in ("pick", "pointnav"))
        env.close()


@pytest.mark.parametrize("task", ALL)
def test_worlds_side_by_side_pass_without_a_warning(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(ALL[task], 2, max_steps=2, **SMALL)
        observation, _ = envs.reset(seed=0)
        assert observation in envs.observation_space
        envs.action_space.seed(0)
        for _ in range(2):
            observation, rewards, terminated, truncated, infos = envs.step(
                envs.action_space.sample()
            )
            assert observation in envs.observation_space
        assert rewards.shape == (2,)
        assert (terminated | truncated).all()
        assert infos["_final_obs"].all()
        assert infos["final_info"]["is_success"].dtype == bool
        envs.close()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_fits_the_environment_of_its_id(name):
    policy = skills.load_policy(name)
    env = gymnasium.make(ALL[name], split="val", disable_env_checker=True)
    own = policy.make_env("val")
    shown, known = env.observation_space.spaces, own.observation_space.spaces
    assert {key: shown[key] for key in known} == known  # the recipe may show more by now
    assert env.action_space == own.action_space
    assert env.unwrapped._worlds.repeat == own._worlds.repeat
    outcomes = []
    for each in (env, own):
        observation, _ = each.reset(seed=3)
        policy.restart()
        outcomes.append(each.step(policy.act(observation)))
        each.close()
    (one, *_), (other, *_) = outcomes
    for key, value in other.items():
        np.testing.assert_array_equal(one[key], value)
