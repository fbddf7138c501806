"""Skills: what is learned, how it is trained and evaluated, and the oracles beside it.

Names are loaded on first use, so that environment workers can import this package without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

if TYPE_CHECKING:
    from skills.base import Skill, SkillArgument
    from skills.function_skill import FunctionSkill
    from skills.learned import load_policy
    from skills.library import load_skills
    from skills.modes import MODES
    from skills.registry import find, register, skill_names
    from skills.spec import PlanAction, SkillSpec

__all__ = [
    "MODES",
    "FunctionSkill",
    "PlanAction",
    "Skill",
    "SkillArgument",
    "SkillSpec",
    "find",
    "load_policy",
    "load_skills",
    "register",
    "skill_names",
]

_HOME = {
    "FunctionSkill": "skills.function_skill",
    "MODES": "skills.modes",
    "PlanAction": "skills.spec",
    "Skill": "skills.base",
    "SkillArgument": "skills.base",
    "SkillSpec": "skills.spec",
    "find": "skills.registry",
    "load_policy": "skills.learned",
    "load_skills": "skills.library",
    "register": "skills.registry",
    "skill_names": "skills.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'skills' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
