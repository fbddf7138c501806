"""Rules by which plans are followed: of each skill, and of a whole evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.labels import REARM
from skills.registry import find
from skills.spec import Grip

REDRIVES = 2  # before a skill, where `--redrive` names no number
LEAST_CHANCE = 0.5


@dataclass(frozen=True)
class SkillRule:
    """The executive's rules for one skill (HAB's values).

    Attributes:
        grip: See SkillSpec.
        timeout_ends: Likewise.
    """

    grip: Grip = "free"
    timeout_ends: bool = True


REARM_RULE = SkillRule("keep", timeout_ends=False)


@dataclass(frozen=True)
class ExecutiveSettings:
    """Deployment settings; the defaults are habitat-lab v0.3.4 with the VER paper's stop mask.

    Attributes:
        max_steps: Step limit of the episode.
        wait_steps: Steps of standing still between the last skill and the stop.
        navigate_timeout_ends: False: a navigation that timed out hands over where it is.
        redrives: New drives, at most, where one ran out of time, and before a skill whose initiation set
            (skills.initiation) tells that it would hardly succeed from where the last one ended.
        least_chance: Of success, with which a skill begins although a new drive would be left.
        stop_mask_distance: Navigate's stop counts only this near to its target [m].
        timeouts: Skill -> steps, where the skill's own time-out shall not apply.
    """

    max_steps: int = 3000
    wait_steps: int = 30
    navigate_timeout_ends: bool = True
    redrives: int = 0
    least_chance: float = LEAST_CHANCE
    stop_mask_distance: float = 2.0
    timeouts: Mapping[str, int] = field(default_factory=dict)

    def rule(self, skill: str) -> SkillRule:
        """The rule for a skill under these settings."""
        if skill == REARM:
            return REARM_RULE
        spec = find(skill)
        if spec.effect == "arrives":
            return SkillRule(spec.grip, self.navigate_timeout_ends)
        return SkillRule(spec.grip, spec.timeout_ends)
