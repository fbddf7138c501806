"""Environments whose steps take recorded times and no processor time; must not import torch.

A step's duration is a mean, times a factor drawn for its episode, times one drawn for the step.
Both factors have mean one and follow quantile tables that were measured on one of our own tasks
(`python -m benchmarks.systems --record`): an episode among many things that touch is slow as a
whole, and a step in which they collide is slow by itself. These are the VER paper's environment-
level and action-level stragglers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

TABLE = Path(__file__).with_name("step_times.json")
LEVELS = (*np.linspace(0.0, 0.98, 50).round(2).tolist(), 0.99, 0.995, 0.999, 1.0)
EPISODE_LENGTH = 200  # steps, as the tasks have it
MOST_WAIT_S = 0.5  # of `Waiting`: a first step compiles


@dataclass(frozen=True)
class StepTimes:
    """A distribution of step durations.

    Attributes:
        mean_s: Mean over steps [s].
        episode: Quantiles at LEVELS of an episode's factor, mean one; empty for no such factor.
        step: Those of a step's factor within its episode.
    """

    mean_s: float
    episode: tuple[float, ...] = ()
    step: tuple[float, ...] = ()

    def draw_episode(self, rng: np.random.Generator) -> float:
        """One episode's mean step duration [s]."""
        return self.mean_s * float(_draw(self.episode, rng, None))

    def draw_steps(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Factors of an episode's steps, [count]."""
        return _draw(self.step, rng, count)


def _draw(table: Sequence[float], rng: np.random.Generator, count: int | None) -> Any:
    if not table:
        return np.ones(count or ())
    return np.interp(rng.random(count), LEVELS, table)


def load_step_times(mean_s: float) -> StepTimes:
    """The recorded distribution with another mean."""
    record = json.loads(TABLE.read_text())
    return StepTimes(mean_s, tuple(record["episode"]), tuple(record["step"]))


def quantile_table(values: np.ndarray) -> list[float]:
    """Quantiles at LEVELS, scaled so that what is drawn from them has mean one."""
    table = np.quantile(values, LEVELS)
    mean = np.diff(LEVELS) @ (table[1:] + table[:-1]) / 2
    return (table / mean).round(4).tolist()


def barrier_rates(
    times: StepTimes, environments: int, length: int, rollouts: int, seed: int
) -> dict[str, float]:
    """Steps per second that these durations leave to systems that cost no time themselves.

    Args:
        times: Durations of steps.
        environments: N.
        length: T, steps of an environment in a rollout of fixed length.
        rollouts: Over how many to average.
        seed: Draws the durations.

    Returns:
        "free": nobody waits. "fixed_length": in every rollout all wait for the environment that
        takes longest over T steps. "lockstep": in every step all wait for the slowest one.
    """
    rng = np.random.default_rng(seed)
    episodes = -(-(rollouts * length + EPISODE_LENGTH) // EPISODE_LENGTH)
    durations = np.array(
        [
            np.concatenate([_episode(times, rng) for _ in range(episodes)])[
                rng.integers(EPISODE_LENGTH) :
            ][: rollouts * length]
            for _ in range(environments)
        ]
    )
    slowest = durations.reshape(environments, rollouts, length).sum(2).max(0).sum()
    return {
        "free": environments / times.mean_s,
        "fixed_length": durations.size / float(slowest),
        "lockstep": durations.size / float(durations.max(0).sum()),
    }


def _episode(times: StepTimes, rng: np.random.Generator) -> np.ndarray:
    return times.draw_episode(rng) * times.draw_steps(rng, EPISODE_LENGTH)


class Straggler(gymnasium.Env):
    """Sleeps through its steps; the action is to copy an observed number.

    Observations are drawn at the reset, so that a step costs next to no processor time.

    Args:
        times: How long steps take.
        offset: At which step the first episode begins, so that environments do not reset together.
    """

    def __init__(self, times: StepTimes, offset: int):
        """Spaces."""
        self.times = times
        self.offset = offset
        self.observation_space = spaces.Dict({"x": spaces.Box(-1, 1, (8,), np.float32)})
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        """Draw the episode's durations; takes no time."""
        super().reset(seed=seed)
        self.durations = _episode(self.times, self.np_random)
        self.t, self.offset = self.offset, 0
        return self._first_observation(), {}

    def step(self, action):
        """Sleep."""
        x, y = self.drawn[self.t, :2].tolist()
        time.sleep(self.durations[self.t])
        self.t += 1
        reward = -0.5 * (abs(float(action[0]) - x) + abs(float(action[1]) - y)) / EPISODE_LENGTH
        return {"x": self.drawn[self.t]}, reward, False, self.t >= EPISODE_LENGTH, {}

    def _first_observation(self) -> dict[str, np.ndarray]:
        self.drawn = self.np_random.uniform(-1, 1, (EPISODE_LENGTH + 1, 8)).astype(np.float32)
        return {"x": self.drawn[self.t]}


class Steering(Straggler):
    """Sleeps through its steps; a point is to be steered to a target that is shown turned.

    The observation holds the way to the target, the point's place, and the angle by which the
    action is turned before it moves the point: what to do is a product of what is seen. An episode
    ends in success at the target and in failure after MOST_MOVES.
    """

    MOST_MOVES = 40
    STEP, NEAR = 0.1, 0.08  # largest motion per step and axis, and distance that counts as there

    def reset(self, *, seed=None, options=None):
        """Draw a target, an angle and the durations."""
        observation, info = super().reset(seed=seed)
        self.moves = 0
        return observation, info

    def step(self, action):
        """Sleep and move."""
        time.sleep(self.durations[self.t % EPISODE_LENGTH])
        self.t, self.moves = self.t + 1, self.moves + 1
        before = float(np.hypot(*self.way))
        self.way = self.way - self.STEP * self.turn @ np.clip(np.asarray(action, float), -1.0, 1.0)
        left = float(np.hypot(*self.way))
        success, late = left < self.NEAR, self.moves >= self.MOST_MOVES
        reward = before - left + success - 0.01
        info = {"metrics": {"success": float(success)}} if success or late else {}
        self.x = np.concatenate([self.way, self.x[2:]]).astype(np.float32)
        return {"x": self.x}, reward, success, late and not success, info

    def _first_observation(self) -> dict[str, np.ndarray]:
        self.way = self.np_random.uniform(-1, 1, 2)
        angle = self.np_random.uniform(-np.pi, np.pi)
        c, s = np.cos(angle), np.sin(angle)
        self.turn = np.array([[c, -s], [s, c]])
        noise = self.np_random.uniform(-1, 1, 4)
        self.x = np.array([*self.way, c, s, *noise], np.float32)
        return {"x": self.x}


@dataclass(frozen=True)
class Stragglers:
    """Makes `Straggler` environments; picklable.

    Attributes:
        times: How long steps take.
        environments: How many there will be, over which the first episodes' ends are spread.
        kind: What there is to do.
    """

    times: StepTimes
    environments: int
    kind: type[Straggler] = Straggler

    def __call__(self, index: int, seed: int) -> Straggler:
        """One environment."""
        return self.kind(self.times, index * EPISODE_LENGTH // self.environments)


class Timed(gymnasium.Wrapper):
    """Adds up the seconds that an environment spends in its steps and resets.

    Args:
        env: The environment.
        path: A file of float64, one number for each environment, shared by all processes.
        index: Which of them is this one's.
    """

    def __init__(self, env: gymnasium.Env, path: str, index: int):
        """Map the file."""
        super().__init__(env)
        # An array: memmap's own indexing is slow.
        self.seconds = np.asarray(np.memmap(path, np.float64, "r+"))
        self.index = index

    def reset(self, **arguments):
        """Reset, timed."""
        return self._timed(lambda: self.env.reset(**arguments))

    def step(self, action):
        """Step, timed."""
        return self._timed(lambda: self.env.step(action))

    def _timed(self, function: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = function()
        self.seconds[self.index] += time.perf_counter() - begin
        return result


@dataclass(frozen=True)
class TimedEnvironments:
    """Makes `Timed` environments; picklable.

    Attributes:
        make_env: Makes the environments.
        path: Of the shared file.
    """

    make_env: Callable[[int, int], gymnasium.Env]
    path: str

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        """One environment."""
        return Timed(self.make_env(index, seed), self.path, index)


class Waiting(gymnasium.Wrapper):
    """Waits after each step, in proportion to the processor time that the step took.

    So it stands for a simulator that waits for a GPU, as Habitat's does: what is slow to compute, such as
    contact, is slow to wait for. It is synthetic all the same.

    Args:
        env: The environment.
        factor: Seconds to wait for each second of computing.
    """

    def __init__(self, env: gymnasium.Env, factor: float):
        """Keep the factor."""
        super().__init__(env)
        self.factor = factor

    def step(self, action):
        """Step and wait."""
        begin = time.thread_time()
        result = self.env.step(action)
        time.sleep(min(MOST_WAIT_S, self.factor * (time.thread_time() - begin)))
        return result


@dataclass(frozen=True)
class WaitingEnvironments:
    """Makes `Waiting` environments; picklable.

    Attributes:
        make_env: Makes the environments.
        factor: Seconds to wait for each second of computing.
    """

    make_env: Callable[[int, int], gymnasium.Env]
    factor: float

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        """One environment."""
        return Waiting(self.make_env(index, seed), self.factor)
