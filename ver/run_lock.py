"""A run directory belongs to one training at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ver.errors import UserError, WriteError


class RunLock:
    """Holds a run directory while a training writes into it; the system lets go if that is killed."""

    def __init__(self, directory: Path) -> None:
        """Take hold, and make the directory if need be.

        Raises:
            UserError: Another training holds it.
            WriteError: It cannot be written.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(directory / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise WriteError(f"cannot write {directory / 'lock'}: {error.strerror}") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise UserError(
                f"another training writes into {directory}: stop it, or give another run directory"
            ) from None

    def release(self) -> None:
        """Let go."""
        os.close(self._descriptor)

    def __enter__(self) -> RunLock:
        """Hold it for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go."""
        self.release()
