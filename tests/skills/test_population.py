"""The command that trains a population, on a tiny scale."""

import json
from pathlib import Path

import pytest

from skills import population
from skills.train import load_settings
from ver import UserError

TINY = [
    "until=alone",
    "camera_size=40",
    "task.max_steps=10",
    "trainer.collect.num_environments=2",
    "trainer.collect.rollout_length=16",
    "trainer.network.hidden_size=8",
    "trainer.network.visual_features=8",
    "trainer.system=batched",  # processes: tests/ver/test_population.py
    "trainer.learner_threads=1",
    "trainer.ppo.mini_batches=1",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
]


def test_two_members_compete(tmp_path, capsys):
    arguments = ["pick", *TINY, f"run={tmp_path}", "--members", "2", "--interval", "32"]
    arguments += ["--rounds", "2", "--replaced-share", "0.5", "--metric", "episode_return"]
    assert population.main(arguments) == 0
    said = capsys.readouterr().err
    assert "2 of 2 rounds" in said
    assert f"best policy in {tmp_path}/member_" in said
    state = json.loads((tmp_path / "population.json").read_text())
    first, second = state["members"]
    assert len(first["scores"]) == len(second["scores"]) == 2
    assert sorted(first["parents"] + second["parents"]) in ([0, 0], [1, 1])
    assert set(first["values"]) >= {"trainer.ppo.learning_rate", "task.distance_scale"}
    for index in range(2):
        assert (tmp_path / f"member_{index}" / "policy.safetensors").is_file()
    best = next(word for word in said.split() if word.startswith(f"{tmp_path}/member_"))
    for suffix in (".safetensors", ".json"):
        copied = (tmp_path / "policy").with_suffix(suffix).read_bytes()
        assert copied == Path(best).with_suffix(suffix).read_bytes()


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["task.nonsense"], "--mutate task.nonsense: there is no such setting"),
        (["trainer.seed"], "--mutate trainer.seed: expected a number other than zero, found 1"),
        (["trainer.ppo.state_estimation"], r"found 0\.0"),
    ],
)
def test_what_cannot_mutate_is_refused(names, complaint):
    settings = load_settings("place")
    with pytest.raises(UserError, match=complaint):
        population.initial_values(settings, names)


def test_members_have_seeds_and_values_of_their_own():
    config = population.PopulationConfig(interval=100, rounds=3)
    trainers = population.SkillTrainers("pick", ["until=alone"], config)
    settings = [trainers.settings(k, {"task.distance_scale": 2.0 + k}) for k in range(2)]
    assert [s.trainer.seed for s in settings] == [1, 1001]
    assert [s.task.distance_scale for s in settings] == [2.0, 3.0]
    assert settings[0].trainer.total_steps == 300
    short = population.SkillTrainers("pick", ["stages=[]", "trainer.total_steps=200"], config)
    with pytest.raises(UserError, match="less than all rounds take"):
        short.settings(0, {})


def test_one_stage_is_trained_and_which_one_is_asked_for():
    with pytest.raises(UserError, match=r"pick is trained in 3 stages, .* say until=alone"):
        population.one_stage("pick", [])
    settings = population.one_stage("pick", ["until=alone"])
    stage = settings.stages[0].settings
    assert settings.trainer.ppo.final_log_std == stage["trainer.ppo.final_log_std"]


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["until=shown"], "teacher=oracle: a population learns by trying, and imitates nobody"),
        ([], "navigate is trained in 4 stages, .* say since=STAGE until=STAGE"),
    ],
)
def test_a_stage_that_imitates_is_no_populations(overrides, complaint):
    with pytest.raises(UserError, match=complaint):
        population.one_stage("navigate", overrides)


def test_what_may_mutate_of_another_simulators_task_is_the_learners():
    settings = load_settings("habitat-lab:RearrangePickTask-v0")
    assert list(population.initial_values(settings, None)) == ["trainer.ppo.learning_rate"]


def test_a_page_of_several_trainings_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"live=true .*: leave it out"):
        population.main(["pick", "until=alone", "live=true", f"run={tmp_path / 'new'}"])
    assert not (tmp_path / "new").exists()
