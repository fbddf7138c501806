"""Brax's worlds, where it is installed."""

import importlib.util

import pytest
import torch

from tests.helpers.small_runs import TINY_NAMED, curve
from ver.adapters.brax_worlds import OBSERVATION, BraxWorlds
from ver.errors import UserError
from ver.eval import load_run, play_episodes
from ver.train import make_trainer

INSTALLED = importlib.util.find_spec("brax") is not None
wanted = pytest.mark.skipif(not INSTALLED, reason="Brax is not installed: pip install brax")


@wanted
def test_an_unknown_name_is_refused():
    with pytest.raises(UserError, match="no environment 'nothing'; choose ant, fast, "):
        BraxWorlds("nothing").make_vector(2, 0)


@wanted
def test_worlds_restart_in_the_step_in_which_they_end_and_tell_what_was_last():
    worlds = BraxWorlds("inverted_pendulum", episode_length=3).make_vector(4, 0)
    first, _ = worlds.reset(seed=[5, 6, 7, 8])
    assert first[OBSERVATION].shape == (4, worlds.single_observation_space[OBSERVATION].shape[0])
    again, _ = worlds.reset(seed=5)
    torch.testing.assert_close(first[OBSERVATION], again[OBSERVATION])
    actions = torch.zeros(4, *worlds.single_action_space.shape)
    for _ in range(2):
        shown, rewards, terminated, truncated, infos = worlds.step(actions)
        assert not (terminated | truncated).any()
        assert infos == {}
        assert torch.isfinite(rewards).all()
    before = shown[OBSERVATION].clone()
    shown, _, terminated, truncated, infos = worlds.step(actions)
    assert truncated.all()
    assert not terminated.any()
    final = infos["final_obs"][OBSERVATION]
    assert (final - before).abs().max() < (shown[OBSERVATION] - before).abs().max()
    _, _, _, truncated, _ = worlds.step(actions)
    assert not truncated.any()  # they count anew


@wanted
def test_a_run_learns_from_them(tmp_path):
    words = ["system=batched", "total_steps=256", "env.episode_length=20", *TINY_NAMED]
    make_trainer("brax:inverted_pendulum", words, tmp_path).train()
    rows = curve(tmp_path)
    assert rows[-1]["steps"] == 256
    assert 1 <= rows[-1]["episode/episode_length"] <= 20
    policy, make = load_run(tmp_path)
    played = play_episodes(policy, make, 3, 0)
    assert all(1 <= length <= 20 for length in played["length"])
    assert played["return"] == played["length"]  # a pole that stands earns 1 a step
