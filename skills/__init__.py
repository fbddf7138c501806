"""Skills: what is learned, how it is trained and evaluated, and the oracles beside it.

Names are loaded on first use, so that environment workers can import this package without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skills.base import MODES, Skill, SkillArgument
    from skills.library import SKILL_NAMES, load_skills

__all__ = ["MODES", "SKILL_NAMES", "Skill", "SkillArgument", "load_skills"]

_HOME = {
    "MODES": "skills.base",
    "Skill": "skills.base",
    "SkillArgument": "skills.base",
    "SKILL_NAMES": "skills.library",
    "load_skills": "skills.library",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'skills' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
