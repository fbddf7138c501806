"""Sample Factory's asynchronous PPO (Petrenko et al. 2020, section 3): nobody waits for anybody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import torch

from ver.collect.faults import Fault
from ver.collect.in_flight import InFlight
from ver.collect.systems.ver import VERCollector
from ver.collect.trajectories import TrajectoryBuffer
from ver.config import APPOConfig, TrainerConfig
from ver.errors import UserError
from ver.rollout import RolloutBuffer

_SERVE_S = 0.01  # longest wait for requests before orders are looked at
_REPORT_INTERVAL_S = 0.05
_POLL_S = 0.05  # how often the trainer's thread looks up while it waits
_FULL_S = 0.001  # pause while the learner holds all that could be written to


class APPOCollector(VERCollector):
    """Collects without an end, in a thread of its own, while the trainer learns, logs and saves.

    Each environment's steps are cut into trajectories of T. `collect` returns as soon as a batch of
    complete ones exists, whoever made them, and all others go on. After each gradient step the
    new weights are copied to the acting policy between two inference batches, in mid-trajectory:
    early steps of a batch lag behind the learner by more updates than late ones. V-trace and PPO's
    clipping correct for it (`ver.vtrace`), and `loss/policy_lag_mean` and `_max` say how much.

    The lag is bounded twice. Collection stops when it is about a trajectory per environment ahead
    (see `ver.collect.trajectories`), so a slow learner is not outrun. And trajectories that began
    more than `appo.max_policy_lag` updates ago are dropped when a batch is taken: waiting cannot
    help them, as they are old because their environment is slow. `faults/steps_too_old` counts the
    steps; they are not learned from, nor in `total_steps`.

    Inference workers share the acting weights' memory. A batch that they are computing
    during the copying may see some old and some new weights; the probabilities stored are still
    those of the actions' true distribution, and the version may be named one too new.

    Resuming is approximate: trajectories under way are not in a checkpoint; all environments start
    new episodes.

    Arguments as for `Collector`; `in_flight` is not taken up, and faults are told by the trainer's
    thread, in `collect`.
    """

    always_overlaps = True
    buffer: TrajectoryBuffer  # pyright: ignore[reportIncompatibleVariableOverride]
    _thread: threading.Thread | None = None

    def start(self, in_flight: InFlight | None, keep_going: Callable[[], bool]) -> None:
        """Starts the processes; the thread starts with the first `collect`."""
        self._untold: SimpleQueue[Fault] = SimpleQueue()
        self._on_fault, self.faults.listener = self.faults.listener, self._untold.put
        self._orders: SimpleQueue[tuple[Callable[[], Any], Future]] = SimpleQueue()
        self._wanted: int | None = None  # version of the learner that waits for a batch
        self._taken = threading.Event()
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._waited = {"wait": 0.0, "inference": 0.0, "overhead": 0.0}
        super().start(None, keep_going)
        # The trainer has nothing to arrange: collection goes on by itself.
        self.overlaps = False
        self.faults.counts["steps_too_old"] = 0

    def _make_buffers(self) -> list[RolloutBuffer]:
        collect, policy = self.config.collect, self._policy
        buffer = TrajectoryBuffer(
            policy.observation_space,
            policy.action_space,
            collect.num_environments,
            collect.rollout_length,
            policy.state_size,
            self.config.appo.batch_trajectories or collect.num_environments,
            policy.device,
            shared=collect.num_inference_workers > 1,
        )
        return [buffer]

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses what does not go with collection that never stops.

        Raises:
            UserError: In one line that names the mend.
        """
        super().check(config)
        appo = config.appo
        if config.collect.overlap:
            raise UserError(
                "system=appo collects while it learns anyway; set collect.overlap=false."
            )
        if not appo.rho_bar >= appo.c_bar:
            raise UserError(
                f"V-trace needs appo.rho_bar >= appo.c_bar, found {appo.rho_bar:g} and "
                f"{appo.c_bar:g}."
            )

    @classmethod
    def why_runs_differ(cls, config: TrainerConfig) -> str:
        """A batch is learned from whenever it is complete, while others act."""
        del config
        return "experience is collected beside learning"

    @classmethod
    def batch_steps(cls, config: TrainerConfig) -> int:
        """Returns how many steps of one process are learned from together."""
        batch = config.appo.batch_trajectories or config.collect.num_environments
        return batch * config.collect.rollout_length

    @classmethod
    def vtrace(cls, config: TrainerConfig) -> APPOConfig | None:
        """Returns the bounds of V-trace, None where it is turned off."""
        return config.appo if config.appo.vtrace else None

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Seconds that the trainer's thread waited, by what the collecting one did meanwhile."""
        return self._waited

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Any = None,
    ) -> bool:
        """Gives the last batch's slots back and waits for the next batch.

        Args:
            version: Number of learner updates behind the weights that learn from it.
            keep_going: Asked now and then; waiting stops once it says no.
            preemption: None; `check` refuses it.

        Returns:
            Whether there is a batch.

        Raises:
            WorkerCrashError: If an inference worker failed, or environments did too often.
        """
        del preemption
        begin, before = time.perf_counter(), self.engine.seconds["inference"]
        if self._thread is None:
            self._start_thread(version)
        self._taken.clear()  # here, as a thread that has failed will not
        self._ask(lambda: self._want(version))
        while not self._taken.wait(_POLL_S):
            self._tell_faults()
            if self._failure is not None:
                raise self._failure
            if not keep_going():
                self._ask(self._want_nothing)
                return False
        self._tell_faults()
        waited = time.perf_counter() - begin
        inference = min(waited, self.engine.seconds["inference"] - before)
        self._waited["inference"] += inference
        self._waited["wait"] += waited - inference
        return True

    def publish(self, version: int) -> None:
        """Makes the learner's weights the acting ones, from the next inference batch on.

        Args:
            version: Number of updates behind them.
        """
        self._ask(lambda: self._renew(version))

    def capture(self) -> InFlight:
        """Returns nothing: a resumed run starts new episodes."""
        return {}

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""
        episodes = self._ask(super().drain_episodes)
        return super().drain_episodes() if episodes is None else episodes

    def close(self) -> None:
        """Ends the thread and all worker processes."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        super().close()

    def _start_thread(self, version: int) -> None:
        self._renew(version)
        self._let_collect()
        self._thread = threading.Thread(target=self._run, name="collector", daemon=True)
        self._thread.start()

    def _ask(self, work: Callable[[], Any]) -> Any:
        """Has the collecting thread do something between two inference batches.

        Everything that both threads touch is touched there, so there are no locks.

        Returns:
            `work`'s answer, or None if the thread does not run; `collect` says why it has ended.
        """
        done: Future = Future()
        self._orders.put((work, done))
        self._mailboxes.request_bell.ring()
        while done.done() or (self._thread is not None and self._thread.is_alive()):
            with suppress(FutureTimeoutError):
                return done.result(_POLL_S)
        return None

    def _tell_faults(self) -> None:
        while not self._untold.empty():
            self._on_fault(self._untold.get())

    # What follows runs in the collecting thread.

    def _run(self) -> None:
        try:
            torch.set_num_threads(self.config.inference_threads)
            while not self._stopping.is_set():
                while not self._orders.empty():
                    work, done = self._orders.get()
                    done.set_result(work())
                self._collect_some()
        except BaseException as error:
            self._failure = error

    def _collect_some(self) -> None:
        if not self.engine.serve(_SERVE_S) and not self.buffer.remaining:
            time.sleep(_FULL_S)
        if time.perf_counter() - self._reported_at > _REPORT_INTERVAL_S:
            self._read_reports()
            self._check_workers()
        if self._wanted is None:
            return
        buffer, dropped = self.buffer, self.buffer.dropped
        claimed = self._mailboxes.arrays["claimed"]
        taken = buffer.take(self._wanted, self.config.appo.max_policy_lag, claimed)
        if buffer.dropped > dropped:
            self.faults.counts["steps_too_old"] += (buffer.dropped - dropped) * buffer.length
            self._wake_inference_workers()  # there are free slots again
        if taken:
            self._wanted = None
            self._taken.set()

    def _want(self, version: int) -> None:
        self.buffer.give_back()
        self._wake_inference_workers()
        self._renew(version)  # also the normaliser, which learning's end has updated
        self._wanted = version

    def _want_nothing(self) -> None:
        self._wanted = None

    def _renew(self, version: int) -> None:
        self.copy_weights()
        self._control["version"][0] = version


SYSTEMS = {"appo": APPOCollector}
