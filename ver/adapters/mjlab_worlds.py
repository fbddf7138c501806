"""mjlab's worlds: robots on mujoco-warp, many at once, on a GPU or a CPU.

`python -m pip install mjlab` brings them, best into an environment of its own: its MuJoCo is not that of
`rearrange`. They are stepped together, and what they show stays on their device:

    from ver import Trainer, TrainerConfig
    from ver.adapters.mjlab_worlds import MjlabWorlds

    config = TrainerConfig(system="batched", device="cuda")
    Trainer(config, MjlabWorlds("Mjlab-Cartpole-Balance", device="cuda"), "runs/cartpole").train()

The name `mjlab:Mjlab-Cartpole-Balance` is the same, on the policy's device.
A group of observations for the critic alone is told to it by `network.critic_only=[critic]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ver.errors import UserError


@dataclass(frozen=True)
class MjlabWorlds:
    """Makes worlds of one task of mjlab.

    Attributes:
        task: One of `mjlab.tasks.registry.list_tasks()`.
        device: Where they are simulated: cpu, cuda or cuda:0.
        largest_action: Actions are within plus and minus this where mjlab has no bounds; a policy wants some.
        change: Called with mjlab's configuration of the task, which it may change.

    Raises:
        UserError: `largest_action` is not above 0.
    """

    task: str
    device: str = "cpu"
    largest_action: float = 1.0
    change: Callable[[Any], None] | None = None

    def __post_init__(self) -> None:
        """Checks the bound."""
        if not 0 < self.largest_action < np.inf:
            raise UserError(f"largest_action must be above 0, found {self.largest_action:g}")

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        """Makes `count` worlds.

        Raises:
            UserError: mjlab is not installed, or knows no such task.
        """
        try:
            import mjlab.tasks  # noqa: F401  # pyright: ignore[reportMissingImports]
            from mjlab.envs import ManagerBasedRlEnv  # pyright: ignore[reportMissingImports]
            from mjlab.tasks.registry import (  # pyright: ignore[reportMissingImports]
                list_tasks,
                load_env_cfg,
            )
        except ImportError as error:
            raise UserError(
                f"mjlab cannot be imported: {error}; pip install mjlab, into an environment of its own"
            ) from error
        if self.task not in list_tasks():
            raise UserError(f"mjlab has no task '{self.task}'; choose {', '.join(list_tasks())}")
        config = load_env_cfg(self.task)
        config.scene.num_envs = count
        config.seed = seed
        config.auto_reset = False  # or the last observation of an episode would not be known
        if self.change is not None:
            self.change(config)
        return MjlabVectorEnv(ManagerBasedRlEnv(config, device=self.device), self.largest_action)


class MjlabVectorEnv(VectorEnv):
    """N worlds of mjlab, restarted in the step in which they end; tensors [N, ...] in and out.

    `infos["final_obs"]` has all worlds' observations of before the restart.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, env: Any, largest_action: float) -> None:
        """Takes a ManagerBasedRlEnv that does not restart its worlds itself."""
        self._env = env
        self.num_envs = env.num_envs
        self.single_observation_space = spaces.Dict(
            {name: _box(space) for name, space in env.single_observation_space.spaces.items()}
        )
        self.single_action_space = _box(env.single_action_space, largest_action)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict]:
        """Begins an episode in every world; mjlab has one seed for all, the first."""
        del options
        first = seed if seed is None or isinstance(seed, int) else int(seed[0])
        observations, _ = self._env.reset(seed=first)
        return dict(observations), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Advances all worlds by actions [N, D]."""
        observations, rewards, terminated, truncated, _ = self._env.step(actions)
        ended = (terminated | truncated).nonzero().flatten()
        if not len(ended):
            return dict(observations), rewards, terminated, truncated, {}
        final = {name: value.clone() for name, value in observations.items()}
        rewards, terminated, truncated = rewards.clone(), terminated.clone(), truncated.clone()
        observations, _ = self._env.reset(env_ids=ended)
        return dict(observations), rewards, terminated, truncated, {"final_obs": final}

    def close_extras(self, **_: Any) -> None:
        """Frees the simulation."""
        self._env.close()


def _box(space: Any, largest: float = np.inf) -> spaces.Box:
    """Returns a space of mjlab as gymnasium's, its numbers within plus and minus `largest`.

    Raises:
        UserError: It is no single array of numbers.
    """
    if getattr(space, "spaces", None):
        raise UserError("mjlab's observations must be concatenated: one array for each group")
    low = np.broadcast_to(np.maximum(np.asarray(space.low, np.float32), -largest), space.shape)
    high = np.broadcast_to(np.minimum(np.asarray(space.high, np.float32), largest), space.shape)
    return spaces.Box(low, high, space.shape, np.float32)
