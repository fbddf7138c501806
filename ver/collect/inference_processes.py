"""The inference worker processes: starting and ending them.

One that fails ends the run, with a checkpoint: it may leave claimed requests and half-written slots
behind. The same command goes on from there.
"""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess

import torch

from ver.collect.inference import BatchLimits, SharedWeights
from ver.collect.inference_worker import InferenceWorkerSpec, run_inference_worker
from ver.collect.processes import start_process, stop_process
from ver.collect.queues import Doorbell
from ver.collect.shared_memory import SharedArrays
from ver.collect.transfer import Transfer
from ver.errors import WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer


class InferenceProcesses:
    """The processes that help the main one with inference.

    Args:
        count: How many.
        policy: Acts; its weights move to memory shared with the helpers.
        buffers: The rollouts; `control["active"]` says which is being collected.
        transfer: Requests and actions.
        control: Flags, see `InferenceWorkerSpec`.
        limits: Bounds of the batches.
        threads: Computing threads of each.
    """

    def __init__(
        self,
        count: int,
        policy: ActorCritic,
        buffers: list[RolloutBuffer],
        transfer: Transfer,
        control: SharedArrays,
        limits: BatchLimits,
        threads: int,
    ):
        self.connections: dict[Connection, BaseProcess] = {}
        self.not_ready = count
        self._wakes: list[Doorbell] = []
        self._control = control
        if not count:
            return
        self._weights = SharedWeights(policy)
        self._weights.bind(policy)
        for number in range(1, count + 1):
            receiver, sender = Pipe(duplex=False)
            wake = Doorbell()
            self._wakes.append(wake)
            spec = InferenceWorkerSpec(
                name=f"inference worker {number}",
                observation_space=policy.observation_space,
                action_space=policy.action_space,
                network=policy.network_config,
                weights=self._weights,
                buffers=buffers,
                transfer=transfer,
                control=control,
                limits=limits,
                wake=wake,
                reports=sender,
                threads=threads,
                # Drawn, so that a resumed run does not repeat the noise of its beginning.
                seed=int(torch.randint(2**31, ())),
                parent=os.getpid(),
            )
            process = start_process(spec.name, run_inference_worker, spec)
            sender.close()
            self.connections[receiver] = process

    def wake(self) -> None:
        """Tells the helpers that `control` has changed."""
        for bell in self._wakes:
            bell.ring()

    def read(self, connection: Connection) -> None:
        """Reads one helper's reports.

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

    def close(self, grace_s: float = 3.0) -> None:
        """Ends all helpers."""
        self._control["stop"][0] = 1
        self.wake()
        deadline = time.monotonic() + grace_s
        for connection, process in self.connections.items():
            stop_process(process, max(0.0, deadline - time.monotonic()))
            connection.close()
        self.connections.clear()


def make_control(num_environments: int) -> SharedArrays:
    """Allocates the flags that the main process and its helpers share."""
    return SharedArrays(
        {
            "version": ((1,), "int64"),
            "active": ((1,), "int64"),
            "collecting": ((1,), "uint8"),
            "stop": ((1,), "uint8"),
            "held_back": ((num_environments,), "uint8"),
        }
    )
