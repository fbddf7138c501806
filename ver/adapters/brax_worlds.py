"""Brax's worlds: robots in JAX, many at once, on a GPU or a CPU.

`python -m pip install brax` brings them, best into an environment of its own: its MuJoCo is not that of
`rearrange`. They are stepped together, and JAX hands what they show over to torch
without a copy:

    from ver import Trainer, TrainerConfig
    from ver.adapters.brax_worlds import BraxWorlds

    Trainer(TrainerConfig(system="batched"), BraxWorlds("ant"), "runs/ant").train()

The name `brax:ant` is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ver.adapters.arrays import OBSERVATION
from ver.errors import UserError

BACKENDS = ("generalized", "positional", "spring", "mjx")


@dataclass(frozen=True)
class BraxWorlds:
    """Makes worlds of one environment of Brax, on JAX's first device.

    Attributes:
        name: Such as ant, halfcheetah or reacher.
        episode_length: Steps until the time is out.
        backend: Of the simulation, one of BACKENDS.

    Raises:
        UserError: A value is none of these.
    """

    name: str
    episode_length: int = 1000
    backend: str = "generalized"

    def __post_init__(self) -> None:
        """Checks them."""
        if self.episode_length < 1:
            raise UserError(f"episode_length must be at least 1, found {self.episode_length}")
        if self.backend not in BACKENDS:
            raise UserError(f"backend must be one of {', '.join(BACKENDS)}, found {self.backend}")

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        """Makes `count` worlds.

        Raises:
            UserError: Brax is not installed, or knows no such environment.
        """
        try:
            from brax import envs  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise UserError(
                f"Brax cannot be imported: {error}; pip install brax, into an environment of its own"
            ) from error
        try:
            env = envs.create(
                self.name,
                episode_length=self.episode_length,
                auto_reset=False,
                batch_size=count,
                backend=self.backend,
            )
        except KeyError:
            known = ", ".join(sorted(envs._envs))
            raise UserError(f"Brax has no environment '{self.name}'; choose {known}") from None
        return BraxVectorEnv(env, count, seed)


class BraxVectorEnv(VectorEnv):
    """N worlds of Brax, restarted in the step in which they end; tensors [N, ...] in and out.

    `infos["final_obs"]` has all worlds' observations of before the restart.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, env: Any, count: int, seed: int) -> None:
        """Takes an environment that counts steps, for batches of `count`, without restarts."""
        import jax  # pyright: ignore[reportMissingImports]

        self._jax, self.num_envs = jax, count
        self._key = jax.random.PRNGKey(seed)
        self._reset, self._step = jax.jit(env.reset), jax.jit(env.step)
        self._restart = jax.jit(self._where_done)
        self._state: Any = None
        shape = (env.observation_size,)
        self.single_observation_space = spaces.Dict(
            {OBSERVATION: spaces.Box(-np.inf, np.inf, shape, np.float32)}
        )
        self.single_action_space = spaces.Box(-1.0, 1.0, (env.action_size,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict]:
        """Begins an episode in every world; of several seeds the first counts, for all."""
        del options
        if seed is not None:
            first = seed if isinstance(seed, int) else int(seed[0])
            self._key = self._jax.random.PRNGKey(first)
        self._state = self._reset(self._draw())
        return self._show(self._state), {}

    def step(self, actions: torch.Tensor) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Advances all worlds by actions [N, D]."""
        state = self._step(self._state, self._jax.dlpack.from_dlpack(actions.contiguous()))
        self._state = state
        rewards, done = _to_torch(state.reward), _to_torch(state.done) > 0
        truncated = done & (_to_torch(state.info["truncation"]) > 0)
        infos: dict[str, Any] = {}
        if done.any():
            infos["final_obs"] = self._show(state)
            self._state = self._restart(state, self._reset(self._draw()))
        return self._show(self._state), rewards, done & ~truncated, truncated, infos

    def _draw(self) -> Any:
        """A random key, which Brax makes one for each world of."""
        self._key, key = self._jax.random.split(self._key)
        return key

    def _where_done(self, state: Any, fresh: Any) -> Any:
        """Every world that is done as in the fresh state."""
        numpy, done = self._jax.numpy, state.done

        def choose(ended: Any, begun: Any) -> Any:
            flags = done.reshape(done.shape + (1,) * (begun.ndim - 1)) > 0
            return numpy.where(flags, begun, ended)

        # What steps add to `info` is not in a fresh state.
        info = {name: fresh.info.get(name, value) for name, value in state.info.items()}
        fresh = fresh.replace(info=info)
        return self._jax.tree.map(choose, state, fresh)

    @staticmethod
    def _show(state: Any) -> dict[str, torch.Tensor]:
        return {OBSERVATION: _to_torch(state.obs)}


def _to_torch(array: Any) -> torch.Tensor:
    """An array of JAX as a tensor, without a copy."""
    return torch.from_dlpack(array)
