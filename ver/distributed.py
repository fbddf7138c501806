"""Several processes that train one policy: who they are, and the few things that they exchange.

Processes are started by torchrun, which says through environment variables who is who. Each rank
collects and learns from its own experience; gradients are averaged before every update, so that
all ranks hold the same parameters. There is no engine here: every method is a `torch.distributed`
call or two. A run with one process gets `SingleProcess`, whose methods cost nothing.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from ver.config import DistributedConfig
from ver.errors import UserError

_LISTEN_INTERVAL_S = 0.1  # seconds between looks at whether another rank wants to stop


class SingleProcess:
    """A run of one process, and what a group of several has to offer.

    Attributes:
        rank: This process's number.
        size: Number of processes.
        local_size: Number of processes on this machine.
    """

    rank = 0
    size = 1
    local_size = 1

    @property
    def main(self) -> bool:
        """True on the one rank that writes checkpoints, logs and the dashboard."""
        return self.rank == 0

    def average(self, gradients: Sequence[Tensor], numbers: dict[str, float]) -> dict[str, float]:
        """Averages gradients, in place, and numbers over all ranks.

        Args:
            gradients: Tensors of the same shapes on every rank.
            numbers: The same keys on every rank.

        Returns:
            The averaged numbers.
        """
        return numbers

    def gather(self, value: Any) -> list[Any]:
        """Returns the JSON-able values of all ranks, by rank; waits for all of them."""
        return [value]

    def ask_main(self, question: Callable[[], Any]) -> Any:
        """Returns on every rank what a function answers on rank 0, where alone it is called.

        Args:
            question: Its answer is JSON-able.

        Raises:
            UserError: On every rank, if the function raises one.
        """
        answer, refused = None, None
        if self.main:
            try:
                answer = question()
            except UserError as error:
                refused = error
        answer, message = self.gather([answer, None if refused is None else str(refused)])[0]
        if message is not None:
            raise refused or UserError(message)
        return answer

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Overwrites tensors with rank 0's, in place."""

    def any(self, flag: bool) -> bool:
        """Returns whether the flag is up on any rank; waits for all of them."""
        return flag

    def hears_stop(self, wanted: bool) -> bool:
        """Returns whether any rank is known to want to stop; waits for nobody.

        Ranks learn of it at different moments, so it may end only what needs no other rank.
        """
        return wanted

    def agrees_to_stop(self, wanted: bool) -> bool:
        """Returns whether all ranks know that one wants to stop: the same answer on each.

        A wish is passed on with the next `average`.
        """
        return wanted

    def count(self, name: str, more: int) -> int:
        """Adds to a counter that all ranks share, without waiting, and returns its value."""
        raise NotImplementedError("One process has nobody to share a counter with.")

    def forget_counter(self, name: str) -> None:
        """Removes a shared counter that no rank will ask for again."""


class ProcessGroup(SingleProcess):
    """All processes of a torchrun, over gloo; gradients on GPUs of their own go over NCCL.

    Args:
        device: cpu or cuda.
        timeout_s: How long to wait for another rank before giving it up for lost.

    Raises:
        UserError: If the ranks do not find each other.
    """

    def __init__(self, device: str, timeout_s: float):
        self.rank = int(os.environ["RANK"])
        self.size = int(os.environ["WORLD_SIZE"])
        self.local_size = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        self._stop_wanted = self._stop_agreed = self._stop_told = False
        self._listened_at = 0.0
        # Its functions keep the group that there is when they are imported, as the first optimizer does. Then
        # gloo's threads would outlive the group, and abort the process that ends while they free a message.
        import_module("torch.distributed.nn.functional")
        timeout = timedelta(seconds=timeout_s)
        with self._or_lost():
            store, _, _ = next(rendezvous("env://", timeout=timeout))
            store.set_timeout(timeout)
            # Torchrun's store outlives a restart, and with it what dead processes left there.
            attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            self._store = dist.PrefixStore(f"ver/{attempt}", store)  # pyright: ignore
            dist.init_process_group(
                "gloo",
                store=self._store,
                rank=self.rank,
                world_size=self.size,
                timeout=timeout,
            )
            # NCCL wants a GPU for every rank; ranks that share one get by with gloo.
            own_gpu = device != "cpu" and torch.cuda.device_count() >= self.local_size
            self._gradients = dist.new_group(backend="nccl", timeout=timeout) if own_gpu else None
        atexit.register(_leave)

    def average(self, gradients: Sequence[Tensor], numbers: dict[str, float]) -> dict[str, float]:
        """Averages gradients, in place, and numbers in one message."""
        # One message: a second one would cost as much again in latency.
        first = gradients[0]
        extra = first.new_tensor([*numbers.values(), float(self._stop_wanted)])
        flat = torch.cat([*(gradient.reshape(-1) for gradient in gradients), extra])
        with self._or_lost():
            dist.all_reduce(flat, group=self._gradients)
        flat /= self.size
        parts = flat.split([*(gradient.numel() for gradient in gradients), len(extra)])
        for gradient, part in zip(gradients, parts[:-1], strict=True):
            gradient.copy_(part.view(gradient.shape))
        *means, stop = parts[-1].tolist()
        self._stop_agreed = self._stop_agreed or stop > 0
        return dict(zip(numbers, means, strict=True))

    def gather(self, value: Any) -> list[Any]:
        """Returns the JSON-able values of all ranks, by rank."""
        data = torch.frombuffer(bytearray(json.dumps(value), "utf-8"), dtype=torch.uint8)
        sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        size = torch.tensor([len(data)])
        with self._or_lost():
            dist.all_gather(sizes, size)
            lengths = [int(size) for size in sizes]
            padded = torch.zeros(max(lengths), dtype=torch.uint8)
            padded[: len(data)] = data
            rows = [torch.empty_like(padded) for _ in range(self.size)]
            dist.all_gather(rows, padded)
        return [
            json.loads(row[:length].numpy().tobytes())
            for row, length in zip(rows, lengths, strict=True)
        ]

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Overwrites tensors with rank 0's, in place."""
        with self._or_lost():
            for tensor in tensors:
                dense = tensor.detach().contiguous()
                dist.broadcast(dense, 0)
                tensor.detach().copy_(dense)

    def any(self, flag: bool) -> bool:
        """Returns whether the flag is up on any rank."""
        raised = torch.tensor([int(flag)])
        with self._or_lost():
            dist.all_reduce(raised, dist.ReduceOp.MAX)
        return bool(raised)

    def hears_stop(self, wanted: bool) -> bool:
        """Tells the others through the store, and looks there now and then."""
        if wanted and not self._stop_told:
            self._stop_told = self.count("stop", 1) > 0
        now = time.monotonic()
        if not self._stop_told and now - self._listened_at > _LISTEN_INTERVAL_S:
            self._listened_at = now
            self._stop_told = self.count("stop", 0) > 0
        return self._stop_told

    def agrees_to_stop(self, wanted: bool) -> bool:
        """Remembers the wish; returns what the last `average` said."""
        self._stop_wanted = self._stop_wanted or wanted
        return self._stop_agreed

    def count(self, name: str, more: int) -> int:
        """Adds to a counter in the store."""
        with self._or_lost():
            return self._store.add(name, more)

    def forget_counter(self, name: str) -> None:
        """Removes a counter from the store."""
        with self._or_lost():
            self._store.delete_key(name)

    @contextmanager
    def _or_lost(self) -> Iterator[None]:
        """Turns whatever torch says when a rank is gone into one line."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            # Torch begins with the place in its source, and goes on with guesses.
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            reason = re.sub(r"^\[\S+\]\s*", "", line).partition(". ")[0][:200]
            raise UserError(
                f"Rank {self.rank} lost the other processes of the run ({reason}); the same "
                "command goes on from the last checkpoint, and torchrun --max-restarts does so "
                "by itself."
            ) from None


def _leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


_joined: list[ProcessGroup] = []  # a process can join its torchrun only once


def world_size() -> int:
    """Number of processes of this torchrun; 1 without one."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def join_group(device: str, config: DistributedConfig) -> SingleProcess:
    """Meets the other processes of this torchrun, if there are any.

    Args:
        device: cpu or cuda; on a machine with several GPUs each rank takes its own.
        config: Settings.

    Raises:
        UserError: If the settings do not fit the way in which the process was started.
    """
    if world_size() == 1:
        if config.preemption != "none" and "WORLD_SIZE" not in os.environ:
            raise UserError(
                f"distributed.preemption={config.preemption} needs several processes; start with "
                "torchrun --nproc-per-node 2, or leave it out."
            )
        return SingleProcess()
    if device != "cpu" and torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    if not _joined:
        _joined.append(ProcessGroup(device, config.timeout_s))
    return _joined[0]


def average_dictionaries(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Returns the mean of every key over the dictionaries that have it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: sum(each) / len(each) for name, each in values.items()}
