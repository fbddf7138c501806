"""A process that steps a few environments. It must never import torch.

It steps whichever of its environments has an action, writes the result into the environment's
row, and reports several finished rows with one wake-up. Environments are reset here, so a row
always shows the observation to act on; at a truncation the row also holds the episode's last
observation, whose value stands in for the future that was cut off.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from ver.action_space import to_environment_action
from ver.collect.episode_order import EpisodeOrder, is_first_try
from ver.collect.faults import LARGEST, strange
from ver.collect.mailboxes import Mailboxes
from ver.collect.processes import describe_error, enter_worker
from ver.shared.outcomes import CONTINUES, LOST, TERMINATED, TRUNCATED

UNGUARDED = (
    "a script that trains must do so below `if __name__ == '__main__':`, for its workers import it"
)
MakeEnv = Callable[[int, int], gymnasium.Env]


class MakeWorlds(Protocol):
    """Makes worlds that are stepped together."""

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        """Makes `count` worlds."""
        ...


def probe_spaces(make_env: MakeEnv | MakeWorlds, seed: int) -> tuple[spaces.Dict, spaces.Space]:
    """Reads the spaces off an environment that is made and closed again.

    What makes only worlds that are stepped together has no call, but a method `make_vector(count, seed)`.

    Raises:
        SystemExit: A worker process that has only begun imports the script of the training, which trains.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(UNGUARDED)
    if not callable(make_env):
        worlds = make_env.make_vector(1, seed)
        worlds.close()
        return worlds.single_observation_space, worlds.single_action_space  # pyright: ignore[reportReturnType]
    env = make_env(0, seed)
    try:
        return env.observation_space, env.action_space  # pyright: ignore[reportReturnType]
    finally:
        env.close()


@dataclass(frozen=True)
class Continuation:
    """An episode to take up where a stopped run left it.

    The environment's row holds the observation that the repeated actions must lead to, and the
    next action.

    Attributes:
        episode: The episode's number.
        actions: [K, D] taken since its start; None: too many to repeat.
        pending: Whether the next action was already sent, so that its result is to be reported.
    """

    episode: int
    actions: np.ndarray | None
    pending: bool


@dataclass
class EnvironmentWorkerSpec:
    """All that a worker needs; sent once, when it starts.

    Attributes:
        name: How errors call the worker.
        make_env: `(environment_index, seed) -> gymnasium.Env`.
        environments: Indices of its environments.
        order: Of the episodes; environment i is made with `order.seed + i`.
        mailboxes: The shared rows.
        reports: Where episodes' metrics, errors and "ready" go.
        worker: Its number, which selects its doorbell.
        flush_s: Finished rows are reported at least this often.
        parent: The trainer's process id.
        continuations: Episodes to take up, by environment; the others start with a new one.
    """

    name: str
    make_env: MakeEnv
    environments: list[int]
    order: EpisodeOrder
    mailboxes: Mailboxes
    reports: Connection
    worker: int
    flush_s: float
    parent: int
    continuations: dict[int, Continuation] = field(default_factory=dict)


def run_environment_worker(spec: EnvironmentWorkerSpec) -> None:
    """The worker process's main function."""
    enter_worker(spec.parent)
    try:
        EnvironmentWorker(spec).run()
    except BaseException as error:
        spec.reports.send(("error", *describe_error(error)))
        raise SystemExit(1) from None


class EnvironmentWorker:
    """A worker process at work: steps its environments whenever they have actions."""

    def __init__(self, spec: EnvironmentWorkerSpec):
        self.spec = spec
        self.rows = spec.mailboxes.arrays
        self.bell = spec.mailboxes.action_bells[spec.worker]
        self.observations = self.rows.group("observation")
        self.final_observations = self.rows.group("final_observation")
        self.floats = {key for key, row in self.observations.items() if row.dtype.kind == "f"}
        self.busy_since = self.rows["busy_since"][spec.worker : spec.worker + 1]
        self.busy_with = self.rows["busy_with"][spec.worker : spec.worker + 1]
        self.stepped = self.rows["stepped"][spec.worker : spec.worker + 1]
        self.first = spec.environments[0]
        self.envs = [spec.make_env(i, spec.order.seed + i) for i in spec.environments]
        self.half = max(1, len(self.envs) // 2)
        self.returns = [0.0] * len(self.envs)
        self.steps = [0] * len(self.envs)
        self.taken = [0] * len(self.envs)  # steps in all episodes
        self.finished: list[int] = []

    def run(self) -> None:
        """Steps environments until all shall stop, or the trainer is gone."""
        ready = self.rows["action_ready"][self.first : self.first + len(self.envs)]
        for local, index in enumerate(self.spec.environments):
            continuation = self.spec.continuations.get(index)
            if continuation is not None:
                self._take_up(local, continuation)
            else:
                self._reset(local)
                self.finished.append(index)
        # First: the trainer takes an environment without a request for one that awaits an action.
        self.flush()
        self.spec.reports.send(("ready", None, None))
        stop = self.rows["stop"]
        while not stop[0]:
            # A wake-up computes little: in lockstep, with a process for each environment, it is
            # paid for as often as there are environments.
            waiting = [local for local, flag in enumerate(ready.tobytes()) if flag]
            if waiting:
                self._step_all(waiting, ready)
            # A ring follows every flag, so nothing is missed by waiting before looking again.
            if not self.bell.wait(1.0) and os.getppid() != self.spec.parent:
                return
        for env in self.envs:
            env.close()

    def _step_all(self, waiting: list[int], ready: np.ndarray) -> None:
        flushed_at = time.perf_counter()
        for local in waiting:
            ready[local] = 0
            self.busy_with[0] = self.first + local
            self.busy_since[0] = time.monotonic()
            self._step(local)
            self.busy_since[0], self.stepped[0] = 0.0, 1
            self.finished.append(self.first + local)
            # Inference serves one half meanwhile; and slow environments must not keep fast ones
            # waiting for the end of the round.
            now = time.perf_counter()
            if len(self.finished) >= self.half or now - flushed_at > self.spec.flush_s:
                self.flush()
                flushed_at = now
        self.flush()

    def flush(self) -> None:
        """Sends the requests of the environments that have made their step."""
        if self.finished:
            self.spec.mailboxes.send_requests(self.finished)
            self.finished.clear()

    def _step(self, local: int) -> None:
        index = self.first + local
        env = self.envs[local]
        try:
            action = to_environment_action(env.action_space, self.rows["action"][index])
            observation, reward, terminated, truncated, info = env.step(action)
            reward = float(reward)
            if not abs(reward) < LARGEST:  # nor NaN
                raise NotFiniteError(f"returned the reward {reward}")
            ended = terminated or truncated
            # An episode that both ends and runs out of time has ended.
            outcome = TERMINATED if terminated else TRUNCATED if truncated else CONTINUES
            self._write(self.final_observations if ended else self.observations, index, observation)
            metrics = info.get("metrics", {}) if ended else {}
            metrics = {name: float(value) for name, value in metrics.items()}
        except Exception as error:
            self._lose(local, error)
            return
        self.returns[local] += reward
        self.rows["reward"][index] = reward
        self.steps[local] += 1
        self.taken[local] += 1
        self.rows["step"][index] = self.steps[local]
        self.rows["outcome"][index] = outcome
        if ended:
            self._report_episode(local, index, metrics)
            number = int(self.rows["episode"][index])
            self._reset(local, self.spec.order.after(index, number, metrics))

    def _lose(self, local: int, error: Exception) -> None:
        """Makes an environment anew whose last action's result will never be known."""
        index = self.first + local
        self._report_fault(index, error, steps_lost=1)
        self._renew(local)
        self.rows["outcome"][index] = LOST
        self._reset(local)

    def _renew(self, local: int) -> None:
        index = self.first + local
        with suppress(Exception):
            self.envs[local].close()
        self.envs[local] = self.spec.make_env(index, self.spec.order.seed + index)

    def _report_fault(self, index: int, error: Exception, steps_lost: int) -> None:
        kind, what, detail = told_fault(error)
        self.spec.reports.send(("fault", (index, kind, what, steps_lost), detail))

    def _report_episode(self, local: int, index: int, metrics: dict[str, float]) -> None:
        length = float(self.steps[local])
        metrics = {"episode_return": self.returns[local], "episode_length": length} | metrics
        number = int(self.rows["episode"][index])
        if not is_first_try(number):
            return
        self.spec.reports.send(("episode", (index, number, self.taken[local]), metrics))

    def _reset(self, local: int, number: int | None = None) -> None:
        """Begins the episode of that number, or the next one."""
        if number is None:
            number = self._next(local)
        try:
            self._begin_episode(local, number)
        except Exception as error:
            # The step before is sound. Once more with a new environment; if that fails too, the
            # process ends, and the trainer starts another.
            self._report_fault(self.first + local, error, steps_lost=0)
            self._renew(local)
            self._begin_episode(local, self._next(local))

    def _next(self, local: int) -> int:
        return self.spec.order.next(int(self.rows["episode"][self.first + local]))

    def _begin_episode(self, local: int, number: int) -> None:
        index = self.first + local
        self.rows["episode"][index] = number
        self._write(self.observations, index, self.start(local, number))
        self.returns[local] = 0.0
        self.steps[local] = self.rows["step"][index] = 0

    def start(self, local: int, number: int) -> dict[str, Any]:
        """Resets an environment for an episode, which follows from the run's seed and its number."""
        seed, options = self.spec.order.beginning(self.first + local, number)
        return self.envs[local].reset(seed=seed, options=options)[0]

    def _take_up(self, local: int, continuation: Continuation) -> None:
        """Repeats an episode's actions; an environment that then differs loses the episode."""
        index = self.first + local
        self.rows["episode"][index] = continuation.episode
        try:
            self._repeat(local, index, continuation)
        except Exception as error:
            self._lose(local, error)
            self.finished.append(index)
            return
        if continuation.pending:
            self._step(local)
            self.finished.append(index)

    def _repeat(self, local: int, index: int, continuation: Continuation) -> None:
        env = self.envs[local]
        if continuation.actions is None:
            raise DivergedError(TOO_LONG)
        observation = self.start(local, continuation.episode)
        total, ended = 0.0, False
        for step, row in enumerate(continuation.actions):
            self.rows["step"][index] = step  # a sign of life: there may be very many
            action = to_environment_action(env.action_space, row)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            ended = ended or terminated or truncated
        expected = {key: rows[index] for key, rows in self.observations.items()}
        if ended or not all(
            np.array_equal(np.asarray(observation[key], value.dtype), value)
            for key, value in expected.items()
        ):
            raise DivergedError("did not repeat its episode from the same seed and actions")
        self.returns[local] = total
        self.steps[local] = self.rows["step"][index] = len(continuation.actions)

    def _write(self, rows: dict[str, np.ndarray], index: int, observation: dict[str, Any]) -> None:
        for key, row in rows.items():
            row[index] = observation[key]
            if key in self.floats and strange(row[index]):
                raise NotFiniteError(told_observation(key))


TOO_LONG = "had come too far in its episode to repeat it"


class NotFiniteError(Exception):
    """An environment returned NaN, infinity, or a number too large to learn from."""

    kind = "not_finite"


def told_observation(key: str) -> str:
    """Words for what an environment did that showed such a number."""
    return f"returned the observation '{key}' with NaN, infinity or a number beyond {LARGEST:g}"


class DivergedError(Exception):
    """An environment could not be brought back to where a stopped run left it."""

    kind = "diverged"


def told_fault(error: Exception) -> tuple[str, str, str]:
    """Returns a fault's kind, what was done in one line, and the traceback."""
    line, detail = describe_error(error)
    if isinstance(error, NotFiniteError | DivergedError):
        return error.kind, str(error), detail
    return "raised", f"raised {line}", detail
