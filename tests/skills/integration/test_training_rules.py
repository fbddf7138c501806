"""rules=hab in a training, in its checkpoint and in what plays it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import ver
from rearrange import UserError
from rearrange.episodes import RecordedStarts
from rearrange.rules import hab_config, judged, simulator_config
from rearrange.sim import Randomisation
from rearrange.tasks import default_config, household_names
from skills import skill_names
from skills.settings import SkillEnvironments
from skills.train import load_settings


@pytest.mark.parametrize("skill", [*skill_names(), *household_names()])
def test_nothing_of_our_task_or_starts_leaks_and_the_learner_stays(skill):
    ours, hab = load_settings(skill), load_settings(skill, ["rules=hab"])
    assert (hab.skill, hab.rules, hab.task) == (skill, "hab", hab_config(skill))
    assert (hab.starts, hab.randomise) == (RecordedStarts(), Randomisation())
    assert (hab.camera_size, hab.slide, hab.stall) == (128, False, False)
    assert hab.trainer == ours.trainer
    assert SkillEnvironments.from_settings(hab).simulator_config() == simulator_config("hab")


def test_overrides_come_last_and_a_preset_before_them():
    words = ["rules=hab", "preset=gpu", "task.max_steps=77", "camera_size=40"]
    settings = load_settings("pick", [*words, "trainer.ppo.epochs=7"])
    assert settings.task == replace(hab_config("pick"), max_steps=77)
    assert (settings.camera_size, settings.trainer.ppo.epochs) == (40, 7)
    assert (settings.trainer.network.encoder, settings.trainer.ppo.value_coefficient) == (
        "resnet18",
        0.05,  # configs/pick.yaml
    )


@pytest.mark.parametrize("skill", ["pick", "tidy_house", "pointnav"])
def test_nothing_is_trained_in_what_judges_releases(skill):
    assert load_settings(skill, ["split=val"]).split == "val"
    with pytest.raises(ver.UserError, match="split=test judges releases"):
        load_settings(skill, ["split=test"])


def test_unknown_rules_are_told():
    with pytest.raises(UserError, match="unknown rules 'lab': choose one of ours, hab"):
        load_settings("pick", ["rules=lab"])


def test_a_policy_is_judged_by_the_rules_it_was_trained_by():
    settings = load_settings("navigate", ["rules=hab", "camera_size=16", "task.near_share=0.5"])
    environments = SkillEnvironments.from_settings(settings)
    metadata = json.loads(json.dumps(environments.metadata()))
    assert environments.task_config().stop_distance == math.inf
    again = SkillEnvironments.from_metadata(metadata, "val")
    assert again.task_config() == judged(hab_config("navigate"))
    assert again.simulator_config() == replace(simulator_config("hab"), camera_size=16)
    env = again(0, seed=1)
    assert (env.task.action.delay, env.task.config.stop_distance) == (1, 2.0)


def test_checkpoints_from_before_there_were_rules_are_ours():
    metadata = SkillEnvironments.from_settings(load_settings("pick")).metadata()
    del metadata["rules"], metadata["task"]["action"]["delay"]
    again = SkillEnvironments.from_metadata(metadata, "val")
    assert again.rules == "ours"
    assert again.task_config() == replace(
        default_config("pick"), glimpse=True
    )  # seen as in training
    assert again.simulator_config() == replace(simulator_config(), camera_size=64)


def test_an_environment_of_a_training_by_habs_rules_is_one_step_late():
    settings = load_settings("pick", ["rules=hab", "camera_size=8"])
    env = SkillEnvironments.from_settings(settings)(0, seed=1)
    start = env.reset(seed=1)[0]["joint"]
    joints = [env.step(np.ones(10, np.float32))[0]["joint"] for _ in range(2)]
    np.testing.assert_array_equal(joints[0], start)
    assert (joints[1] != start).any()
