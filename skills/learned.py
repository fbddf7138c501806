"""A trained policy as a skill that the planner can run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import DEPTH_KEY, FULL_ACTION_SIZE, RearrangeEnv, normalised_depth, to_physical
from rearrange.sim.base import NOTHING
from rearrange.tasks import Pick
from rearrange.tasks.sensors import from_rest
from skills.base import SkillArgument
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
        self.state = self.policy.initial_state(1)
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
                tensors, self.state, self.previous, self.mask, deterministic=self.deterministic
            )
        self.state, self.previous = output.state, output.actions
        self.mask = torch.ones(1)
        return to_environment_action(self.policy.action_space, output.actions[0].numpy())


def check_metadata(path: str | Path, metadata: dict[str, Any], skill: str) -> None:
    """Raise a UserError if a checkpoint was not trained for this skill."""
    found = metadata.get("skill")
    if found != skill:
        raise UserError(
            f"{path} holds a policy for '{found}', not for '{skill}': give a checkpoint of {skill}"
        )


class LearnedPick:
    """Pick by a trained policy.

    The policy sees what it saw in training: the object's start in the hand's frame and, as
    GPS+Compass, its motion since the skill began.
    """

    name = "pick"
    timeout = 200

    def __init__(self, path: str | Path, deterministic: bool = False) -> None:
        """Load the checkpoint and the task that makes its observations."""
        self.source = str(path)
        self.runner = PolicyRunner(path, deterministic)
        metadata = self.runner.policy.metadata
        check_metadata(path, metadata, self.name)
        self.environments = SkillEnvironments.from_metadata(metadata, "val")
        self.task = Pick(self.environments.task_config())

    def reset(self, world: RearrangeEnv, argument: SkillArgument) -> None:
        """Aim at the argument's object and forget the last use."""
        self.task.set_target(0, argument.slot, argument.position)
        self.task.base_start[0] = world.state.base_pose[0]
        self.runner.restart()

    def act(self, world: RearrangeEnv) -> np.ndarray:
        """Next action in the simulator's units [10]; what is held is not let go (HAB's mask)."""
        observation = {
            key: value[0].astype(np.float32)
            for key, value in self.task.observe(world.state).items()
        }
        observation[DEPTH_KEY] = normalised_depth(
            world.simulator.render_depth(self.environments.camera_size)
        )[0]
        full = np.zeros((1, FULL_ACTION_SIZE))
        full[0, self.task.action_slice] = self.runner.act(observation)
        physical = to_physical(self.task.action.scale(), full)
        return self.task.mask(world.state, physical)[0]

    def done(self, world: RearrangeEnv) -> bool:
        """Something is held and the hand is back at its resting place."""
        offset = from_rest(self.task.xp, world.state)[0]
        near = float(np.sqrt(offset @ offset)) < self.task.config.rest_threshold
        return bool(world.state.held_object[0] != NOTHING) and near
