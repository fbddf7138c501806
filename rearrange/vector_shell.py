"""The shell of the Gymnasium vector environments: worlds side by side that begin anew where they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rearrange.errors import UserError
from rearrange.shell import (
    PICTURE,
    Observation,
    Painter,
    TaskEnv,
    TaskWorlds,
    check_option_names,
    check_render_mode,
    is_success,
    is_whole,
    of_actions,
)

Metrics = dict[str, float]
# The last observations of episodes: of each world that has one, or of all [N, ...] where some are tensors
Finals = dict[int, Observation] | Observation
Outcome = tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, Metrics], Finals, Observation | None]


class EpisodeOrder(Protocol):
    """The order of all worlds' episodes, as whoever trains wants it.

    Attributes:
        seed: World i is one that was made with `seed + i`.
    """

    @property
    def seed(self) -> int: ...  # noqa: D102

    def beginning(self, world: int, number: int, /) -> tuple[int, dict[str, Any]]:
        """Seed and options with which an episode is reset."""
        ...

    def after(self, world: int, number: int, metrics: dict[str, float], /) -> int:
        """The number of the episode that follows one that has ended."""
        ...


class TaskVectorEnv(gymnasium.vector.VectorEnv[Observation, np.ndarray, np.ndarray]):
    """N worlds stepped together in one process, restarted in the step in which they end.

    Attributes:
        SINGLE: The environment of one world.
        after_step: Called after every step of all worlds, when those that ended have begun anew.
        takes_up: Whether order and number of an episode decide it, as `begin` wants.
    """

    SINGLE: ClassVar[type[TaskEnv]]
    takes_up = True
    metadata: ClassVar[dict[str, Any]] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [PICTURE],
        "render_fps": 30,
    }

    def __init__(self, num_envs: int, worlds: TaskWorlds, render_mode: str | None = None) -> None:
        """Take N worlds.

        Args:
            num_envs: N.
            worlds: They.
            render_mode: "rgb_array", or None if `render` is not called.

        Raises:
            UserError: Unknown render mode.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._painters: list[Painter | None] = [None] * num_envs  # of the running episodes
        self.num_envs = num_envs
        self._worlds = worlds
        self.metadata = of_actions(self.metadata, worlds.repeat)  # pyright: ignore[reportAttributeAccessIssue]
        self.after_step: Callable[[Any], None] | None = None
        self.single_observation_space = worlds.observation_space
        self.single_action_space = worlds.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        # By chance until seeds are given, as one alone
        self._seeds: list[int] = np.random.SeedSequence().generate_state(num_envs).tolist()
        self._generators = [np.random.default_rng(each) for each in self._seeds]
        self._begun = [0] * num_envs  # episodes of each world since it was seeded
        self._order: EpisodeOrder | None = None  # of the episodes, see `begin`

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in every world; world i has the seed `seed + i`.

        Other than one alone, a world stays in a generated apartment for some episodes; see
        rearrange.worlds.Worlds.reset.

        Raises:
            UserError: An episode is given: here all are sampled; an unknown option; or no seed for each world.
        """
        options = dict(options or {})
        if options.pop("episode", None) is not None:
            single = self.SINGLE.__name__
            raise UserError(f'options["episode"]: worlds side by side take none: take {single}')
        check_option_names(options, ())
        if seed is not None:
            self._seeds = self._seed_of_each(seed)
            self._generators = [seeding.np_random(each)[0] for each in self._seeds]
            self._begun, self._order = [0] * self.num_envs, None
        for i in range(self.num_envs):
            self._begin(i)
        return self._worlds.observe(), {}

    def _seed_of_each(self, seed: Any) -> list[int]:
        """The seeds of all worlds; UserError where that is no whole number from 0, or one for each world."""
        one = isinstance(seed, int | np.integer)
        numbers: Any = [seed + i for i in range(self.num_envs)] if one else seed
        listed = isinstance(numbers, Sequence | np.ndarray) and len(numbers) == self.num_envs
        if not listed or not all(map(is_whole, numbers)):
            raise UserError(
                f"seed must be a whole number from 0, or {self.num_envs} of them, one for each world, found "
                f"{' '.join(repr(seed).split())}"
            )
        return [int(each) for each in numbers]

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Seeds of the worlds [N], as Gymnasium's own vector environments tell them."""
        return tuple(self._seeds)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Generators of the worlds' episodes [N], likewise."""
        return tuple(self._generators)

    def begin(
        self, order: EpisodeOrder, numbers: Sequence[int], actions: Sequence[Sequence[Any]]
    ) -> tuple[Observation, np.ndarray]:
        """Begin an episode in every world and repeat actions in it: a run goes on in the middle of all.

        Each episode, those that follow too, is that of one world alone that was made with `order.seed + i` and
        reset as the order says.

        Args:
            order: Says how episodes begin, and which follows another.
            numbers: Of the episodes that begin [N].
            actions: To be repeated in each world; how many may differ.

        Returns:
            Observations [N, ...], and the sums of rewards [N].

        Raises:
            RuntimeError: An episode ended while its actions were repeated.
        """
        self._order, self._seeds = order, [order.seed + i for i in range(self.num_envs)]
        returns = np.zeros(self.num_envs)
        longest = max(len(own) for own in actions)
        waits = np.array([longest - len(own) for own in actions])
        idle = next((action for own in actions for action in own), None)
        over = np.ones(self.num_envs, bool)
        # All are stepped together: those with fewer actions idle first, and begin anew when it is time
        for t in range(longest + 1):
            for i in np.flatnonzero(over | (waits == t)).tolist():
                self._begun[i] = numbers[i]
                self._begin(i)
            if t == longest:
                break
            if self._worlds.remembers:
                self._worlds.observe()
            rows = [
                own[t - wait] if t >= wait else idle
                for own, wait in zip(actions, waits, strict=True)
            ]
            self._worlds.take(np.array(rows), self.action_space.shape or ())
            rewards, terminated, truncated, *_ = self._carry_out()
            over = terminated | truncated
            if (over & (waits <= t)).any():
                raise RuntimeError("an episode ended while its actions were repeated")
            returns += np.where(waits <= t, rewards, 0.0)
        return self._worlds.observe(), returns

    def _begin(self, i: int) -> None:
        """Begin the episode of world i whose number is `_begun`; without an order those are counted."""
        self._painters[i] = None
        number = self._begun[i]
        if self._order is None:
            self._begun[i] += 1
        else:
            seed, told = self._order.beginning(i, number)
            self._generators[i], number = seeding.np_random(seed)[0], told["episode_number"]
        self._worlds.reset(i, self._generators[i], self._seeds[i], number)

    def _carry_out(self) -> Outcome:
        """Advance all worlds as long as the action that was taken lasts.

        A world whose episode ends meanwhile waits for the others: what it goes on doing counts for nothing.

        Returns:
            Rewards [N], who is terminated [N], who is truncated [N], metrics of episodes that ended, by world,
            what was observed last in them, and where one ended in the last step what is observed there, else
            None.
        """
        worlds = self._worlds
        endings: dict[int, Metrics] = {}
        finals: Any = {}
        seen: Observation | None = None
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros((2, self.num_envs), bool)
        for _ in range(worlds.repeat):
            going = ~(terminated | truncated)
            more, *ends = worlds.step()
            rewards += np.where(going, more, 0.0)
            terminated |= going & ends[0]
            truncated |= going & ends[1]
            over = going & (terminated | truncated)
            seen = worlds.observe() if over.any() else None
            if seen is not None:
                ended = np.flatnonzero(over)
                finals = _with_last(finals, seen, ended)
                endings |= {i: worlds.metrics(i) for i in ended.tolist()}
        return rewards, terminated, truncated, endings, finals, seen

    def step(
        self, actions: Any
    ) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by an action each [N, ...], arrays or tensors.

        Where an episode ends, the observation is that of the next one; the last one is in
        `infos["final_obs"]`: an array of dicts [N]. Where observations are tensors it is a dict of them
        [N, ...], and those of `infos["_final_obs"]` count. The sum of the episode is in
        `infos["final_info"]["metrics"]`, and whether it was a success in `infos["final_info"]["is_success"]`.
        """
        worlds = self._worlds
        assert self.action_space.shape is not None
        worlds.take(_on_host(actions), self.action_space.shape)
        if worlds.episodes[0] is None:
            raise ResetNeeded("call reset() before step()")
        rewards, terminated, truncated, endings, finals, seen = self._carry_out()
        observation = seen or worlds.observe()
        infos: dict[str, Any] = {}
        if endings:
            metrics = np.full(self.num_envs, None, dtype=object)
            over, success = np.zeros((2, self.num_envs), bool)
            for i, summary in endings.items():
                metrics[i], over[i], success[i] = summary, True, is_success(summary)
                if self._order is not None:
                    self._begun[i] = self._order.after(i, self._begun[i], summary)
                self._begin(i)
            told = {"metrics": metrics, "_metrics": over, "is_success": success}
            infos = {"final_obs": _by_world(finals, self.num_envs), "_final_obs": over}
            infos["final_info"], infos["_final_info"] = told | {"_is_success": over}, over
            observation = worlds.observe_again(observation, np.array(list(endings)))
        if self.after_step is not None:
            self.after_step(self)
        return observation, rewards, terminated, truncated, infos

    def render(self) -> tuple[np.ndarray, ...] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Draw all worlds, N pictures [H, W, 3] uint8; None without `render_mode`."""
        if self.render_mode is None:
            return None
        if self._worlds.episodes[0] is None:
            raise ResetNeeded("call reset() before render()")
        return tuple(self._draw(i) for i in range(self.num_envs))

    def _draw(self, i: int) -> np.ndarray:
        painter = self._painters[i]
        if painter is None:
            painter = self._painters[i] = self._worlds.painter(i)
        return painter()

    def close_extras(self, **_: Any) -> None:
        """Free what the worlds hold; Gymnasium's `close` calls it."""
        self._worlds.close()


def _on_host(actions: Any) -> Any:
    """Actions that tasks can read: tensors of a policy on a device are brought here."""
    return actions.cpu().numpy() if hasattr(actions, "cpu") else actions


def _with_last(finals: Any, seen: Observation, ended: np.ndarray) -> Any:
    """The last observations of episodes, see `Finals`, with those of worlds that have just ended."""
    if all(isinstance(value, np.ndarray) for value in seen.values()):
        return finals | {
            i: {key: value[i].copy() for key, value in seen.items()} for i in ended.tolist()
        }
    if not finals:
        # A whole copy: one launch on a device, and a row for each world would be many
        return {
            key: value.copy() if isinstance(value, np.ndarray) else value.clone()
            for key, value in seen.items()
        }
    for key, value in seen.items():
        finals[key][ended] = value[ended]
    return finals


def _by_world(finals: Any, count: int) -> Any:
    """What `infos["final_obs"]` holds."""
    if any(isinstance(key, str) for key in finals):
        return finals
    final = np.full(count, None, dtype=object)
    for i, last in finals.items():
        final[i] = last
    return final
