"""Skills by name."""

import json

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot.fetch import FETCH
from rearrange.sim.mujoco import SimulatorConfig
from skills import SkillArgument, library, load_skills, skill_names
from ver import UserError as VerUserError
from ver import load_policy
from ver.public import without_private_folders


def test_oracles_need_no_checkpoint():
    skills = load_skills("oracle")
    assert set(skills) == {*skill_names(), "reset_arm"}
    assert {skills[name].source for name in skill_names()} == {"oracle"}


def test_mixed_takes_what_is_learned(pick_checkpoint, monkeypatch):
    monkeypatch.setattr(library, "CHECKPOINTS", pick_checkpoint.parent)
    skills = load_skills("mixed")
    assert skills["pick"].source == str(pick_checkpoint)
    assert skills["place"].source == "oracle"


def test_learned_names_what_is_missing(pick_checkpoint, monkeypatch):
    monkeypatch.setattr(library, "CHECKPOINTS", pick_checkpoint.parent)
    with pytest.raises(UserError, match="no checkpoint for navigate, place"):
        load_skills("learned")


def test_single_skills_may_be_others(pick_checkpoint, monkeypatch):
    monkeypatch.setattr(library, "CHECKPOINTS", pick_checkpoint.parent)
    skills = load_skills("oracle,pick=learned,place=spa")
    assert skills["pick"].source == str(pick_checkpoint)
    assert skills["place"].source == "sense-plan-act"
    assert skills["navigate"].source == "oracle"
    assert load_skills(f"oracle,pick={pick_checkpoint}")["pick"].source == str(pick_checkpoint)


@pytest.mark.parametrize(
    "words", ["learned,pick=monolithic", "monolithic,pick=oracle", "monolithic=spa", "monolithic="]
)
def test_a_monolithic_policy_plays_alone(words):
    with pytest.raises(UserError, match=f"'{words}': monolithic plays without any skills"):
        load_skills(words, "tidy_house")


def test_the_monolithic_policy_is_the_scenarios_own(make_checkpoint, monkeypatch):
    path = make_checkpoint("set_table")
    monkeypatch.setattr(library, "CHECKPOINTS", path.parent)
    for words in ("monolithic", f"monolithic={path}"):
        (skill,) = load_skills(words, "set_table").values()
        assert (skill.name, skill.source) == ("set_table", str(path))
    with pytest.raises(VerUserError, match="holds a policy for 'set_table', not for 'tidy_house'"):
        load_skills(f"monolithic={path}", "tidy_house")
    with pytest.raises(UserError, match=r"no policy for tidy_house .*train_skill.sh tidy_house"):
        load_skills("monolithic", "tidy_house")


def test_reset_arm_brings_the_arm_to_rest_in_time():
    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8), seed=3)
    env.reset()
    skill = load_skills("oracle")["reset_arm"]
    skill.reset(env, SkillArgument("object", 0, 0, (0.0, 0.0, 0.0)))
    for _ in range(skill.timeout):
        if skill.done(env):
            break
        env.simulator.step(skill.act(env)[None])
    assert np.abs(env.state.arm_joints[0] - FETCH.resting_arm).max() < 0.05


def test_opening_needs_a_joint():
    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=8), seed=3)
    env.reset()
    skill = load_skills("oracle")["open_fridge"]
    with pytest.raises(UserError, match="open_fridge has to be told a joint"):
        skill.reset(env, SkillArgument("object", 0, 0, (0.0, 0.0, 0.0)))


def test_what_is_shipped_names_no_private_folder():
    shipped = sorted(library.CHECKPOINTS.glob("*.safetensors"))
    assert shipped
    for path in shipped:
        policy = load_policy(path)
        for part in (policy.config, policy.metadata):
            assert without_private_folders(part) == part, path
        beside = json.loads(path.with_suffix(".json").read_text())
        assert (beside["config"], beside["metadata"]) == (policy.config, policy.metadata), path
