"""Skills that lack nothing, and half-made ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from skills import find, registry
from skills.completeness import missing


@pytest.mark.parametrize("name", registry.built_in())
def test_our_skills_lack_nothing(name):
    assert missing(find(name)) == []


def test_a_half_made_skill_is_told_what_it_lacks(monkeypatch):
    half = replace(find("pick"), oracle=None, verb="", colour="blue", config=Path("nowhere.yaml"))
    monkeypatch.setattr("skills.train.all_specs", lambda: {"pick": half})
    assert [line.partition(":")[0] for line in missing(half)] == [
        *("SkillSpec.verb", "SkillSpec.oracle", "SkillSpec.colour", "nowhere.yaml")
    ]


def test_a_stage_that_makes_no_sense_is_told(monkeypatch, tmp_path):
    config = tmp_path / "pick.yaml"
    config.write_text("stages: [{name: alone, settings: {task.nonsense: 1}}]\n")
    half = replace(find("pick"), config=config)
    monkeypatch.setattr("skills.train.all_specs", lambda: {"pick": half})
    (line,) = missing(half)
    assert line.startswith(f"{config}: stage alone: ")


def test_a_skill_of_ours_whose_task_is_not_listed_is_told(monkeypatch):
    monkeypatch.setattr("skills.completeness.NAMES", ())
    (line,) = missing(find("pick"))
    assert "gymnasium.make" in line
