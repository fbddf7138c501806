"""Temporary stand-in until skills/base.py exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

World = Any


@dataclass(frozen=True)
class SkillArgument:
    """What a skill is told."""

    kind: Literal["object", "goal"]
    slot: int
    target_index: int
    position: tuple[float, float, float]


class Skill(Protocol):
    """A skill."""

    name: str
    source: str
    timeout: int

    def reset(self, world: World, argument: SkillArgument) -> None: ...
    def act(self, world: World) -> np.ndarray: ...
    def done(self, world: World) -> bool: ...
