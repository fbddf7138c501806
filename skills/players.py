"""Who plays the episodes of an evaluation: a policy, or the oracle of the same name."""

from __future__ import annotations

from typing import Any

import torch

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.sim.mujoco import SimulatorConfig
from skills.base import SkillArgument
from skills.learned import PolicyRunner
from skills.library import begin_oracle
from skills.settings import SkillEnvironments

UNSEEN = 16  # [pixels], camera of a world in which nobody looks


class PolicyPlayer:
    """Plays a skill's task with a policy."""

    def __init__(self, checkpoint: str, deterministic: bool, split: str) -> None:
        """Load the policy and make the environment in which it was trained, in this split."""
        self.runner = PolicyRunner(checkpoint, deterministic)
        metadata = self.runner.policy.metadata
        self.environment = SkillEnvironments.from_metadata(metadata, split)(0, 0)

    def play(self, seed: int, options: dict[str, Any] | None) -> dict[str, float]:
        """Play one episode; `seed` and `options` are those of `reset`. Returns its metrics."""
        torch.manual_seed(seed)
        observation, info = self.environment.reset(seed=seed, options=options)
        self.runner.restart()
        ended = False
        while not ended:
            action = self.runner.act(observation)
            observation, _, terminated, truncated, info = self.environment.step(action)
            ended = terminated or truncated
        return info["metrics"]


class OraclePlayer:
    """Plays a skill's task with its oracle, which calls stop when it has finished or given up."""

    def __init__(self, skill: str, split: str) -> None:
        """Make the task's environment with its defaults."""
        self.skill = skill
        self.environment = RearrangeEnv(skill, None, split, SimulatorConfig(camera_size=UNSEEN))

    def play(self, seed: int, options: dict[str, Any] | None) -> dict[str, float]:
        """Play one episode; `seed` and `options` are those of `reset`. Returns its metrics."""
        world = self.environment
        world.reset(seed=seed, options=options)
        oracle = begin_oracle(self.skill, world, argument_of(self.skill, world.episode))
        ended, info = False, {}
        while not ended:
            action = oracle.act(world.state, 0)
            stop = oracle.done(world.state, 0)
            _, terminated, truncated, info = world.step_physical(action, stop)
            ended = terminated or truncated
        return info["metrics"]


def argument_of(skill: str, episode: Episode) -> SkillArgument:
    """What a skill's own task asks of the skill."""
    target = episode.targets[0]
    if skill == "place" or episode.held_slot is not None:
        return SkillArgument("goal", target.slot, 0, target.goal)
    return SkillArgument("object", target.slot, 0, target.start, episode.target_joint)
