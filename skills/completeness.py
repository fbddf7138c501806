"""Completeness of skills: everything needed to train, evaluate, plan and film them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rearrange.episodes import default_path
from rearrange.registration import NAMES
from skills.command import USER_ERRORS
from skills.registry import built_in, shipped_policy
from skills.settings import CHECKPOINTS
from skills.spec import SkillSpec
from skills.train import config_of, load_stages

WITHOUT = {  # field -> what does not work where it is left out
    "title": "films have no title",
    "verb": "films cannot say what the robot is doing",
    "effect": "plans with it cannot be judged",
    "actions": "no plan can use it",
    "argument": "its own task cannot tell it what is asked",
    "ending": "a policy of it never ends in plans",
    "oracle": "--skills oracle and --policy oracle do not work",
    "spa": "--skills spa does not work",
}


def missing(spec: SkillSpec) -> list[str]:
    """List what is missing, one line each; empty where the skill is whole."""
    return [*_fields(spec), *_files(spec)]


def _fields(spec: SkillSpec) -> Iterator[str]:
    for name, lacks in WITHOUT.items():
        if not getattr(spec, name):
            yield f"SkillSpec.{name}: {lacks}"
    if not re.fullmatch("#[0-9a-f]{6}", spec.colour):
        yield f"SkillSpec.colour: expected one as in #2563eb, found '{spec.colour}'"
    if spec.effect in ("opens", "closes") and any(a.receptacle is None for a in spec.actions):
        yield "PlanAction.receptacle: what opens or closes has to be told what"


def _files(spec: SkillSpec) -> Iterator[str]:
    path = config_of(spec.name)
    if not path.is_file():
        yield f"{path}: its training takes the defaults of all skills"
    else:
        try:
            load_stages(spec.name)
        except USER_ERRORS as error:
            yield f"{path}: {error}"
    if spec.name not in built_in():
        return  # others ship what they like
    if spec.name not in NAMES:
        yield "TASKS and NAMES of rearrange (docs/add_skill.md): gymnasium.make does not know its task"
    if not spec.heading:
        yield "SkillSpec.heading: docs/hab.md has no table for it"
    for path in (shipped_policy(spec.name, CHECKPOINTS), default_path(spec.name, "val")):
        if not path.is_file():
            yield f"{path}: nothing is shipped"
