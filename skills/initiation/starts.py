"""Starts from which an initiation set is learned: the skill's own, and from anywhere near the thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, floor_of
from rearrange.errors import UserError
from rearrange.tasks.true_state import BOTH
from skills.initiation.network import first_seen
from skills.learned import PolicyRunner
from skills.settings import SkillEnvironments
from ver.networks.critic import InformedCritic

NEAR = 2.0  # [m], within which the robot is put: where Navigate may stop
HEADING_NOISE = 0.5  # [rad], standard deviation from straight at the thing


@dataclass(frozen=True)
class Start:
    """One start.

    Attributes:
        seen: What the policy makes of its first observation [F].
        value: Return that its informed critic expects.
        succeeded: Whether the policy did from here; None: it was not played.
    """

    seen: np.ndarray
    value: float
    succeeded: bool | None = None


class StartPlayer:
    """Draws starts of a skill's task, half of them with the robot anywhere near what it is about.

    It is not in `__main__`, which multiprocessing does not import in the processes that play.

    Args:
        checkpoint: File of the policy.
        homes: In which collection, or the YAML file of a home; "": in which it was trained.
    """

    def __init__(self, checkpoint: str | Path, homes: str = ""):
        """Load the policy.

        Raises:
            UserError: Its critic is told nothing that the policy does not see.
        """
        self._runner = PolicyRunner(checkpoint, deterministic=True)
        policy = self._runner.policy
        if not isinstance(policy.critic, InformedCritic):
            raise UserError(
                f"{checkpoint}: its critic sees what the policy sees: train with sensors=both"
            )
        self._homes = homes
        self._worlds: dict[str, RearrangeEnv] = {}

    def play(self, split: str, seed: int, count: int, played: bool) -> tuple[int, list[Start]]:
        """The seed, and the starts that it decides, one of the task and one from near the same thing in turn.

        Args:
            split: Which apartments.
            seed: Of all of them.
            count: How many.
            played: Play each to its end.
        """
        world, rng = self._world(split), np.random.default_rng(seed)
        found: list[Start] = []
        observation, _ = world.reset(seed=seed)
        while len(found) < count:
            moved = _moved(world, rng)  # before anything is played: where the thing is then
            found.append(self._start(world, observation, played))
            if moved is not None and len(found) < count:
                observation, _ = world.reset(options={"episode": moved})
                found.append(self._start(world, observation, played))
            observation, _ = world.reset()
        return seed, found

    def _world(self, split: str) -> RearrangeEnv:
        """The world with the homes of a split."""
        if split not in self._worlds:
            metadata = self._runner.policy.metadata
            environments = SkillEnvironments.from_metadata(metadata, split)
            # With the starts of its training, detours and open doors among them
            environments = replace(
                environments,
                sensors=BOTH,
                task={**metadata["task"]},
                homes=self._homes or environments.homes,
            )
            self._worlds[split] = environments(0, 0)
        return self._worlds[split]

    def _start(
        self, world: RearrangeEnv, observation: dict[str, np.ndarray], played: bool
    ) -> Start:
        policy = self._runner.policy
        tensors = {key: torch.as_tensor(value)[None] for key, value in observation.items()}
        with torch.inference_mode():
            seen, outputs = first_seen(policy, tensors)
            value = policy.critic.rate(outputs, tensors)
        succeeded = self._succeeds(world, observation) if played else None
        return Start(seen[0].numpy(), float(value[0]), succeeded)

    def _succeeds(self, world: RearrangeEnv, observation: dict[str, Any]) -> bool:
        """Play the running episode to its end; returns whether it succeeded."""
        self._runner.restart()
        while True:
            action = self._runner.act(observation)
            observation, _, terminated, truncated, info = world.step(action)
            if terminated or truncated:
                return bool(info["metrics"]["success"])

    def close(self) -> None:
        """Free the worlds."""
        for world in self._worlds.values():
            world.close()


def _moved(world: RearrangeEnv, rng: np.random.Generator) -> Episode | None:
    """The running episode with the robot somewhere near the thing; None where it fits nowhere."""
    place, episode = world.task.subject(world.state, 0)[:2].tolist(), world.episode
    pose = floor_of(episode).sample_pose_near(rng, place, NEAR, HEADING_NOISE)
    return None if pose is None else replace(episode, base_pose=pose)
