"""Players of an evaluation: a policy, an oracle, or a baseline that has learned nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.robot import DEFAULT_ROBOT
from rearrange.rules import OURS, without_stop_masks
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.base import SkillArgument
from skills.learned import PolicyRunner, check_metadata, robot_of_policy
from skills.library import skill_sources
from skills.modes import who_plays
from skills.navigation import NavEnvironments
from skills.oracle.skill import begin_oracle
from skills.registry import all_specs
from skills.settings import ORACLE, SkillEnvironments, environments_of
from skills.spec import next_of
from skills.start_kinds import start_kind
from ver import read_metadata

OWN, SWAPPED, BLIND = "own", "swapped", "blind"  # images
UNSEEN = 16  # [pixels], camera of a world in which nobody looks
BLIND_EPISODES = 16  # whose first images are averaged
OTHER = 500_000  # added to the seed of an episode whose images are swapped in


class PolicyPlayer:
    """Plays a skill's task, or a navigation task, with a policy."""

    def __init__(
        self,
        checkpoint: str,
        deterministic: bool,
        split: str,
        images: str = OWN,
        changes: Mapping[str, Any] | None = None,
        place: Mapping[str, str] | None = None,
        agent: Mapping[str, str] | None = None,
    ) -> None:
        """Load the policy and make the environment in which it was trained, in this split.

        Args:
            checkpoint: Policy file.
            deterministic: Take mean actions.
            split: Which apartments.
            images: OWN; SWAPPED: another world's at every step; BLIND: always the same, the mean of
                first images. What it then still achieves, it achieves without looking.
            changes: Numbers of the task that shall not be as in training, by name.
            place: Homes, simulator, or dataset and scenes of Habitat, for the environments.
            agent: What shall be otherwise of a navigation task's agent.
        """
        self.runner = PolicyRunner(checkpoint, deterministic)
        environments = environments_of(self.runner.policy.metadata, split)
        task = _changed(environments.task, changes)
        environments = replace(environments, task=task, **(place or {}))
        if agent and isinstance(environments, NavEnvironments):
            environments = replace(environments, agent={**environments.agent, **agent})
        self.environment: Any = environments(0, 0)
        seen = _made_of_images(self.environment, self.runner)
        self.blind = _mean_images(environments(2, 0), seen) if images == BLIND else None
        self.other = None
        if images == SWAPPED:
            other = PolicyRunner(checkpoint, deterministic)
            self.other = _OtherWorld(environments(1, 0), other, seen)

    def play(
        self,
        seed: int,
        options: dict[str, Any] | None,
        observe: Callable[[Any], None] | None = None,
    ) -> dict[str, Any]:
        """Play one episode.

        Args:
            seed: As for `reset`; sampled actions depend on it, too.
            options: As for `reset`.
            observe: Called with the environment after every step of its world, also within an action.

        Returns:
            The episode's metrics, and its kind of start.
        """
        torch.manual_seed(seed)
        observation, info = self.environment.reset(seed=seed, options=options)
        ours = isinstance(self.environment, RearrangeEnv)
        start = start_kind(self.environment) if ours else {}
        self.runner.restart()
        if self.other is not None:
            self.other.restart(seed)
        self.environment.after_step = observe
        ended = False
        while not ended:
            if self.other is not None:
                observation = observation | self.other.images()
            elif self.blind is not None:
                observation = observation | self.blind
            action = self.runner.act(observation)
            observation, _, terminated, truncated, info = self.environment.step(action)
            ended = terminated or truncated
        return info["metrics"] | start


def _changed(task: Mapping[str, Any], changes: Mapping[str, Any] | None) -> Any:
    """A task's plain values with some of them changed, in groups, too."""
    return OmegaConf.to_container(OmegaConf.merge(dict(task), dict(changes or {})))


def _made_of_images(environment: Any, runner: PolicyRunner) -> tuple[str, ...]:
    """Keys of images, and of what the task makes of them, as the way over a floor map."""
    made = environment.task.gathered_spaces(1) if isinstance(environment, RearrangeEnv) else ()
    return tuple(dict.fromkeys((*runner.policy.images.keys, *made)))


def _mean_images(environment: Any, keys: Sequence[str]) -> dict[str, np.ndarray]:
    """The mean of the first images of other episodes: what a policy may expect without looking."""
    first: list[dict[str, np.ndarray]] = []
    for index in range(BLIND_EPISODES):
        observation, _ = environment.reset(seed=OTHER + index)
        first.append({key: np.array(observation[key]) for key in keys})
    environment.close()
    return {
        key: np.mean([images[key] for images in first], axis=0).astype(first[0][key].dtype)
        for key in keys
    }


class _OtherWorld:
    """Other episodes of the same task, played by the same policy with open eyes."""

    def __init__(self, environment: Any, runner: PolicyRunner, seen: Sequence[str]) -> None:
        self.environment, self.runner, self.seen = environment, runner, seen
        self.observation: dict[str, np.ndarray] = {}

    def restart(self, seed: int) -> None:
        """Begin an episode that depends on nothing but the seed, and is another than the seed's own."""
        self.observation, _ = self.environment.reset(seed=seed + OTHER)
        self.runner.restart()

    def images(self) -> dict[str, np.ndarray]:
        """The images of now; then takes a step."""
        seen = self.observation
        outcome = self.environment.step(self.runner.act(seen))
        self.observation = outcome[0]
        if outcome[2] or outcome[3]:
            self.observation, _ = self.environment.reset()
            self.runner.restart()
        return {key: seen[key] for key in self.seen}


class TaskPlayer:
    """Plays the task of a skill or a scenario with somebody who has learned nothing.

    Attributes:
        skill: Whose task.
        environment: The world, where nobody looks.
    """

    def __init__(
        self,
        skill: str,
        split: str,
        rules: str = OURS,
        changes: Mapping[str, Any] | None = None,
        homes: str = DEFAULT_HOMES,
        robot: str = DEFAULT_ROBOT,
    ) -> None:
        """Make the task's environment by a set of rules; `changes`: numbers that shall be others."""
        self.skill = skill
        environments = SkillEnvironments.of_rules(skill, split, rules, UNSEEN)
        task = _changed(environments.task, changes)
        environments = replace(environments, task=task, homes=homes, robot=robot or DEFAULT_ROBOT)
        environments = self._adapted(environments)
        self.environment: RearrangeEnv = environments(0, 0)

    def _adapted(self, environments: SkillEnvironments) -> SkillEnvironments:
        """The environments as the player needs them."""
        return environments

    def play(
        self,
        seed: int,
        options: dict[str, Any] | None,
        observe: Callable[[RearrangeEnv], None] | None = None,
    ) -> dict[str, Any]:
        """Play one episode; arguments and answer are those of `PolicyPlayer.play`."""
        world = self.environment
        world.reset(seed=seed, options=options)
        world.after_step = observe
        start = start_kind(world)
        step = self._begin(seed)
        ended, info = False, {}
        while not ended:
            *_, terminated, truncated, info = step()
            ended = terminated or truncated
        return info["metrics"] | start | self._reasons()

    def _reasons(self) -> dict[str, float]:
        """Causes of failure that only the player knows, in the episode's metrics."""
        return {}

    def _begin(self, seed: int) -> Callable[[], tuple[Any, ...]]:
        """Begin to act; returns what takes a step of the world."""
        raise NotImplementedError


class OraclePlayer(TaskPlayer):
    """Plays a skill's task with its oracle, which calls stop when it has finished or given up.

    No mask ignores its stops: it closes a fridge with the arm at rest, which no mask could tell. Why it gave up
    stands among the causes of failure.
    """

    def _adapted(self, environments: SkillEnvironments) -> SkillEnvironments:
        task = asdict(without_stop_masks(environments.task_config()))
        return replace(environments, task=task)

    def _reasons(self) -> dict[str, float]:
        oracle = self._oracle
        gave_up = oracle.failure if oracle.done else ""
        return {f"failure/{gave_up}": 1.0} if gave_up else {}

    def _begin(self, seed: int) -> Callable[[], tuple[Any, ...]]:
        del seed
        world = self.environment
        oracle = begin_oracle(self.skill, world, argument_of(self.skill, world.episode))
        self._oracle = oracle

        def step() -> tuple[Any, ...]:
            action = oracle.act(world.state)
            return world.step_physical(action, oracle.done)

        return step


class RandomPlayer(TaskPlayer):
    """Plays a skill's or a scenario's task with actions that are uniform in the action space."""

    def _begin(self, seed: int) -> Callable[[], tuple[Any, ...]]:
        world = self.environment
        world.action_space.seed(seed)
        return lambda: world.step(world.action_space.sample())


def player_of(
    skill: str, words: str, split: str, homes: str, robot: str = ""
) -> tuple[str, PolicyPlayer | OraclePlayer | RandomPlayer]:
    """A player of a skill's own task, and where it comes from; a policy takes mean actions.

    Args:
        skill: Its name.
        words: As `skills.modes.parse_modes` reads them.
        split: Which apartments.
        homes: Which collection of them.
        robot: Name of the robot; "": the policy's own, or the usual one.

    Raises:
        UserError: It has no policy, or what is asked for plays in plans alone.
    """
    source = skill_sources(f"mixed,{skill}={who_plays(skill, words)}")[skill]
    if isinstance(source, Path):
        metadata = read_metadata(source)
        check_metadata(source, metadata, skill)
        robot_of_policy(source, metadata, robot)
        player = PolicyPlayer(str(source), True, split, place={"homes": homes})
    elif source == ORACLE:
        player = OraclePlayer(skill, split, homes=homes, robot=robot)
    else:
        player = RandomPlayer(skill, split, homes=homes, robot=robot)
    return str(source), player


def argument_of(name: str, episode: Episode) -> SkillArgument:
    """Return the skill's argument in an episode of its own task, or a scenario's first."""
    spec = all_specs().get(name)
    return (next_of if spec is None or spec.argument is None else spec.argument)(episode)
