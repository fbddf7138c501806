"""Trained policies as skills that the planner can run."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import RearrangeEnv
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.tasks import make_task
from rearrange.tasks.true_state import STATE
from skills.base import SkillArgument
from skills.endings import Ending, Stops
from skills.initiation import InitiationSet, initiation_path, load_initiation
from skills.modes import POLICY_SUFFIX
from skills.observing import ObservingSkill, ending_of
from skills.registry import all_specs, find, shipped_policy
from skills.settings import CHECKPOINTS, SkillEnvironments, environments_of
from ver import UserError, to_environment_action
from ver import load_policy as read_policy
from ver.logs import policy_file


def load_policy(name: str | Path, deterministic: bool = True) -> PolicyRunner:
    """A trained policy, ready to act.

    Args:
        name: Of a skill or a navigation task, whose shipped policy it is; or the path of a policy, or of a run
            directory that has one.
        deterministic: Take the mean action instead of sampling.

    Raises:
        UserError: There is no such policy.
    """
    path = Path(name)
    if (
        path.suffix != POLICY_SUFFIX and len(path.parts) == 1
    ):  # a name, also beside a run of that name
        spec = all_specs().get(str(name))
        path = CHECKPOINTS / f"{name}{POLICY_SUFFIX}"
        if spec is not None:
            path = shipped_policy(spec.name, CHECKPOINTS)
        if not path.is_file():
            there = sorted(each.stem for each in CHECKPOINTS.glob(f"*{POLICY_SUFFIX}"))
            raise UserError(f"no policy '{name}' is shipped: choose one of {', '.join(there)}")
    return PolicyRunner(policy_file(path), deterministic)


class PolicyRunner:
    """Runs a policy in one world: hidden state, previous action, sampling.

    Args:
        path: Checkpoint.
        deterministic: Take the mean action instead of sampling.
    """

    def __init__(self, path: str | Path, deterministic: bool = False) -> None:
        """Load the policy."""
        self.path = Path(path)
        self.policy = read_policy(path)
        self.deterministic = deterministic
        self.restart()

    def restart(self) -> None:
        """Forget hidden state and previous action."""
        self.hidden = self.policy.initial_state(1)
        self.previous = self.policy.initial_actions(1)
        self.mask = torch.zeros(1)

    def make_env(self, split: str = "val", seed: int = 0, homes: str = "") -> Any:
        """An environment as the policy knows it: its image, its actions, in homes of a split.

        Args:
            split: "train", "val" or "test": which homes.
            seed: Of the first episode.
            homes: Of which collection, or the YAML file of a home; "": in which it was trained.
        """
        environments = environments_of(self.policy.metadata, split)
        return (replace(environments, homes=homes) if homes else environments)(0, seed)

    def act(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """Action in the units of the environment's action space for an observation of one world.

        Raises:
            UserError: The observation lacks something, or has another shape than in training.
        """
        for key in self.policy.seen_keys:
            if key not in observation:
                raise UserError(
                    f"{key} is not observed, which the policy knows: make the environment with "
                    "policy.make_env()"
                )
            shape = self.policy.observation_space[key].shape
            if np.shape(observation[key]) != shape:
                raise UserError(
                    f"{key} has the shape {np.shape(observation[key])}, the policy knows {shape}: "
                    "make the environment with policy.make_env()"
                )
        tensors = {key: torch.as_tensor(observation[key])[None] for key in self.policy.seen_keys}
        with torch.inference_mode():
            output = self.policy.choose(
                tensors, self.hidden, self.previous, self.mask, deterministic=self.deterministic
            )
        self.hidden, self.previous = output.state, output.actions
        self.mask = torch.ones(1)
        return to_environment_action(self.policy.action_space, output.actions[0].numpy())


def check_metadata(path: str | Path, metadata: dict[str, Any], skill: str) -> None:
    """Raise a UserError if a checkpoint was not trained for this skill."""
    found = metadata.get("skill")
    if found is None:
        raise UserError(
            f"{path} was not trained for a skill: what python -m ver has trained, python -m ver eval judges"
        )
    if found != skill:
        raise UserError(
            f"{path} holds a policy for '{found}', not for '{skill}': give a checkpoint of {skill}"
        )


def robot_of_policy(path: str | Path, metadata: dict[str, Any], asked: str = "") -> str:
    """Name of the robot that a policy acts with; a UserError where another one is asked for."""
    own = metadata.get("robot", DEFAULT_ROBOT)
    if asked not in ("", own):
        raise UserError(f"{path} acts with the robot {own}, not {asked}: give another policy")
    return own


class LearnedSkill(ObservingSkill):
    """A trained policy as a skill: it sees what it saw in training."""

    def __init__(self, name: str, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint and the task that makes its observations.

        Args:
            name: Of a skill.
            path: Checkpoint.
            deterministic: Take mean actions.

        Raises:
            UserError: There is no such skill, it does not say when it is over, or the checkpoint is another's.
        """
        self._load(name, path, deterministic, ending_of(name))
        self.timeout = find(name).timeout

    def chance(self, world: RearrangeEnv, argument: SkillArgument) -> float | None:
        """Return how likely the skill succeeds from here, by what its policy sees; None where it cannot tell.

        It is begun for that, and has to be begun again to act.
        """
        if self._initiation is None:
            return None
        self.reset(world, argument)
        return self._initiation.chance(self._policy, self.observe())

    @cached_property
    def _initiation(self) -> InitiationSet | None:
        """Read when it is first asked for: who asks nothing may leave an old one beside a new policy."""
        return load_initiation(self.source) if initiation_path(self.source).is_file() else None

    def _load(self, name: str, path: str | Path, deterministic: bool, ending: type[Ending]) -> None:
        runner = PolicyRunner(path, deterministic)
        metadata = runner.policy.metadata
        check_metadata(path, metadata, name)
        environments = SkillEnvironments.from_metadata(metadata, "val")
        if environments.sensors == STATE:
            raise UserError(
                f"{path} sees the true state, which no robot is told: take a policy of depth"
            )
        task = make_task(name, environments.task_config(), robot=find_robot(environments.robot))
        super().__init__(name, str(path), runner, task, environments.camera_size, ending)
        self.environments, self._policy = environments, runner.policy


class LearnedScenario(LearnedSkill):
    """A whole household scenario by one trained policy, which says itself when all is done."""

    def __init__(self, scenario: str, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint of a scenario, one of `household_names()`."""
        self._load(scenario, path, deterministic, Stops)

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the world's own episode: all that there is to do is in its observation."""
        self.begin(world, world.episode)
