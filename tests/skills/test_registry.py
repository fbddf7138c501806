"""Skills by declaration: found, whole, and new ones without an edit."""

import json
import os
from dataclasses import replace

import pytest

from rearrange.errors import UserError
from rearrange.gym_ids import GROUP
from rearrange.tasks import TASKS, unregister_task
from skills import find, registry, skill_names
from skills.completeness import missing
from skills.oracle.skill import begin_oracle
from tests.helpers import ROOT
from tests.helpers.installed_package import entry_points_of, install, run

PACKAGE = ROOT / "examples" / "retrieve_skill"


def test_an_unknown_name_lists_what_there_is():
    for ask in (find, lambda name: begin_oracle(name, None, None)):
        with pytest.raises(UserError, match="unknown skill 'throw': choose one of navigate, pick"):
            ask("throw")


def test_names_and_actions_belong_to_one_skill(monkeypatch):
    with pytest.raises(UserError, match="there is a skill 'pick' already"):
        registry.register(find("pick"))
    task = type("Grab", (find("pick").task,), {"name": "grab"})
    with pytest.raises(UserError, match="action 'pick' is carried out by 'pick' already"):
        registry.register(replace(find("pick"), task=task))
    assert "grab" not in TASKS


def test_register_adds_a_skill_and_its_task_until_it_is_taken_out():
    task = type("Grab", (find("pick").task,), {"name": "grab"})
    registry.register(replace(find("pick"), task=task, actions=()))
    assert skill_names()[-1] == "grab"
    assert "grab" in TASKS
    registry.unregister("grab")
    assert "grab" not in skill_names()
    assert "grab" not in TASKS


@pytest.fixture
def installed(tmp_path):
    """Environment variables of a process in which the package of Retrieve is installed."""
    assert {group for group, _, _ in entry_points_of(PACKAGE)} == {registry.GROUP, GROUP}
    return install(PACKAGE, tmp_path)


def test_another_packages_skill_is_found_and_lacks_nothing(installed, monkeypatch):
    for folder in installed["PYTHONPATH"].split(os.pathsep):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(registry, "_found", {})  # as in a process that has not asked yet
    try:
        assert skill_names() == (*registry.built_in(), "retrieve")
        assert missing(find("retrieve")) == []
    finally:
        unregister_task("retrieve")


@pytest.mark.slow
def test_the_command_finds_it_too(installed, tmp_path):
    lines = run(installed, tmp_path, "skills.specs", "--check").splitlines()
    assert lines == [f"{name}: complete" for name in (*registry.built_in(), "retrieve")]


@pytest.mark.slow
def test_another_packages_skill_trains_evaluates_plans_and_is_filmed(installed, tmp_path):
    small = [
        *("trainer.total_steps=64", "trainer.collect.num_environments=2", "camera_size=40"),
        *("trainer.collect.environments_per_worker=2", "trainer.collect.rollout_length=16"),
        "trainer.tensorboard=false",
    ]
    run(installed, tmp_path, "skills.train", "retrieve", f"run={tmp_path / 'run'}", *small)
    policy = tmp_path / "run" / "policy.safetensors"
    assert policy.is_file()
    shared = ["skills.eval", "retrieve", "--episodes", "1", "--dataset", "sampled"]
    for player in (["--policy", "oracle"], ["--checkpoint", str(policy)]):
        file = tmp_path / "evaluation.json"
        run(installed, tmp_path, *shared, "--workers", "1", *player, "--json", str(file))
        assert json.loads(file.read_text())["episodes"] == 1
    result = tmp_path / "plans.json"
    run(
        *(installed, tmp_path, "planner.eval", "tidy_house", "--episodes", "1"),
        *("--skills", "oracle,retrieve=oracle", "--workers", "1", "--json", str(result)),
        *("--video", "--output", str(tmp_path / "videos")),
    )
    (record,) = json.loads(result.read_text())["records"]
    assert "(retrieve " in record["plan"][0]
    assert record["hand_offs"][0]["skill"] == "retrieve"
    assert list((tmp_path / "videos").glob("*.mp4"))
    made = "gymnasium.make('rearrange/Retrieve-v0', split='val', camera_size=8).unwrapped.task.name"
    told = run(installed, tmp_path, f"import gymnasium, rearrange; print({made})", how="-c")
    assert told == "retrieve\n"
