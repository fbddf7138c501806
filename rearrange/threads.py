"""Threads that share the work on many worlds: what is compiled, or MuJoCo's, runs without Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

PARTS = 4  # into which rows are cut for each thread: some take longer
Work = Callable[[int, int], None]  # of a part, and of the thread that does it, from 0


def processors() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cores() -> int:
    """Processor cores for this process; of several that torchrun has started here, its share."""
    return max(1, processors() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


class Threads:
    """A pool that balances itself: who is done with a part takes the next one.

    Attributes:
        count: Threads, of which the caller's is one.
    """

    def __init__(self, count: int = 1) -> None:
        """Start nothing yet."""
        self.count = max(1, count)
        self._pool: ThreadPoolExecutor | None = None

    def each(self, work: Work, parts: int) -> None:
        """Do every part once, in whatever order; raises what the work raises once all have ended."""
        if self.count == 1 or parts <= 1:
            for part in range(parts):
                work(part, 0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count - 1, "worlds")
        left = iter(range(parts))  # whose next number only one thread gets

        def run(thread: int) -> None:
            for part in left:
                work(part, thread)

        others = [self._pool.submit(run, thread) for thread in range(1, min(self.count, parts))]
        try:
            run(0)
        finally:
            wait(others)
        for other in others:
            other.result()

    def rows(self, work: Callable[[slice], None], count: int) -> None:
        """Do all of `count` rows once, some at a time; raises as `each`."""
        parts = 1 if self.count == 1 else max(1, min(PARTS * self.count, count))
        edges = [count * part // parts for part in range(parts + 1)]

        def some(part: int, thread: int) -> None:
            del thread
            work(slice(edges[part], edges[part + 1]))

        self.each(some, parts)

    def close(self) -> None:
        """End the threads; safe to call twice."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


ALONE = Threads()  # the caller's
