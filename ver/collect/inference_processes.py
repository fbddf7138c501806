"""The inference worker processes: starting and ending them.

One that fails or hangs ends the run, with a checkpoint: it may leave claimed requests and
half-written slots behind. The same command goes on from there.
"""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess

import torch

from ver.collect.inference import BatchLimits
from ver.collect.inference_worker import InferenceWorkerSpec, run_inference_worker
from ver.collect.mailboxes import Mailboxes
from ver.collect.processes import Watch, start_process, stop_process
from ver.collect.shared_weights import SharedWeights
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.arrays import SharedArrays
from ver.shared.doorbells import Doorbell

_LEAST_LIMIT_S = 3.0  # one that waits turns once a second


class InferenceProcesses:
    """The processes that help the main one with inference.

    Args:
        count: How many.
        policy: Acts; its weights move to memory shared with the workers.
        buffers: The rollouts; `control["active"]` says which is being collected.
        mailboxes: Requests and actions.
        control: Flags, see `InferenceWorkerSpec`.
        limits: Bounds of the batches.
        threads: Computing threads of each.
    """

    def __init__(
        self,
        count: int,
        policy: ActorCritic,
        buffers: list[RolloutBuffer],
        mailboxes: Mailboxes,
        control: SharedArrays,
        limits: BatchLimits,
        threads: int,
    ):
        self.connections: dict[Connection, BaseProcess] = {}
        self._watches: list[tuple[int, BaseProcess, Watch]] = []
        self.not_ready = count
        self._wakes: list[Doorbell] = []
        self._control = control
        if not count:
            return
        self._weights = SharedWeights(policy)
        self._weights.bind(policy)
        for number in range(count):
            receiver, sender = Pipe(duplex=False)
            wake = Doorbell()
            self._wakes.append(wake)
            spec = InferenceWorkerSpec(
                name=f"inference worker {number + 1}",
                number=number,
                observation_space=policy.observation_space,
                action_space=policy.action_space,
                network=policy.network_config,
                weights=self._weights,
                buffers=buffers,
                mailboxes=mailboxes,
                control=control,
                limits=limits,
                wake=wake,
                reports=sender,
                threads=threads,
                # Drawn, so that a resumed run does not repeat the noise of its beginning.
                seed=int(torch.randint(2**31, ())),
                parent=os.getpid(),
            )
            process = _start(spec)
            sender.close()
            self.connections[receiver] = process
            self.watch(number, process)

    def watch(self, number: int, process: BaseProcess) -> None:
        """Looks out for a worker that hangs, with every `check` from now on."""
        self._watches.append((number, process, Watch()))

    def wake(self) -> None:
        """Tells the workers that `control` has changed."""
        for bell in self._wakes:
            bell.ring()

    def read(self, connection: Connection) -> None:
        """Reads one worker's reports.

        Raises:
            WorkerCrashError: If it failed or died.
        """
        process = self.connections[connection]
        try:
            while connection.poll():
                kind, subject, content = connection.recv()
                if kind == "error":
                    raise WorkerCrashError(f"{process.name} failed: {subject}", content)
                self.not_ready -= 1
        except (EOFError, OSError):
            process.join(1.0)
            raise WorkerCrashError(
                f"{process.name} died without a word (exit code {process.exitcode}); was it "
                "killed, or out of memory? The same command goes on from the checkpoint."
            ) from None

    def check(self, startup_timeout_s: float, step_timeout_s: float) -> None:
        """Ends a worker that hangs, and the run with it.

        Args:
            startup_timeout_s: How long one may take to be ready.
            step_timeout_s: How long one may take for a batch; 0 waits for ever.

        Raises:
            UserError: If one is not ready in time.
            WorkerCrashError: If one hangs.
        """
        for number, process, watch in self._watches:
            turns = int(self._control["turns"][number])
            still_s, name = watch.still_s(turns), process.name
            if not turns and still_s > startup_timeout_s:
                raise UserError(
                    f"{name} was not ready after {startup_timeout_s:g} s; raise "
                    "collect.startup_timeout_s, or take fewer with collect.num_inference_workers."
                )
            limit = max(step_timeout_s, _LEAST_LIMIT_S)
            if turns and step_timeout_s > 0.0 and still_s > limit:
                process.kill()
                raise WorkerCrashError(
                    f"{name} hung for more than {limit:g} s (collect.step_timeout_s). The same "
                    "command goes on from the checkpoint."
                )

    def close(self, grace_s: float = 3.0) -> None:
        """Ends all workers."""
        self._control["stop"][0] = 1
        self.wake()
        deadline = time.monotonic() + grace_s
        for connection, process in self.connections.items():
            stop_process(process, max(0.0, deadline - time.monotonic()))
            connection.close()
        self.connections.clear()


def _start(spec: InferenceWorkerSpec) -> BaseProcess:
    """Starts a worker; raises a UserError where a GPU's memory cannot be shared, as on virtual machines."""
    try:
        return start_process(spec.name, run_inference_worker, spec)
    except RuntimeError as error:
        line = str(error).strip().partition("\n")[0][:200]
        raise UserError(
            f"memory of {spec.weights.device} cannot be shared with {spec.name} ({line}); set "
            "collect.num_inference_workers=1."
        ) from error


def make_control(num_environments: int, workers: int) -> SharedArrays:
    """Allocates the flags that the main process and the inference workers share."""
    return SharedArrays(
        {
            "version": ((1,), "int64"),
            "active": ((1,), "int64"),
            "collecting": ((1,), "uint8"),
            "stop": ((1,), "uint8"),
            "held_back": ((num_environments,), "uint8"),
            "turns": ((workers,), "int64"),
        }
    )
