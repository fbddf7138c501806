"""The environment worker processes: starting, watching and restarting them.

A worker that died or hangs is replaced by a new process with the same environments. What it left
in the shared rows is settled first, so that the rollout holds no half-written step:

- A result that was already reported counts. If its episode went on, it is now truncated there: the
  observation that was to be acted on gives the bootstrap value.
- An action whose result never came is LOST: its step is dropped, and its slot will hold the new
  episode's first step. The step before becomes the episode's last, truncated, and bootstraps from
  the value of the observation that the lost action answered.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from ver.collect.environment_worker import (
    Continuation,
    EnvironmentWorkerSpec,
    MakeEnv,
    run_environment_worker,
)
from ver.collect.episode_order import EpisodeOrder
from ver.collect.faults import Fault, FaultCounter
from ver.collect.mailboxes import Mailboxes
from ver.collect.processes import Watch, start_process, stop_process
from ver.config import CollectConfig
from ver.errors import UserError, WorkerCrashError
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TRUNCATED


@dataclass
class WorkerProcess:
    """An environment worker as the trainer sees it."""

    number: int
    environments: list[int]
    process: BaseProcess | None = None
    reports: Connection | None = None
    watch: Watch = field(default_factory=Watch)
    ready: bool = False
    hung_at_start: bool = False

    @property
    def name(self) -> str:
        """Returns what errors call it."""
        first, last = self.environments[0], self.environments[-1]
        return f"environment worker {self.number} (environments {first} to {last})"


class EnvironmentProcesses:
    """All environment workers of one trainer.

    Args:
        config: Collection settings.
        make_env: Makes environments.
        mailboxes: The shared rows.
        held_back: [N] flags, see `InferenceEngine`.
        seed: Seeds the environments.
        faults: Told of faults.
        continuations: Episodes to take up, by environment.

    Attributes:
        mailboxes: As given.
        held_back: As given.
        episodes: Those that ended, as they are read: steps that their environment had taken by then, its
            index, and their metrics.
        episodes_reported: [N] number of each environment's newest reported episode; one that was
            reported before a run was stopped is not counted again after it is resumed.
    """

    def __init__(
        self,
        config: CollectConfig,
        make_env: MakeEnv,
        mailboxes: Mailboxes,
        held_back: np.ndarray,
        seed: int,
        faults: FaultCounter,
        continuations: dict[int, Continuation],
    ):
        self.config = config
        self.episodes: list[tuple[int, int, dict[str, float]]] = []
        self.episodes_reported = np.zeros(config.num_environments, dtype=np.int64)
        self._make_env = make_env
        self.mailboxes = mailboxes
        self.held_back = held_back
        self._seed = seed
        self._faults = faults
        size = config.environments_per_worker
        everyone = list(range(config.num_environments))
        self._workers = [
            WorkerProcess(number, everyone[first : first + size])
            for number, first in enumerate(range(0, len(everyone), size))
        ]
        self._started = False
        try:
            for worker in self._workers:
                self._start(worker, continuations)
        except BaseException:
            self.close()
            raise

    @property
    def connections(self) -> dict[Connection, WorkerProcess]:
        """Connections on which reports come."""
        return {worker.reports: worker for worker in self._workers if worker.reports is not None}

    @property
    def not_ready(self) -> int:
        """Number of workers that have not yet reset all of their environments."""
        return sum(not worker.ready for worker in self._workers)

    def started(self) -> None:
        """From now on a worker that fails is replaced; before, one that is killed (-9), or hangs once."""
        self._started = True

    def read(self, connection: Connection) -> None:
        """Reads one worker's reports."""
        worker = self.connections[connection]
        try:
            while connection.poll():
                self._handle(worker, *connection.recv())
        except (EOFError, OSError):
            self._bury(worker, None)

    def _handle(self, worker: WorkerProcess, kind: str, subject: Any, content: Any) -> None:
        if kind == "ready":
            worker.ready = True
        elif kind == "episode":
            environment, episode, taken = subject
            if episode > self.episodes_reported[environment]:
                self.episodes_reported[environment] = episode
                self.episodes.append((taken, environment, content))
        elif kind == "fault":
            environment, fault, what, steps_lost = subject
            what = f"environment {environment} {what}; it was made anew"
            self._faults.record(Fault(fault, what, steps_lost, content))
        elif not self._started:
            raise WorkerCrashError(f"{worker.name} failed: {subject}", content)
        else:
            self._bury(worker, Fault("raised", f"{worker.name} failed: {subject}", 0, content))

    def _bury(self, worker: WorkerProcess, fault: Fault | None) -> None:
        """Ends what is left of a failed worker; `revive` will start another."""
        process, reports = worker.process, worker.reports
        if process is None or reports is None:
            return
        worker.process = worker.reports = None
        worker.ready = False
        stop_process(process, 1.0)
        reports.close()
        environments = np.asarray(worker.environments)
        rows = self.mailboxes.arrays
        idle = (rows["request_ready"][environments] != 0) | (self.held_back[environments] != 0)
        lost = int((~idle & (self._buffer.newest[environments] >= 0)).sum())
        where = ""
        if rows["busy_since"][worker.number]:
            where = f" while stepping environment {int(rows['busy_with'][worker.number])}"
        if fault is None:
            end = _describe_exit(process.exitcode)
            # Who was killed from outside may start again; who fails by itself would fail again
            if not self._started and process.exitcode != -signal.SIGKILL:
                raise WorkerCrashError(f"{worker.name} {end} at its start.")
            fault = Fault("died", f"{worker.name} {end}{where}", lost)
        else:
            fault = Fault(fault.kind, f"{fault.what}{where}", lost, fault.detail)
        again = Fault(fault.kind, f"{fault.what}; it was restarted", lost, fault.detail)
        self._faults.record(again)

    def check(self) -> None:
        """Ends workers that hang, and replaces all that have ended."""
        for worker in self._workers:
            if worker.process is not None:
                self._check_time(worker)
            if worker.process is None:
                self._revive(worker)

    def _check_time(self, worker: WorkerProcess) -> None:
        rows = self.mailboxes.arrays
        limit, setting = self.config.step_timeout_s, "step_timeout_s"
        if not rows["stepped"][worker.number] and 0.0 < limit < self.config.startup_timeout_s:
            # What a step needs may still be compiled in a worker's first one
            limit, setting = self.config.startup_timeout_s, "startup_timeout_s"
        environments = np.asarray(worker.environments)
        since = float(rows["busy_since"][worker.number])
        asked = bool(
            rows["action_ready"][environments].any()
        )  # also who was stopped while it waited
        # It may be between two steps at every look: their number tells that it goes on. At its start that
        # is where it stands in the episodes that it repeats
        taken = int(rows["step"][environments].sum())
        still_s = worker.watch.still_s((since, asked, taken))
        if not worker.ready:
            limit, setting = self.config.startup_timeout_s, "startup_timeout_s"
        idle = worker.ready and not (since or asked)
        if idle or not 0.0 < limit < still_s:
            return
        what = f"{worker.name} hung for more than {limit:g} s (collect.{setting})"
        if not self._started and worker.hung_at_start:
            raise UserError(
                f"{worker.name} was not ready after {limit:g} s, twice; raise "
                "collect.startup_timeout_s, or start fewer environments."
            )
        worker.hung_at_start = not self._started
        assert worker.process is not None
        worker.process.kill()
        self._bury(worker, Fault("hung", what, 0))

    def _revive(self, worker: WorkerProcess) -> None:
        if self.settle(worker):
            self._start(worker, {})

    def settle(self, worker: WorkerProcess) -> bool:
        """Settles a dead worker's rows; False if inference still holds some of them."""
        rows = self.mailboxes.arrays
        environments = np.asarray(worker.environments)
        with self._buffer.lock:
            if rows["claimed"][environments].any():
                return False
            pending = rows["request_ready"][environments] != 0
            rows["request_ready"][environments] = 0
        rows["action_ready"][environments] = 0
        rows["busy_since"][worker.number] = rows["stepped"][worker.number] = 0
        self.held_back[environments] = 0
        for environment, reported in zip(environments, pending, strict=True):
            if not reported:
                acted = self._buffer.newest[environment] >= 0
                rows["outcome"][environment] = LOST if acted else NO_ACTION
            elif rows["outcome"][environment] == CONTINUES:
                rows["outcome"][environment] = TRUNCATED
                for key, final in rows.group("final_observation").items():
                    final[environment] = rows[f"observation/{key}"][environment]
        return True

    def attach(self, buffer: RolloutBuffer) -> None:
        """Says which rollout is being collected: a dead worker's steps are settled there."""
        self._buffer = buffer

    def _start(self, worker: WorkerProcess, continuations: dict[int, Continuation]) -> None:
        receiver, sender = Pipe(duplex=False)
        spec = EnvironmentWorkerSpec(
            name=worker.name,
            make_env=self._make_env,
            environments=worker.environments,
            order=EpisodeOrder(self._seed, self.config.repeat_failed),
            mailboxes=self.mailboxes,
            reports=sender,
            worker=worker.number,
            flush_s=self.config.worker_flush_ms * 1e-3,
            parent=os.getpid(),
            continuations={
                index: continuations[index]
                for index in worker.environments
                if index in continuations
            },
        )
        worker.process = start_process(worker.name, run_environment_worker, spec)
        sender.close()
        worker.reports, worker.ready = receiver, False
        worker.watch = Watch()

    def close(self, grace_s: float = 3.0) -> None:
        """Ends all workers."""
        self.mailboxes.stop()
        deadline = time.monotonic() + grace_s
        for worker in self._workers:
            if worker.process is not None:
                stop_process(worker.process, max(0.0, deadline - time.monotonic()))
            if worker.reports is not None:
                worker.reports.close()
            worker.process = worker.reports = None


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        names = {int(number): number.name for number in signal.Signals}
        return f"was killed by {names.get(-code, f'signal {-code}')}"
    return f"ended by itself (exit status {code})"
