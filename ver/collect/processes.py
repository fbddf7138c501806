"""Starting worker processes that never outlive the trainer."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any

from ver.errors import UserError, WorkerCrashError

_PR_SET_PDEATHSIG = 1
_LONGEST_LOOK_S = 1.0
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def die_with_parent(parent: int) -> None:
    """Asks the kernel to kill this process when its parent dies, by whatever signal.

    Processes are spawned, not forked by a fork server: the server would be their parent, and it
    lives on for as long as they do.

    Args:
        parent: The parent's process id, to notice that it died before we asked.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def enter_worker(parent: int) -> None:
    """Prepares a fresh worker process: dies with its parent, to which it leaves all signals.

    A terminal and SLURM signal the whole process group; the trainer ends its workers itself.
    """
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def describe_error(error: BaseException) -> tuple[str, str]:
    """Returns an exception in one line, and the end of its traceback.

    Both are cut so that a report of them goes through a pipe in one piece (4,096 bytes): a worker
    that is stopped in the middle of a longer one would leave the trainer waiting for the rest.
    """
    line = f"{type(error).__name__}: {error}"[:300]
    return line, "".join(traceback.format_exception(error))[-3000:]


@contextmanager
def one_line_errors(what: str) -> Iterator[None]:
    """Turns what environments in this process raise at their start into a WorkerCrashError."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        line, detail = describe_error(error)
        raise WorkerCrashError(
            f"{what} cannot be started: {line}; mend it, the same command goes on from the checkpoint.",
            detail,
        ) from error


def start_process(name: str, target: Callable[..., None], argument: Any) -> SpawnProcess:
    """Spawns `target(argument)` with one computing thread.

    Raises:
        UserError: If the argument, such as an environment factory, cannot be pickled.
    """
    process = SpawnContext().Process(target=target, args=(argument,), name=name, daemon=True)
    factory = getattr(argument, "make_env", None)
    with _single_threaded(), _without_main_module(factory), without_interrupts():
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UserError(
                f"make_env cannot be sent to {name}: {error}; use a function or class instance "
                "defined at the top of an importable module."
            ) from error
    return process


def stop_process(process: BaseProcess, grace_s: float) -> None:
    """Waits a little for a process to end by itself, then ends it."""
    process.join(grace_s)
    if process.is_alive():
        process.kill()
        process.join(5.0)


class Watch:
    """Time in which something has not moved, as far as this process has looked.

    Between two looks at most a second counts: all may have been suspended together.
    """

    def __init__(self) -> None:
        self._seen: object = None
        self._still_s = 0.0
        self._looked_at = time.monotonic()

    def still_s(self, now_seen: object) -> float:
        """Looks, and returns for how long this has been the same; what is seen first counts as seen before."""
        now = time.monotonic()
        passed, self._looked_at = min(now - self._looked_at, _LONGEST_LOOK_S), now
        self._still_s = self._still_s + passed if self._seen in (None, now_seen) else 0.0
        self._seen = now_seen
        return self._still_s


def cores() -> int:
    """Returns how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _single_threaded() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Keeps Ctrl-C from children that are started meanwhile: while they import they would each tell of it."""
    resource_tracker.ensure_running()  # else the first start begins it, which unblocks signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main_module(factory: Any) -> Iterator[None]:
    """Keeps a spawned child from importing the trainer's script, and torch with it.

    A factory that is defined in the script itself needs the import, and gets it.
    """
    main = sys.modules["__main__"]
    if _lives_in_main(factory):
        yield
        return
    saved = {name: getattr(main, name, None) for name in ("__spec__", "__file__")}
    had_file = hasattr(main, "__file__")
    main.__spec__ = None
    if had_file:
        del main.__file__
    try:
        yield
    finally:
        main.__spec__ = saved["__spec__"]
        if had_file:
            main.__file__ = saved["__file__"]


def _lives_in_main(factory: Any) -> bool:
    if factory is None:
        return False
    try:
        return b"__main__" in pickle.dumps(factory)
    except Exception:
        return True  # starting the process will say what is wrong
