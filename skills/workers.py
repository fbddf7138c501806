"""Cases that are played in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from types import FrameType
from typing import Any, NoReturn

import torch

from rearrange.errors import UserError
from ver.collect.processes import die_with_parent, stop_process, without_interrupts

GRACE_S = 5.0  # for a worker to end what it writes
_make: Callable[[], Any]  # of this worker process
_player: Any = None


def play_in_workers(
    make: Callable[[], Any], cases: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[Any]:
    """Yield the cases' results, in the order in which they end.

    Args:
        make: Makes a process's player, whose `play` plays a case; picklable. Where it has a `close`, that
            is called at the end of what is played in this process.
        cases: Arguments of `play`.
        workers: Processes; one is this process itself.

    Raises:
        UserError: A worker died. What `make` or `play` raises comes as it is.
    """
    workers = min(workers, len(cases))
    if workers == 1:
        torch.set_num_threads(1)  # more only wait for each other on so small networks
        player = make()
        try:
            yield from (player.play(*case) for case in cases)
        finally:
            if hasattr(player, "close"):
                player.close()
        return
    # spawn: forking a process that has run threads (numba, torch) can hang the child.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _start, (os.getpid(), make))
    try:
        # Ctrl-C is for this process alone: it ends the others, which would each tell of it.
        with without_interrupts():
            futures = [pool.submit(_play, case) for case in cases]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool:
        raise UserError(
            "a worker process died, perhaps for want of memory: ask for fewer --workers"
        ) from None
    except (KeyboardInterrupt, GeneratorExit):  # nobody waits for the cases that are played
        children = multiprocessing.active_children()
        for process in children:
            process.terminate()
        for process in children:
            stop_process(process, GRACE_S)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(parent: int, make: Callable[[], Any]) -> None:
    global _make
    die_with_parent(parent)
    signal.signal(signal.SIGTERM, _leave)
    torch.set_num_threads(1)
    _make = make


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Leave a case so that what it writes, as a film, is ended or removed."""
    del frame
    signal.signal(number, signal.SIG_IGN)  # the pool sends it once more
    raise SystemExit(1)


def _play(case: tuple[Any, ...]) -> Any:
    # Made here: what an initializer raises would not reach the parent as it is.
    global _player
    try:
        if _player is None:
            _player = _make()
        return _player.play(*case)
    except SystemExit:  # the pool would go on with the next case
        os._exit(1)
