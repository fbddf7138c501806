from skills import load_skills, skill_names
from skills.oracle import Oracle
from skills.spa import SpaSkill


def test_mode_spa_has_no_oracle_among_its_skills():
    skills = load_skills("spa")
    assert set(skills) == {*skill_names(), "reset_arm"}
    assert all(isinstance(skills[name], SpaSkill) for name in skill_names())
    assert not any(isinstance(skills[name], Oracle) for name in skill_names())
    assert {skills[name].source for name in skill_names()} == {"sense-plan-act"}
