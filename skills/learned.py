"""Trained policies as skills that the planner can run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import FULL_ACTION_SIZE, RearrangeEnv, to_physical
from rearrange.episodes import Episode
from rearrange.late import LateObservations
from rearrange.tasks import make_task
from rearrange.tasks.base import GRIP, STOP
from skills.base import SkillArgument, as_episode
from skills.knowledge import Body, PolicySenses
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

    name: str
    timeout: int = 200  # steps (habitat-lab)

    def __init__(self, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint and the task that makes its observations."""
        self.source = str(path)
        self.runner = PolicyRunner(path, deterministic)
        metadata = self.runner.policy.metadata
        check_metadata(path, metadata, self.name)
        self.environments = SkillEnvironments.from_metadata(metadata, "val")
        self.task: Any = make_task(self.name, self.environments.task_config())
        self.senses = PolicySenses(self.task, self.environments.camera_size)
        self.scale = self.task.action.scale()
        self.full = np.zeros((1, FULL_ACTION_SIZE))
        self.steps = 0  # since the skill began

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the task with the argument, and forget the last use."""
        self.begin(world, as_episode(world.episode, argument, Body(world).is_holding))

    def begin(self, world: RearrangeEnv, episode: Episode) -> None:
        """Begin an episode of the policy's own task in the world as it is now."""
        self.senses.begin(world, episode)
        self.late = LateObservations(self.task.action.delay, lambda: self.senses.observe(world))
        self.late.begin(0)
        self.full[:] = 0.0
        self.steps = 0
        self.runner.restart()

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
        return self.senses.mask(world, to_physical(self.scale, self.full))

    def done(self, world: RearrangeEnv) -> bool:
        """Whether the skill is over, from what the robot can tell."""
        raise NotImplementedError

    def _at_rest(self, world: RearrangeEnv) -> bool:
        """The hand is at its resting place."""
        return Body(world).to_rest < self.task.config.rest_threshold


class LearnedNavigate(LearnedSkill):
    """Navigate by a trained policy, which says itself when it has arrived."""

    name = "navigate"
    timeout = 300

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin, and remember where to go."""
        super().reset(world, argument)
        self._goal = argument.position

    def done(self, world: RearrangeEnv) -> bool:
        """The policy calls stop where it is not ignored."""
        if self.full[0, STOP] <= 0:
            return False
        distance = math.dist(Body(world).base_pose[:2], self._goal[:2])
        return distance <= self.task.config.stop_distance


class LearnedPick(LearnedSkill):
    """Pick by a trained policy."""

    name = "pick"

    def done(self, world: RearrangeEnv) -> bool:
        """Something is held and the hand is back at its resting place."""
        return Body(world).is_holding and self._at_rest(world)


class LearnedPlace(LearnedSkill):
    """Place by a trained policy."""

    name = "place"

    def done(self, world: RearrangeEnv) -> bool:
        """Nothing is held any more and the hand is back at its resting place."""
        return not Body(world).is_holding and self._at_rest(world)


class LearnedOpenClose(LearnedSkill):
    """A drawer or the fridge opened or closed by a trained policy, which says itself when it is done.

    How far the part has come the robot does not know, nor whether it is the right one.
    """

    def begin(self, world: RearrangeEnv, episode: Episode) -> None:
        """See LearnedSkill; the hand has done nothing yet."""
        super().begin(world, episode)
        self._acted, self._was_holding = False, Body(world).is_holding
        self._grips = False  # the cup was told to hold

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """See LearnedSkill."""
        action = super().act(world)
        self._grips = bool(action[GRIP] >= 0.0)
        return action

    def done(self, world: RearrangeEnv) -> bool:
        """The policy calls stop where it is not ignored, see the task, or the grasp broke."""
        holding, zone = Body(world).is_holding, self.task.config.stop_zone
        broke = self._grips and self._was_holding and not holding
        self._was_holding = holding
        self._acted = self._acted or holding or Body(world).to_rest > zone
        stop = self.full[0, STOP] > 0.0
        counts = zone <= 0.0 or (self._acted and not holding and self._at_rest(world))
        return broke or bool(stop and counts)


class LearnedOpenCab(LearnedOpenClose):
    """Open a drawer by a trained policy."""

    name = "open_cab"


class LearnedCloseCab(LearnedOpenClose):
    """Close a drawer by a trained policy."""

    name = "close_cab"


class LearnedOpenFridge(LearnedOpenClose):
    """Open the fridge by a trained policy."""

    name = "open_fridge"


class LearnedCloseFridge(LearnedOpenClose):
    """Close the fridge by a trained policy."""

    name = "close_fridge"


class LearnedScenario(LearnedSkill):
    """A whole household scenario by one trained policy, which says itself when all is done."""

    def __init__(self, path: str | Path, scenario: str, deterministic: bool = False) -> None:
        """Load the checkpoint of a scenario, one of HOUSEHOLD_NAMES."""
        self.name = scenario
        super().__init__(path, deterministic)
        self.timeout = self.task.max_steps

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Begin the world's own episode: all that there is to do is in its observation."""
        self.begin(world, world.episode)

    def done(self, world: RearrangeEnv) -> bool:
        """The policy calls stop."""
        return bool(self.full[0, STOP] > 0)


LEARNED: dict[str, type[LearnedSkill]] = {
    skill.name: skill
    for skill in (
        LearnedNavigate,
        LearnedPick,
        LearnedPlace,
        LearnedOpenCab,
        LearnedCloseCab,
        LearnedOpenFridge,
        LearnedCloseFridge,
    )
}
