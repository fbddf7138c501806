"""Locks between processes that no crash leaves locked."""

from __future__ import annotations

import fcntl
import os
from typing import Any

from ver.shared.arrays import anonymous_file, duplicate_for_child


class ProcessLock:
    """Mutual exclusion between processes; the kernel frees it when its holder dies.

    It does not exclude threads of one process.

    Attributes:
        descriptor: Of the file whose first byte is locked.
    """

    def __init__(self):
        self.descriptor = anonymous_file(1)

    def __enter__(self) -> ProcessLock:
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX, 1)
        return self

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
