"""Locks between processes that no crash leaves locked."""

from __future__ import annotations

import fcntl
import os
import time
from typing import Any

from ver.errors import WorkerCrashError
from ver.shared.arrays import anonymous_file, duplicate_for_child

_LOOK_S = 5e-5  # between two looks at a lock that somebody holds
_LONGEST_LOOK_S = (
    0.1  # of one that took longer this much counts: whoever waits was suspended itself
)


class ProcessLock:
    """Mutual exclusion between processes; the kernel frees it when its holder dies.

    It does not exclude threads of one process.

    Attributes:
        descriptor: Of the file whose first byte is locked.
        patience_s: How long this process waits for it; 0 waits for ever. Other processes have their own.
    """

    patience_s = 0.0

    def __init__(self):
        self.descriptor = anonymous_file(1)

    def __enter__(self) -> ProcessLock:
        if self.patience_s > 0.0:
            self._wait()
        else:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX, 1)
        return self

    def _wait(self) -> None:
        """Takes the lock; raises a WorkerCrashError where its holder, a process that was stopped, keeps it."""
        waited, now = 0.0, time.monotonic()
        while True:
            try:
                fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
            except OSError:
                time.sleep(_LOOK_S)
            else:
                return
            before, now = now, time.monotonic()
            waited += min(now - before, _LONGEST_LOOK_S)
            if waited > self.patience_s:
                raise WorkerCrashError(
                    f"a process has held the rollout's lock for more than {self.patience_s:g} s "
                    "(collect.step_timeout_s). The same command goes on from the checkpoint."
                )

    def __exit__(self, *exc: object) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN, 1)

    def __reduce__(self) -> Any:
        return _rebuild_lock, (duplicate_for_child(self.descriptor),)

    def __del__(self) -> None:
        descriptor = getattr(self, "descriptor", None)
        if descriptor is not None:
            os.close(descriptor)


def _rebuild_lock(duplicate: Any) -> ProcessLock:
    lock = ProcessLock.__new__(ProcessLock)
    lock.descriptor = duplicate.detach()
    return lock
