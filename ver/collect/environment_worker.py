"""A process that steps a few environments. It must never import torch.

It steps whichever of its environments has an action, writes the result into the environment's
row, and reports several finished rows with one wake-up. Environments are reset here, so a row
always shows the observation to act on; at a truncation the row also holds the episode's last
observation, whose value stands in for the future that was cut off.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import gymnasium
import numpy as np

from ver.action_space import to_environment_action
from ver.collect.processes import enter_worker
from ver.collect.transfer import CONTINUES, NO_ACTION, TERMINATED, TRUNCATED, Transfer

MakeEnv = Callable[[int, int], gymnasium.Env]


@dataclass
class EnvironmentWorkerSpec:
    """All that a worker needs; sent once, when it starts.

    Attributes:
        name: How errors call the worker.
        make_env: `(environment_index, seed) -> gymnasium.Env`.
        environments: Indices of its environments.
        seed: Environment i is seeded with `seed + i`.
        transfer: The shared rows.
        reports: Where episodes' metrics, errors and "ready" go.
        worker: Its number, which selects its doorbell.
        flush_s: Finished rows are reported at least this often.
        nice: Niceness of the process.
        parent: The trainer's process id.
    """

    name: str
    make_env: MakeEnv
    environments: list[int]
    seed: int
    transfer: Transfer
    reports: Connection
    worker: int
    flush_s: float
    nice: int
    parent: int


def run_environment_worker(spec: EnvironmentWorkerSpec) -> None:
    """The worker process's main function."""
    enter_worker(spec.parent, spec.nice)
    try:
        _Worker(spec).run()
    except BaseException as error:
        spec.reports.send(("error", f"{type(error).__name__}: {error}", traceback.format_exc()))
        raise SystemExit(1) from None


class _Worker:
    def __init__(self, spec: EnvironmentWorkerSpec):
        self.spec = spec
        self.rows = spec.transfer.arrays
        self.bell = spec.transfer.action_bells[spec.worker]
        self.observations = self.rows.group("observation")
        self.final_observations = self.rows.group("final_observation")
        self.first = spec.environments[0]
        self.envs = [spec.make_env(i, spec.seed + i) for i in spec.environments]
        self.returns = [0.0] * len(self.envs)
        self.finished: list[int] = []

    def run(self) -> None:
        ready = self.rows["action_ready"][self.first : self.first + len(self.envs)]
        for local, index in enumerate(self.spec.environments):
            self._reset(local, self.spec.seed + index)
            self.rows["outcome"][index] = NO_ACTION
            self.finished.append(index)
        self.spec.reports.send(("ready", None, None))
        self._flush()
        stop = self.rows["stop"]
        while not stop[0]:
            waiting = np.flatnonzero(ready.copy())  # others write to it meanwhile
            if not len(waiting):
                self.bell.wait(1.0)
                if os.getppid() != self.spec.parent:
                    return
                continue
            self._step_all(waiting, ready)
        for env in self.envs:
            env.close()

    def _step_all(self, waiting: np.ndarray, ready: np.ndarray) -> None:
        flushed_at = time.perf_counter()
        for local in waiting:
            ready[local] = 0
            self._step(int(local))
            self.finished.append(self.first + int(local))
            # Slow environments must not keep fast ones waiting for the end of the round.
            now = time.perf_counter()
            if now - flushed_at > self.spec.flush_s:
                self._flush()
                flushed_at = now
        self._flush()

    def _flush(self) -> None:
        if self.finished:
            self.rows["request_ready"][self.finished] = 1
            self.finished.clear()
            self.spec.transfer.request_bell.ring()

    def _step(self, local: int) -> None:
        index = self.first + local
        env = self.envs[local]
        action = to_environment_action(env.action_space, self.rows["action"][index])
        observation, reward, terminated, truncated, info = env.step(action)
        reward = float(reward)
        if not np.isfinite(reward):
            raise ValueError(f"environment {index} returned the reward {reward}")
        self.returns[local] += reward
        self.rows["reward"][index] = reward
        self.rows["step"][index] += 1
        if not (terminated or truncated):
            self.rows["outcome"][index] = CONTINUES
            self._write(self.observations, index, observation)
            return
        # An episode that both ends and runs out of time has ended.
        self.rows["outcome"][index] = TERMINATED if terminated else TRUNCATED
        self._write(self.final_observations, index, observation)
        self._report_episode(local, index, info)
        self._reset(local, None)

    def _report_episode(self, local: int, index: int, info: dict[str, Any]) -> None:
        metrics = {
            "episode_return": self.returns[local],
            "episode_length": float(self.rows["step"][index]),
        }
        metrics.update({name: float(value) for name, value in info.get("metrics", {}).items()})
        self.spec.reports.send(("episode", index, metrics))

    def _reset(self, local: int, seed: int | None) -> None:
        index = self.first + local
        observation, _ = self.envs[local].reset(seed=seed)
        self._write(self.observations, index, observation)
        self.returns[local] = 0.0
        self.rows["step"][index] = 0
        self.rows["episode"][index] += 1

    @staticmethod
    def _write(rows: dict[str, np.ndarray], index: int, observation: dict[str, Any]) -> None:
        for key, row in rows.items():
            row[index] = observation[key]
