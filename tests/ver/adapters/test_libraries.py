"""Worlds of other libraries by name."""

import sys

import pytest

from locomotion.flagrun import FlagrunWorlds
from locomotion.paper import settings
from locomotion.worlds import LocomotionWorlds
from tests.helpers.mjlab_stand_in import install_stand_in
from tests.helpers.small_runs import curve, small_run
from ver.adapters.arrays import AnyEnvironment
from ver.adapters.brax_worlds import BraxWorlds
from ver.adapters.envpool_worlds import EnvpoolWorlds
from ver.adapters.libraries import named_environment, own_settings
from ver.adapters.mjlab_worlds import MjlabWorlds
from ver.errors import UserError
from ver.train import make_trainer
from ver.trainer import Trainer


def test_a_name_is_that_of_a_librarys_worlds():
    assert named_environment("brax:ant") == BraxWorlds("ant")
    given = {"episode_length": 50, "backend": "mjx"}
    assert named_environment("brax:ant", given, "cuda") == BraxWorlds("ant", 50, "mjx")
    found = named_environment("mjlab:Counters", {"largest_action": 2}, "cuda:1")
    assert found == MjlabWorlds("Counters", "cuda:1", 2.0)
    assert isinstance(found.largest_action, float)


def test_what_an_environment_of_envpool_takes_that_says_itself():
    given = {"num_threads": 2, "frame_skip": 1, "full_action_space": True}
    options = {"frame_skip": 1, "full_action_space": True}
    assert named_environment("envpool:Pong-v5", given) == EnvpoolWorlds("Pong-v5", 2, options)


def test_robots_that_run_are_found_likewise_and_bring_their_settings():
    assert named_environment("locomotion:ant", {"push": 1}, "cuda") == LocomotionWorlds(
        "ant", "cuda", push=1.0
    )
    assert own_settings("locomotion:ant", 256) == settings("ant", 256)
    for name in ("brax:ant", "CartPole-v1", LocomotionWorlds("ant")):
        assert own_settings(name) == []
    flags = named_environment("locomotion:humanoid_flagrun", {"lying": 0})
    assert flags == FlagrunWorlds("humanoid_flagrun", lying=0.0)
    with pytest.raises(UserError, match="locomotion has no 'bee'; choose ant, humanoid"):
        own_settings("locomotion:bee")


def test_any_other_name_is_gymnasiums():
    for name in ("CartPole-v1", "brax", "brax:", "gymnasium.envs:CartPole-v1"):
        assert named_environment(name, {"length": 3}) == AnyEnvironment(name, {"length": 3})
        assert named_environment(name) == AnyEnvironment(name)
    worlds = BraxWorlds("ant")
    assert named_environment(worlds) is worlds


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (
            "brax:ant",
            {"length": 5},
            "unknown key 'env.length': brax takes env.episode_length, env.backend",
        ),
        ("brax:ant", {"episode_length": 0.5}, "env.episode_length must be a whole number, found 0.5"),
        ("brax:ant", {"episode_length": True}, "env.episode_length must be a whole number, found True"),
        ("brax:ant", {"episode_length": 0}, "episode_length must be at least 1, found 0"),
        (
            "brax:ant",
            {"backend": "bullet"},
            "backend must be one of generalized, positional, spring, mjx, found bullet",
        ),
        (
            "locomotion:ant",
            {"obstacles": 3},
            "unknown key 'env.obstacles': locomotion takes env.episode_length, env.substeps, "
            "env.push, env.reward, env.threads",
        ),
        ("locomotion:humanoid_terrain", {"obstacles": 99}, "obstacles must be from 0 to 64, found 99"),
        ("envpool:Pong-v5", {"num_threads": -1}, "num_threads must be at least 0, found -1"),
        ("envpool:Pong-v5", {"num_threads": 0.5}, "env.num_threads must be a whole number, found 0.5"),
        ("mjlab:Counters", {"change": "all"}, "unknown key 'env.change': mjlab takes env.largest_action"),
        ("mjlab:Counters", {"largest_action": 0}, "largest_action must be above 0, found 0"),
        ("mjlab:Counters", {"largest_action": "far"}, "env.largest_action must be a number, found far"),
    ],
)  # fmt: skip
def test_what_they_do_not_take_is_one_line(name, given, told):
    with pytest.raises(UserError) as caught:
        named_environment(name, given)
    assert str(caught.value) == told


def test_words_win_over_the_settings_that_worlds_bring(tmp_path):
    words = ["collect.num_environments=4", "ppo.epochs=1", "env.threads=1", "learner_threads=1"]
    config = make_trainer("locomotion:ant", words, tmp_path).config
    assert (config.ppo.epochs, config.ppo.mini_batches, config.system) == (1, 2, "batched")
    assert (config.collect.num_environments, config.collect.rollout_length) == (4, 8192)


@pytest.mark.parametrize(
    ("library", "where"),
    [
        ("brax", ", into an environment of its own"),
        ("mjlab", ", into an environment of its own"),
        ("envpool", ""),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_cure(tmp_path, monkeypatch, library, where):
    monkeypatch.setitem(sys.modules, library, None)
    cure = f"{library} .*; pip install {library}{where}$"
    with pytest.raises(UserError, match=cure) as caught:
        Trainer(small_run("system=batched"), f"{library}:ant", tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("system", ["ver", "ddppo"])
def test_a_system_that_steps_single_worlds_is_refused(tmp_path, system):
    with pytest.raises(UserError, match=f"together only: choose system=batched, not {system}"):
        Trainer(small_run(f"system={system}"), "brax:ant", tmp_path)


def test_a_training_takes_a_name(tmp_path, monkeypatch):
    made = install_stand_in(monkeypatch)
    Trainer(small_run("system=batched", "total_steps=128"), "mjlab:Counters", tmp_path).train()
    assert curve(tmp_path)[-1]["steps"] == 128
    assert made == [(1, "cpu"), (4, "cpu")]  # the first tells the spaces
    with pytest.raises(UserError, match="mjlab has no task 'Nothing'; choose Counters"):
        Trainer(small_run("system=batched"), "mjlab:Nothing", tmp_path / "other")
