"""Games of several agents, side by side, as one list of seats.

A game is what PettingZoo calls a parallel environment: all agents act at once. Nothing of that package is
needed here, only its methods. All agents of a game must see and do the same kind of thing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from ver.adapters.arrays import Part, array_parts, shown_parts
from ver.collect.environment_worker import NotFiniteError, told_observation
from ver.collect.faults import LARGEST, strange
from ver.collect.processes import one_line_errors
from ver.errors import UserError


class Game(Protocol):
    """A parallel environment, as PettingZoo has it.

    Attributes:
        agents: Names of those that are still in the game.
        possible_agents: Names of all.
    """

    agents: list[Any]
    possible_agents: list[Any]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begins an episode; observations and infos by agent."""
        ...

    def step(self, actions: dict[Any, Any]) -> Any:
        """Observations, rewards, terminations, truncations and infos by agent, of those who acted."""
        ...

    def observation_space(self, agent: Any) -> spaces.Space:
        """Space of what an agent sees."""
        ...

    def action_space(self, agent: Any) -> spaces.Space:
        """Space of what it can do."""
        ...

    def close(self) -> None:
        """Frees it."""
        ...


MakeGame = Callable[[], Game]


def game_maker(name: str, arguments: Mapping[str, Any]) -> MakeGame:
    """Finds what makes a game: `package.module`, which has `parallel_env`, or `package.module:function`.

    Raises:
        UserError: There is no such thing.
    """
    module, _, function = name.partition(":")
    try:
        make = getattr(import_module(module), function or "parallel_env")
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"no game '{name}': {error}; name a module with parallel_env, or module:function"
        ) from None
    try:
        inspect.signature(make).bind(**arguments)
    except TypeError as error:
        raise UserError(f"{name} takes no such arguments: {error}") from None
    return lambda: make(**arguments)


@dataclass
class SeatStep:
    """Results of a step for one seat.

    Attributes:
        reward: Of the step.
        observation: After it, {key: [...]}.
        terminated: Whether the agent's episode has ended.
        truncated: Whether its time was out.
        metrics: Numbers about the episode that the game tells when it has ended, `infos["metrics"]`.
    """

    reward: float
    observation: dict[str, np.ndarray]
    terminated: bool
    truncated: bool
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Tells if this was the agent's last step."""
        return self.terminated or self.truncated


class Table:
    """K games side by side; seat k * A + a is agent a of game k.

    Args:
        make_game: Makes one game.
        count: K.

    Attributes:
        seats: K * A.
        agents: Names of a game's agents, in the order of their seats.
        observation_space: Of every seat, a Dict of arrays.
        action_space: Of every seat.

    Raises:
        UserError: Agents differ in what they see or do.
    """

    def __init__(self, make_game: MakeGame, count: int) -> None:
        self.make_game, self.count = make_game, count
        self.games: list[Game] = []
        with one_line_errors("the game"):
            first = make_game()
        self.agents = list(first.possible_agents)
        self.seats = count * len(self.agents)
        seen = {str(first.observation_space(agent)) for agent in self.agents}
        done = {str(first.action_space(agent)) for agent in self.agents}
        if len(seen) > 1 or len(done) > 1:
            raise UserError(
                f"all agents of a game must see and do the same kind of thing, found {len(seen)} kinds "
                f"of observations and {len(done)} of actions: pad them in a wrapper"
            )
        self._parts: list[Part] = array_parts(first.observation_space(self.agents[0]))
        # As pairs, which keep their order
        self.observation_space = spaces.Dict([(part.key, part.space) for part in self._parts])
        self.action_space = first.action_space(self.agents[0])
        first.close()

    def open(self) -> None:
        """Makes all games."""
        self.games = [self.make_game() for _ in range(self.count)]

    def renew(self, game: int) -> None:
        """Makes a game anew."""
        with suppress(Exception):
            self.games[game].close()
        self.games[game] = self.make_game()

    def seats_of(self, game: int) -> range:
        """The seats of a game."""
        return range(game * len(self.agents), (game + 1) * len(self.agents))

    def begin(self, game: int, seed: int) -> dict[int, dict[str, np.ndarray]]:
        """Begins an episode; what is seen, by seat. NotFiniteError for NaN or infinity, here and in `step`."""
        shown, _ = self.games[game].reset(seed=seed)
        seen = {seat: self._shown(shown[name]) for seat, name in self._named(game) if name in shown}
        for observation in seen.values():
            _check_finite(observation)
        return seen

    def step(self, game: int, actions: Mapping[int, Any]) -> dict[int, SeatStep]:
        """Lets all who are in a game act.

        Args:
            game: Which one.
            actions: By seat, of those who have not ended.

        Returns:
            What it has brought, by seat.
        """
        names = dict(self._named(game))
        results = self.games[game].step({names[seat]: action for seat, action in actions.items()})
        shown, rewards, terminated, truncated, infos = results
        still_there = set(self.games[game].agents)
        steps = {}
        for seat in actions:
            name = names[seat]
            metrics = infos.get(name, {}).get("metrics", {})
            steps[seat] = SeatStep(
                float(rewards[name]),
                self._shown(shown[name]),
                bool(terminated[name]),
                # Who has left without a word was cut off
                bool(truncated[name]) or not (terminated[name] or name in still_there),
                {key: float(value) for key, value in metrics.items()},
            )
            _check_finite(steps[seat].observation, steps[seat].reward)
        return steps

    def close(self) -> None:
        """Frees all games."""
        for game in self.games:
            game.close()
        self.games = []

    def _named(self, game: int) -> list[tuple[int, Any]]:
        return list(zip(self.seats_of(game), self.agents, strict=True))

    def _shown(self, observation: Any) -> dict[str, np.ndarray]:
        return shown_parts(self._parts, observation)


def _check_finite(observation: Mapping[str, np.ndarray], reward: float = 0.0) -> None:
    if not abs(reward) < LARGEST:  # nor NaN
        raise NotFiniteError(f"returned the reward {reward}")
    for key, values in observation.items():
        if values.dtype.kind == "f" and strange(values):
            raise NotFiniteError(told_observation(key))
