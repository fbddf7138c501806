"""Rules by which plans are followed."""

from planner.labels import REARM
from planner.rules import ExecutiveSettings, SkillRule
from skills.registry import all_specs


def test_rules_are_those_of_the_skills():
    settings = ExecutiveSettings()
    for name, spec in all_specs().items():
        assert settings.rule(name) == SkillRule(spec.grip, spec.timeout_ends)


def test_late_drives_may_go_on():
    settings = ExecutiveSettings(navigate_timeout_ends=False)
    assert not settings.rule("navigate").timeout_ends
    assert settings.rule("pick") == ExecutiveSettings().rule("pick")


def test_folding_the_arm_keeps_what_is_held_and_ends_nothing():
    assert ExecutiveSettings().rule(REARM) == SkillRule("keep", timeout_ends=False)
