"""Worlds that are stepped together: how they are made, and how their episodes are begun and taken up again.

What a vectorised environment holds cannot be saved. But where every episode follows from a seed of its
own, as a worker's do, it can be had again: by that seed, and the actions taken since. Worlds that say
so, see `TakesUp`, are brought back when a run is resumed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from ver.collect.environment_worker import DivergedError
from ver.collect.episode_order import EpisodeOrder
from ver.errors import UserError


class TakesUp(Protocol):
    """Worlds each of whose episodes follows from a seed of its own.

    They may have a `clock`, a whole number by which their episodes differ, too; None: these have none. It is
    stored with a run, and set before `begin`.

    Attributes:
        takes_up: Whether that is so for these.
    """

    takes_up: bool

    def begin(
        self, order: EpisodeOrder, numbers: Sequence[int], actions: Sequence[Sequence[Any]]
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Begins an episode in every world and repeats actions in it.

        Args:
            order: Says how each episode begins, and which follows when it has ended; world i was made with
                `order.seed + i`.
            numbers: Of the episodes [N].
            actions: Of each world, as one environment takes them; as many as were taken there.

        Returns:
            Observations [N, ...], and the sum of each world's rewards so far [N].

        Raises:
            Exception: One ended meanwhile.
        """
        ...


class SeededEpisodes(gymnasium.Wrapper):
    """One environment, which is reset as an environment worker does it: seeded by the episode's number.

    Args:
        env: The environment.
        index: Its number.
    """

    order: EpisodeOrder

    def __init__(self, env: gymnasium.Env, index: int):
        super().__init__(env)
        self.index = index
        self.number = 0
        self._next = 1

    def begin_at(self, order: EpisodeOrder, number: int) -> None:
        """Tells which episode the next reset begins."""
        self.order, self._next = order, number

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins the next episode; whoever asks, its number says which."""
        del seed, options
        self.number = self._next
        seed, options = self.order.beginning(self.index, self.number)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Takes a step, and finds out which episode follows the last one."""
        result = self.env.step(action)
        if result[2] or result[3]:
            metrics = result[4].get("metrics", {})
            self._next = self.order.after(self.index, self.number, metrics)
            # The next reset may write into what the environment has returned
            return copy.deepcopy(result[0]), *result[1:]
        return result


class OneByOne(SyncVectorEnv):
    """Single environments, stepped one after another.

    Args:
        make_env: `(environment_index, seed) -> gymnasium.Env`.
        count: N.
        seed: World i is made with `seed + i`.
    """

    takes_up = True

    def __init__(self, make_env: Callable[[int, int], gymnasium.Env], count: int, seed: int):
        def make(index: int) -> gymnasium.Env:
            return SeededEpisodes(make_env(index, seed + index), index)

        functions = [partial(make, index) for index in range(count)]
        super().__init__(functions, copy=False, autoreset_mode=AutoresetMode.SAME_STEP)

    def begin(
        self, order: EpisodeOrder, numbers: Sequence[int], actions: Sequence[Sequence[Any]]
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Begins an episode in every world and repeats actions in it; see `TakesUp`."""
        shown, returns = [], np.zeros(len(numbers))
        for index, env in enumerate(self.envs):
            assert isinstance(env, SeededEpisodes)
            env.begin_at(order, numbers[index])
            observation, _ = env.reset()
            for action in actions[index]:
                observation, reward, terminated, truncated, _ = env.step(action)
                returns[index] += float(reward)
                if terminated or truncated:
                    raise DivergedError(f"world {index} ended its episode earlier than before")
            shown.append(observation)
        space = self.single_observation_space
        together = create_empty_array(space, len(shown))
        return concatenate(space, shown, together), returns  # pyright: ignore[reportReturnType]


def make_worlds(make_env: Any, count: int, seed: int) -> VectorEnv:
    """Makes N worlds that are stepped together.

    Args:
        make_env: What makes single environments. If it also has a method `make_vector(count, seed)`
            that makes a VectorEnv, that is used; else single environments are stepped one after
            another, so that every environment runs under every system.
        count: N.
        seed: World i is made with `seed + i`.

    Raises:
        UserError: If worlds do not restart in the step in which they end. Steps in which nothing
            happens but a restart would be learned from otherwise.
    """
    make_vector = getattr(make_env, "make_vector", None)
    if make_vector is None:
        return OneByOne(make_env, count, seed)
    worlds = make_vector(count, seed)
    mode = worlds.metadata.get("autoreset_mode")
    if mode != AutoresetMode.SAME_STEP or worlds.num_envs != count:
        worlds.close()
        raise UserError(
            f"make_vector({count}, seed) must give {count} worlds with "
            f'metadata["autoreset_mode"] = AutoresetMode.SAME_STEP, found {worlds.num_envs} worlds '
            f"with {mode}; mend it, or choose system=ver."
        )
    return worlds
