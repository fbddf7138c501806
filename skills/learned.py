"""Trained policies as skills that the planner can run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.late import LateObservations
from rearrange.robot.actions import FULL_ACTION_SIZE, STOP
from rearrange.tasks import make_task
from rearrange.worlds import to_physical
from skills.base import SkillArgument, as_episode
from skills.endings import Ending, Stops
from skills.knowledge import Body, PolicySenses
from skills.registry import find
from skills.settings import SkillEnvironments
from ver import UserError, load_policy, to_environment_action


class PolicyRunner:
    """Runs a policy in one world: hidden state, previous action, sampling.

    Args:
        path: Checkpoint.
        deterministic: Take the mean action instead of sampling.
    """

    def __init__(self, path: str | Path, deterministic: bool = False) -> None:
        """Load the policy."""
        self.policy = load_policy(path)
        self.deterministic = deterministic
        self.restart()

    def restart(self) -> None:
        """Forget hidden state and previous action."""
        self.hidden = self.policy.initial_state(1)
        self.previous = self.policy.initial_actions(1)
        self.mask = torch.zeros(1)

    def act(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """Action in [-1, 1] for an observation of one world."""
        tensors = {
            key: torch.as_tensor(observation[key])[None]
            for key in self.policy.observation_space.spaces
        }
        with torch.inference_mode():
            output = self.policy.act(
                tensors, self.hidden, self.previous, self.mask, deterministic=self.deterministic
            )
        self.hidden, self.previous = output.state, output.actions
        self.mask = torch.ones(1)
        return to_environment_action(self.policy.action_space, output.actions[0].numpy())


def check_metadata(path: str | Path, metadata: dict[str, Any], skill: str) -> None:
    """Raise a UserError if a checkpoint was not trained for this skill."""
    found = metadata.get("skill")
    if found != skill:
        raise UserError(
            f"{path} holds a policy for '{found}', not for '{skill}': give a checkpoint of {skill}"
        )


class LearnedSkill:
    """A trained policy in the world of another task, such as a household scenario.

    The policy sees what it saw in training: its own task makes the observations, as if an episode
    began where the skill does, and masks the actions.
    """

    def __init__(self, name: str, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint and the task that makes its observations.

        Args:
            name: Of a skill.
            path: Checkpoint.
            deterministic: Take mean actions.

        Raises:
            UserError: There is no such skill, it does not say when it is over, or the checkpoint is another's.
        """
        spec = find(name)
        if spec.ending is None:
            raise UserError(f"{name} does not say when a policy is done: set SkillSpec.ending")
        self._load(name, path, deterministic, spec.ending)
        self.timeout = spec.timeout

    def _load(self, name: str, path: str | Path, deterministic: bool, ending: type[Ending]) -> None:
        self.name, self.source = name, str(path)
        self.runner = PolicyRunner(path, deterministic)
        metadata = self.runner.policy.metadata
        check_metadata(path, metadata, name)
        self.environments = SkillEnvironments.from_metadata(metadata, "val")
        self.task: Any = make_task(name, self.environments.task_config())
        self.ending = ending(self.task.config)
        self.senses = PolicySenses(self.task, self.environments.camera_size)
        self.scale = self.task.action.scale()
        self.full = np.zeros((1, FULL_ACTION_SIZE))
        self.steps = 0  # since the skill began

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the task with the argument, and forget the last use."""
        episode = as_episode(world.episode, argument, Body(world).is_holding)
        self.begin(world, episode, argument)

    def begin(
        self, world: RearrangeEnv, episode: Episode, argument: SkillArgument | None = None
    ) -> None:
        """Begin an episode of the policy's own task in the world as it is now."""
        self.senses.begin(world, episode)
        self.late = LateObservations(self.task.action.delay, lambda: self.senses.observe(world))
        self.late.begin(0)
        self.full[:] = 0.0
        self.steps = 0
        self.runner.restart()
        self.ending.begin(Body(world), argument)

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action in the simulator's units [10], masked and repeated as in training."""
        if self.steps:
            self.late.after_step()
        if self.steps % int(self.task.action.repeat) == 0:
            observation = {key: value[0] for key, value in self.late.observe().items()}
            self.full[0, self.task.action_slice] = self.runner.act(observation)
        else:
            self.full[0, STOP] = -1.0  # called once, where the policy has seen the world
        self.steps += 1
        action = self.senses.mask(world, to_physical(self.scale, self.full))
        self.ending.watch(action)
        return action

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the skill is over, from what the robot can tell."""
        return self.ending.is_over(Body(world), bool(self.full[0, STOP] > 0.0))


class LearnedScenario(LearnedSkill):
    """A whole household scenario by one trained policy, which says itself when all is done."""

    def __init__(self, scenario: str, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint of a scenario, one of HOUSEHOLD_NAMES."""
        self._load(scenario, path, deterministic, Stops)
        self.timeout = self.task.max_steps

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the world's own episode: all that there is to do is in its observation."""
        self.begin(world, world.episode)
