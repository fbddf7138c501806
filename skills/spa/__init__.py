"""Sense-plan-act skills: the classical baseline, which uses only what a robot observes."""

from skills.spa.observed import Observed
from skills.spa.robot import Robot
from skills.spa.skill import SpaSkill, spa_skills

__all__ = ["Observed", "Robot", "SpaSkill", "spa_skills"]
