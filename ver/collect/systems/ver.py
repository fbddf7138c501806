"""The VER collector: environment workers, inference on outstanding requests, variable rollouts."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from multiprocessing.connection import wait

import numpy as np
import torch

from ver.collect.collector import Collector
from ver.collect.environment_processes import EnvironmentProcesses
from ver.collect.in_flight import (
    EpisodeActions,
    InFlight,
    continuations,
    fits,
    newest_steps,
    put_newest_steps,
)
from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.inference_processes import InferenceProcesses, make_control
from ver.collect.mailboxes import make_mailboxes
from ver.config import TrainerConfig
from ver.errors import UserError
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer
from ver.shared.locks import ProcessLock

_REPORT_INTERVAL_S = 0.05
_PREEMPTION_INTERVAL_S = 0.005  # longest wait for requests while the rollout may have to end


class VERCollector(Collector):
    """Collects (T + 1) x N slots of experience, however many from each environment.

    With `collect.overlap` there are two rollouts and two sets of weights: `collect` fills one
    rollout with the acting weights while the learner, in another thread, learns from the other
    with its own; `copy_weights` between them makes the acting ones new (HTS-RL's scheme).

    Arguments and attributes as for `Collector`, and:

    Attributes:
        engine: Inference in this process.
        inference_workers: Processes beside it; None until they are started.
    """

    # What systems that collect in much the same way set.
    fixed_length = False  # every environment contributes the same number of steps
    always_overlaps = False  # as with collect.overlap

    def start(self, in_flight: InFlight | None, keep_going: Callable[[], bool]) -> None:
        """Makes rollouts, and starts environment workers and inference workers."""
        config, policy = self.config, self._policy
        collect = config.collect
        n = collect.num_environments
        self.overlaps = collect.overlap or self.always_overlaps
        self._acting = copy.deepcopy(policy) if self.overlaps else policy
        self._buffers = self._make_buffers()
        for buffer in self._buffers:
            if isinstance(buffer.lock, ProcessLock):
                buffer.lock.patience_s = collect.step_timeout_s
        self.buffer = self._buffers[0]
        mailboxes = make_mailboxes(
            policy.observation_space, policy.action_space, n, collect.environments_per_worker
        )
        self._mailboxes = mailboxes
        self._control = make_control(n, collect.num_inference_workers - 1)
        self._held_back = self._control["held_back"]
        limits = self.batch_limits(config)
        self.engine = InferenceEngine(
            self._acting,
            self.buffer,
            mailboxes,
            limits,
            self._held_back,
            self._control["version"],
        )
        self._actions = EpisodeActions(n)
        self._reported_at = 0.0
        self.went_on = in_flight is not None and fits(self.buffer, in_flight)
        self._environments = self._start_environments(in_flight)
        self.inference_workers: InferenceProcesses | None = None
        try:
            self.inference_workers = InferenceProcesses(
                collect.num_inference_workers - 1,
                self._acting,
                self._buffers,
                mailboxes,
                self._control,
                limits,
                config.inference_threads,
            )
            self._await_ready(keep_going)
        except BaseException:
            self.close()
            raise

    def _start_environments(self, in_flight: InFlight | None) -> EnvironmentProcesses:
        """Starts the environment workers, with the episodes in flight if they fit."""
        collect, mailboxes, held_back = self.config.collect, self._mailboxes, self._held_back
        if in_flight is None or not self.went_on:
            episodes = {}
        else:
            episodes = continuations(in_flight, self.buffer, held_back, mailboxes, self._actions)
        environments = EnvironmentProcesses(
            collect, self._make_env, mailboxes, held_back, self._seed, self.faults, episodes
        )
        environments.attach(self.buffer)
        if in_flight is not None and self.went_on:
            environments.episodes_reported[:] = in_flight["episodes_reported"].numpy()
        return environments

    def _make_buffers(self) -> list[RolloutBuffer]:
        collect, policy = self.config.collect, self._policy
        return [
            RolloutBuffer(
                policy.observation_space,
                policy.action_space,
                collect.num_environments,
                collect.rollout_length,
                policy.state_size,
                policy.device,
                shared=collect.num_inference_workers > 1,
                fixed_length=self.fixed_length,
            )
            for _ in range(2 if self.overlaps else 1)
        ]

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses settings that contradict each other or the system.

        Raises:
            UserError: In one line that names the mend.
        """
        least, most = config.collect.min_requests, config.collect.max_requests
        if 0 < most < least:
            raise UserError(
                f"collect.max_requests={most} is less than collect.min_requests={least}; raise it, or "
                "set one of them to 0."
            )
        if config.deterministic:
            check_one_batch(config)
        preemption = config.distributed.preemption
        if preemption == "none":
            return
        if cls.always_overlaps:
            raise UserError(
                f"system={config.system} goes with full rollouts only; set "
                f"distributed.preemption=none, found {preemption}."
            )
        if config.collect.overlap:
            raise UserError(
                f"collect.overlap=true goes with full rollouts only, found distributed.preemption="
                f"{preemption}; set one of them back."
            )

    @classmethod
    def why_runs_differ(cls, config: TrainerConfig) -> str:
        """Names what depends on who comes first, if anything does."""
        collect = config.collect
        if collect.overlap or cls.always_overlaps:
            return "experience is collected beside learning"
        if collect.num_inference_workers > 1:
            return "several processes decide, each for whoever asks"
        if config.distributed.preemption != "none":
            return "rollouts end early by the clock"
        if cls.batch_limits(config).minimum < collect.num_environments:
            return "a batch holds whoever has asked by then"
        return ""

    @staticmethod
    def batch_limits(config: TrainerConfig) -> BatchLimits:
        """Chooses the bounds of dynamic batching."""
        return batch_limits(config)

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Seconds so far by kind of work."""
        return self.engine.seconds

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Fills the buffer as `Collector` says; with overlap the other one than before."""
        self._control["version"][0] = version
        self._next_buffer()
        buffer = self.buffer
        buffer.begin(may_end_early=preemption is not None)
        self.engine.replay()
        if preemption is not None:
            preemption.begin()
        self._let_collect()
        early = False
        while not buffer.full:
            self.engine.serve(_REPORT_INTERVAL_S if preemption is None else _PREEMPTION_INTERVAL_S)
            if preemption is not None and not early and preemption.due():
                early = buffer.end_early()
            if time.perf_counter() - self._reported_at > _REPORT_INTERVAL_S:
                self._read_reports()
                self._check_workers()
                if not keep_going():
                    return False
            if not buffer.remaining and not buffer.full:
                time.sleep(0.0002)  # another process is still writing its last batch
        self._control["collecting"][0] = 0
        if preemption is not None:
            preemption.end(not early)
        self._read_reports()
        self._actions.record(buffer)
        return True

    def _next_buffer(self) -> None:
        """With overlap, goes on in the other rollout, where the newest steps are copied to."""
        if len(self._buffers) == 1 or (self.buffer.newest < 0).any():
            return
        if not self.buffer.full:
            return  # restored, and not yet collected
        active = 1 - int(self._control["active"][0])
        put_newest_steps(self._buffers[active], newest_steps(self.buffer))
        self._control["active"][0] = active
        self.buffer = self.engine.buffer = self._buffers[active]
        self._environments.attach(self.buffer)

    @torch.no_grad()
    def copy_weights(self) -> None:
        """Hands the learner's weights to the acting policy; only between rollouts."""
        if self._acting is self._policy:
            return
        learned = self._policy.state_dict()
        for name, tensor in self._acting.state_dict(keep_vars=True).items():
            tensor.data.copy_(learned[name])

    def capture(self) -> InFlight:
        """Copies what is under way after a full rollout; a checkpoint keeps it."""
        return {
            **newest_steps(self.buffer),
            **self._actions.capture(),
            "held_back": torch.from_numpy(self._held_back.copy()),
            "episodes_reported": torch.from_numpy(self._environments.episodes_reported.copy()),
        }

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""
        episodes, self._environments.episodes = self._environments.episodes, []
        # They come as workers are quick. Where all take each step together its order is the same in every
        # run; elsewhere it would put those of the quickest environments last
        if not self.why_runs_differ(self.config):
            episodes.sort(key=lambda episode: episode[:2])
        return [metrics for _, _, metrics in episodes]

    def close(self) -> None:
        """Ends all worker processes."""
        if self.inference_workers is not None:
            self.inference_workers.close()
        self._environments.close()

    def _let_collect(self) -> None:
        """Lets inference workers act, once the new weights are all there: they look up by themselves, too."""
        if self.buffer.device.type == "cuda":
            torch.cuda.synchronize(self.buffer.device)
        self._control["collecting"][0] = 1
        self._wake_inference_workers()

    def _wake_inference_workers(self) -> None:
        if self.inference_workers is not None:
            self.inference_workers.wake()

    def _check_workers(self) -> None:
        """Replaces environment workers that hang; an inference worker that hangs ends the run."""
        self._environments.check()
        if self.inference_workers is not None:
            collect = self.config.collect
            self.inference_workers.check(collect.startup_timeout_s, collect.step_timeout_s)

    def _await_ready(self, keep_going: Callable[[], bool]) -> None:
        assert self.inference_workers is not None
        while self._environments.not_ready or self.inference_workers.not_ready:
            self._read_reports(0.1)
            self._check_workers()
            if not keep_going():
                return
        self._environments.started()

    def _read_reports(self, timeout_s: float = 0.0) -> None:
        environments = self._environments.connections
        workers = self.inference_workers
        inference = {} if workers is None else workers.connections
        for connection in wait([*environments, *inference], timeout_s):
            if connection in environments:
                self._environments.read(connection)  # pyright: ignore
            elif workers is not None:
                workers.read(connection)  # pyright: ignore
        self._reported_at = time.perf_counter()


def batch_limits(config: TrainerConfig) -> BatchLimits:
    """Chooses the bounds of dynamic batching.

    Automatic bounds follow the VER implementation: with n_iw inference processes, between
    N / n_iw / 1.5 and 1.5 N / n_iw requests, except that one process alone takes whatever one
    environment worker sends, so that inference for one worker overlaps with another's simulation;
    with a single worker, whatever half of its environments send. Deterministic ones await all.
    """
    collect = config.collect
    if config.deterministic:
        return BatchLimits(collect.num_environments, collect.num_environments, 0.0)
    share = collect.num_environments / collect.num_inference_workers
    minimum = collect.min_requests or max(1, int(share / 1.5))
    maximum = collect.max_requests or max(minimum, int(np.ceil(1.5 * share)))
    if not collect.min_requests and collect.num_inference_workers == 1:
        per_worker = min(collect.environments_per_worker, collect.num_environments)
        single = per_worker == collect.num_environments
        minimum = min(minimum, max(1, per_worker // 2) if single else per_worker)
    return BatchLimits(min(minimum, maximum), maximum, collect.max_wait_ms * 1e-3)


def check_one_batch(config: TrainerConfig) -> None:
    """Refuses bounds of inference batches where one batch holds all environments.

    Raises:
        UserError: In one line that names the mend.
    """
    collect = config.collect
    how = "deterministic=true" if config.deterministic else f"system={config.system}"
    for name in ("min_requests", "max_requests"):
        if getattr(collect, name) not in (0, collect.num_environments):
            raise UserError(
                f"{how} decides for all environments in one batch; set "
                f"collect.{name}=0, found {getattr(collect, name)}."
            )


SYSTEMS = {"ver": VERCollector}
