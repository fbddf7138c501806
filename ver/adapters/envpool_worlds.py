"""EnvPool's worlds (Weng et al. 2022): Atari, MuJoCo, MiniGrid and more in C++, stepped by its own threads.

`python -m pip install envpool` brings them. What they show are arrays, as `ver.adapters.arrays` has them:

    from ver import Trainer, TrainerConfig
    from ver.adapters.envpool_worlds import EnvpoolWorlds

    Trainer(TrainerConfig(system="batched"), EnvpoolWorlds("Pong-v5"), "runs/pong").train()

The name `envpool:Pong-v5` is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ver.adapters.arrays import array_parts, shown_parts
from ver.errors import UserError

# Of what envpool.make takes: what the learner decides, or what would change how results come
_OURS = (
    *("num_envs", "batch_size", "num_threads", "max_num_players", "seed", "env_seed", "base_path"),
    *("thread_affinity_offset", "gym_reset_return_info", "reward_threshold"),
)


@dataclass(frozen=True)
class EnvpoolWorlds:
    """Makes worlds of one environment of EnvPool.

    Attributes:
        name: One of `envpool.list_all_envs()`.
        num_threads: That step them; 0 leaves that to EnvPool.
        options: What else `envpool.make` takes for it, such as frame_skip or max_episode_steps.

    Raises:
        UserError: `num_threads` is below 0.
    """

    name: str
    num_threads: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the threads."""
        if self.num_threads < 0:
            raise UserError(f"num_threads must be at least 0, found {self.num_threads}")

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        """Makes `count` worlds.

        Raises:
            UserError: EnvPool is not installed, knows no such environment, or does not take the options.
        """
        try:
            import envpool  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise UserError(f"EnvPool cannot be imported: {error}; pip install envpool") from error
        if self.name not in envpool.list_all_envs():
            raise UserError(
                f"EnvPool has no environment '{self.name}'; envpool.list_all_envs() names them"
            )
        known = sorted({*envpool.make_spec(self.name).config._fields} - {*_OURS})
        for key in self.options:
            if key not in known:
                told = ", ".join(f"env.{each}" for each in ("num_threads", *known))
                raise UserError(f"unknown key 'env.{key}': envpool:{self.name} takes {told}")
        own = {"num_envs": count, "seed": seed, "num_threads": self.num_threads}
        try:
            pool = envpool.make(self.name, env_type="gymnasium", **own, **self.options)
        except TypeError as error:  # its message is of C++ types, and of many lines
            told = ", ".join(f"env.{key}={value}" for key, value in self.options.items())
            raise UserError(f"EnvPool's {self.name} does not take {told}") from error
        if pool.spec.config.max_num_players > 1:
            raise UserError(f"EnvPool's {self.name} has several players; here each world has one")
        return EnvpoolVectorEnv(pool)


class EnvpoolVectorEnv(VectorEnv):
    """N worlds of EnvPool, restarted in the step in which they end.

    EnvPool restarts a world in the step after, in which nothing else happens to it. That is asked for at once.
    `infos["final_obs"]` has all worlds' observations of before the restart.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, pool: Any) -> None:
        """Takes a pool of environments in its synchronous mode, in which results have the worlds' order."""
        self._pool, self.num_envs = pool, pool.spec.config.num_envs
        self._parts = array_parts(pool.observation_space)
        self.single_observation_space = spaces.Dict(
            [(each.key, each.space) for each in self._parts]
        )
        self.single_action_space = pool.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict]:
        """Begins an episode in every world; EnvPool's worlds keep the seed that they were made with."""
        del seed, options
        return self._show(self._pool.reset()[0]), {}

    def step(self, actions: np.ndarray) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Advances all worlds by actions [N, ...]."""
        observations, rewards, terminated, truncated, _ = self._pool.step(actions)
        shown, ended = self._show(observations), np.flatnonzero(terminated | truncated)
        if not len(ended):
            return shown, rewards, terminated, truncated, {}
        final = {key: values.copy() for key, values in shown.items()}
        begun = self._show(self._pool.reset(ended.astype(np.int32))[0])
        for key, values in shown.items():
            values[ended] = begun[key]
        return shown, rewards, terminated, truncated, {"final_obs": final}

    def close_extras(self, **_: Any) -> None:
        """Ends the threads."""
        self._pool.close()

    def _show(self, observations: Any) -> dict[str, np.ndarray]:
        """Arrays [N, ...] of what the worlds show."""
        rows = [shown_parts(self._parts, each) for each in _by_world(observations)]
        return {part.key: np.stack([row[part.key] for row in rows]) for part in self._parts}


def _by_world(observations: Any) -> list[Any]:
    """Lists what each world shows, of arrays [N, ...] that may be nested in dictionaries."""
    if isinstance(observations, Mapping):
        parts = {key: _by_world(value) for key, value in observations.items()}
        count = len(next(iter(parts.values())))
        return [{key: rows[index] for key, rows in parts.items()} for index in range(count)]
    return list(observations)
