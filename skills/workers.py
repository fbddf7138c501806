"""Cases that are played in worker processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import torch

from rearrange.errors import UserError
from ver.collect.processes import die_with_parent, without_interrupts

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
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(parent: int, make: Callable[[], Any]) -> None:
    global _make
    die_with_parent(parent)
    torch.set_num_threads(1)
    _make = make


def _play(case: tuple[Any, ...]) -> Any:
    # Made here: what an initializer raises would not reach the parent as it is.
    global _player
    if _player is None:
        _player = _make()
    return _player.play(*case)
