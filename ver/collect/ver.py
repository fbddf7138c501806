"""The VER collector: environment workers, inference on outstanding requests, variable rollouts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from gymnasium import spaces

from ver.collect.environment_worker import (
    EnvironmentWorkerSpec,
    MakeEnv,
    run_environment_worker,
)
from ver.collect.inference import BatchLimits, InferenceEngine, SharedWeights
from ver.collect.processes import start_process, stop_process
from ver.collect.queues import Doorbell
from ver.collect.shared_memory import SharedArrays
from ver.collect.transfer import make_transfer
from ver.config import TrainerConfig
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer

_REPORT_INTERVAL_S = 0.05
_PREEMPTION_INTERVAL_S = 0.005  # longest wait for requests while the rollout may have to end


class VERCollector:
    """Collects (T + 1) x N slots of experience, however many from each environment.

    Args:
        config: The run's settings.
        make_env: `(environment_index, seed) -> gymnasium.Env`, picklable.
        policy: Acts; shared with the learner.
        seed: Environment i is seeded with `seed + i`.

    Attributes:
        buffer: The rollout to learn from after `collect`.
        environment_steps: Steps collected in all.
        busy_seconds: Time in "wait", "inference" and "overhead" of the main process.
    """

    def __init__(self, config: TrainerConfig, make_env: MakeEnv, policy: ActorCritic, seed: int):
        self.config = config
        collect = config.collect
        n = collect.num_environments
        self.buffer = RolloutBuffer(
            policy.observation_space,
            policy.action_space,
            n,
            collect.rollout_length,
            policy.state_size,
            config.device,
        )
        self._transfer = make_transfer(
            policy.observation_space, policy.action_space, n, collect.environments_per_worker
        )
        self._control = SharedArrays(
            {
                "version": ((1,), "int64"),
                "collecting": ((1,), "uint8"),
                "stop": ((1,), "uint8"),
                "held_back": ((n,), "uint8"),
            }
        )
        self._limits = batch_limits(config)
        self._engine = InferenceEngine(
            policy, self.buffer, self._transfer, self._limits, self._control["held_back"]
        )
        self._processes: list[BaseProcess] = []
        self._reports: dict[Connection, BaseProcess] = {}
        self._wakes: list[Doorbell] = []
        self._episodes: list[dict[str, float]] = []
        self._not_ready = 0
        self._reported_at = 0.0
        self.environment_steps = 0
        try:
            self._start_environments(make_env, seed)
            self._start_inference(policy, seed)
            self._await_ready(collect.startup_timeout_s)
        except BaseException:
            self.close()
            raise

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Seconds so far by kind of work."""
        return self._engine.seconds

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Fills the buffer.

        Args:
            version: Number of learner updates behind the policy, stored with each step.
            keep_going: Asked now and then; collection stops once it says no.
            preemption: Says when to end early and fill up with stale steps.

        Returns:
            Whether the buffer is full.

        Raises:
            WorkerCrashError: If a worker failed.
        """
        self._engine.version = version
        self._control["version"][0] = version
        self.buffer.begin()
        self._engine.replay()
        if preemption is not None:
            preemption.begin()
        self._control["collecting"][0] = 1
        for wake in self._wakes:
            wake.ring()
        early = False
        while not self.buffer.full:
            self._engine.serve(_REPORT_INTERVAL_S if preemption is None else _PREEMPTION_INTERVAL_S)
            if preemption is not None and not early and preemption.due():
                early = self.buffer.end_early()
            if time.perf_counter() - self._reported_at > _REPORT_INTERVAL_S:
                self._read_reports()
                if not keep_going():
                    return False
            if not self.buffer.remaining and not self.buffer.full:
                time.sleep(0.0002)  # another process is still writing its last batch
        self._control["collecting"][0] = 0
        if preemption is not None:
            preemption.end(not early)
        self._read_reports()
        self.environment_steps += int(self.buffer.written[0])
        return True

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""
        episodes, self._episodes = self._episodes, []
        return episodes

    def close(self) -> None:
        """Ends all worker processes."""
        self._control["stop"][0] = 1
        self._transfer.stop()
        for wake in self._wakes:
            wake.ring()
        deadline = time.monotonic() + 5.0
        for process in self._processes:
            stop_process(process, max(0.0, deadline - time.monotonic()))
        for connection in self._reports:
            connection.close()
        self._processes.clear()
        self._reports.clear()

    def _start_environments(self, make_env: MakeEnv, seed: int) -> None:
        collect = self.config.collect
        per_worker = collect.environments_per_worker
        for worker, first in enumerate(range(0, collect.num_environments, per_worker)):
            last = min(first + per_worker, collect.num_environments)
            name = f"environment worker {worker} (environments {first} to {last - 1})"
            self._start(
                name,
                run_environment_worker,
                lambda reports, name=name, first=first, last=last, worker=worker: (
                    EnvironmentWorkerSpec(
                        name=name,
                        make_env=make_env,
                        environments=list(range(first, last)),
                        seed=seed,
                        transfer=self._transfer,
                        reports=reports,
                        worker=worker,
                        flush_s=collect.worker_flush_ms * 1e-3,
                        nice=collect.worker_nice,
                        parent=os.getpid(),
                    )
                ),
            )

    def _start_inference(self, policy: ActorCritic, seed: int) -> None:
        helpers = self.config.collect.num_inference_workers - 1
        if not helpers:
            return
        if self.buffer.device.type != "cpu":
            raise UserError(
                "On a GPU only the main process infers; set collect.num_inference_workers=1."
            )
        # Imported here so that a run without helpers does not pay for it.
        from ver.collect.inference_worker import InferenceWorkerSpec, run_inference_worker

        weights = SharedWeights(policy)
        weights.bind(policy)
        for number in range(1, helpers + 1):
            wake = Doorbell()
            self._wakes.append(wake)
            self._start(
                f"inference worker {number}",
                run_inference_worker,
                lambda reports, number=number, wake=wake: InferenceWorkerSpec(
                    name=f"inference worker {number}",
                    observation_space=policy.observation_space,
                    action_space=policy.action_space,
                    network=policy.network_config,
                    weights=weights,
                    buffer=self.buffer,
                    transfer=self._transfer,
                    control=self._control,
                    limits=self._limits,
                    wake=wake,
                    reports=reports,
                    threads=self.config.inference_threads,
                    seed=seed + 7919 * number,
                    parent=os.getpid(),
                ),
            )

    def _start(
        self, name: str, target: Callable[..., None], make_spec: Callable[[Connection], Any]
    ) -> None:
        receiver, sender = Pipe(duplex=False)
        process = start_process(name, target, make_spec(sender))
        sender.close()
        self._processes.append(process)
        self._reports[receiver] = process
        self._not_ready += 1

    def _await_ready(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while self._not_ready:
            self._read_reports(0.2)
            if time.monotonic() > deadline:
                raise UserError(
                    f"{self._not_ready} workers were not ready after {timeout_s:.0f} s; raise "
                    "collect.startup_timeout_s, or start fewer environments."
                )

    def _read_reports(self, timeout_s: float = 0.0) -> None:
        for connection in wait(list(self._reports), timeout_s):
            process = self._reports[connection]  # pyright: ignore
            while connection.poll():  # pyright: ignore
                try:
                    kind, subject, content = connection.recv()  # pyright: ignore
                except EOFError:
                    process.join(1.0)
                    raise WorkerCrashError(
                        f"{process.name} died without a word (exit code {process.exitcode}); "
                        "was it killed, or out of memory?"
                    ) from None
                if kind == "error":
                    raise WorkerCrashError(f"{process.name} failed: {subject}", content)
                if kind == "ready":
                    self._not_ready -= 1
                else:
                    self._episodes.append(content)
        self._reported_at = time.perf_counter()


def batch_limits(config: TrainerConfig) -> BatchLimits:
    """Chooses the bounds of dynamic batching.

    Automatic bounds follow the VER implementation: with n_iw inference processes, between
    N / n_iw / 1.5 and 1.5 N / n_iw requests, except that one process alone takes whatever one
    environment worker sends, so that inference for one worker overlaps with another's simulation.
    """
    collect = config.collect
    share = collect.num_environments / collect.num_inference_workers
    minimum = collect.min_requests or max(1, int(share / 1.5))
    maximum = collect.max_requests or max(1, int(np.ceil(1.5 * share)))
    if not collect.min_requests and collect.num_inference_workers == 1:
        minimum = min(minimum, collect.environments_per_worker)
    return BatchLimits(minimum, max(maximum, minimum), collect.max_wait_ms * 1e-3)


def probe_spaces(make_env: MakeEnv, seed: int) -> tuple[spaces.Dict, spaces.Space]:
    """Reads the spaces off an environment that is made and closed again."""
    env = make_env(0, seed)
    try:
        return env.observation_space, env.action_space  # pyright: ignore[reportReturnType]
    finally:
        env.close()
