"""Skills that act by their own task's observations in the world of another task."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from rearrange.action_pipeline import ActionPipeline
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, spec_of
from rearrange.late import LateObservations
from skills.base import SkillArgument, as_episode
from skills.endings import Ending
from skills.knowledge import Body, PolicySenses
from skills.registry import find
from ver import UserError


class Actor(Protocol):
    """Policy of one world: observations to actions, one after the other."""

    def restart(self) -> None:
        """Forget what was seen."""
        ...

    def act(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """Action in [-1, 1] for an observation."""
        ...


class ObservingSkill:
    """A skill that acts by the observations of its own task in the world of another, such as a scenario.

    The task makes the observations, as if an episode began where the skill does, and masks the actions.
    """

    def __init__(
        self,
        name: str,
        source: str,
        actor: Actor,
        task: Any,
        camera_size: int,
        ending: type[Ending],
    ) -> None:
        """Take who acts, and the task.

        Args:
            name: In the plan.
            source: Who acts, in words.
            actor: Acts in [-1, 1] of the task's action space.
            task: Makes the observations.
            camera_size: Of the depth image [pixels].
            ending: Judges when the skill is over.
        """
        self.name, self.source, self.task = name, source, task
        self.runner = actor
        self.timeout = int(task.max_steps)
        self.ending = ending(task.config, task.robot)
        self._camera_size = camera_size
        self.senses = PolicySenses(task, camera_size)
        self.pipeline = ActionPipeline(task)
        self.steps = 0  # since the skill began

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the task with the argument, and forget the last use."""
        episode = as_episode(world.episode, argument, Body(world).is_holding)
        self.begin(world, episode, argument)

    def begin(
        self, world: RearrangeEnv, episode: Episode, argument: SkillArgument | None = None
    ) -> None:
        """Begin an episode of the skill's own task in the world as it is now."""
        scene = spec_of(episode)
        if scene is not self.task.scene:  # who made it did not know the home
            self.task = type(self.task)(self.task.config, 1, self.task.robot, scene)
            self.senses = PolicySenses(self.task, self._camera_size)
        self.senses.begin(world, episode)
        self.late = LateObservations(
            self.task.action.delay,
            lambda: self.senses.observe(world, self.steps % self.pipeline.repeat == 0),
        )
        self.late.begin(0)
        self.pipeline.clear()
        self.steps = 0
        self.runner.restart()
        self.ending.begin(Body(world), argument)

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action in the simulator's units [J + 3], masked and repeated as in training."""
        if self.steps:
            self.late.after_step()
        if self.steps % self.pipeline.repeat == 0:
            self.pipeline.take(self.runner.act(self.observe()))
        else:
            self.pipeline.repeated()
        self.steps += 1
        action = self.senses.mask(world, self.pipeline.physical())
        self.ending.watch(action)
        return action

    def observe(self) -> dict[str, np.ndarray]:
        """What its task observes now, as the policy is told it."""
        return {key: value[0] for key, value in self.late.observe().items()}

    def done(self, world: RearrangeEnv) -> bool:
        """Return whether the skill is over, from what the robot can tell."""
        return self.ending.is_over(Body(world), self.pipeline.stops)


def ending_of(name: str) -> type[Ending]:
    """Return the judge of a skill's end; a UserError where there is none."""
    ending = find(name).ending
    if ending is None:
        raise UserError(f"{name} does not say when a policy is done: set SkillSpec.ending")
    return ending
