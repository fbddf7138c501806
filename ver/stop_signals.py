"""Signals that end a training run."""

from __future__ import annotations

import math
import signal
import threading
import time
from types import FrameType
from typing import Any

_LEARNING_GRACE_S = 15.0


class StopSignals:
    """Listens to SIGINT and SIGTERM in a `with` block in the main thread; elsewhere to nothing.

    Collection stops at the first signal. What is being learned is finished, unless it takes long
    or a second signal comes.
    """

    def __init__(self):
        self._count = 0
        self._learn_until = math.inf  # monotonic time
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @property
    def heard(self) -> bool:
        """True once there was a signal."""
        return self._count > 0

    @property
    def urgent(self) -> bool:
        """True once learning, too, must end."""
        return time.monotonic() >= self._learn_until

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._count += 1
        patience = _LEARNING_GRACE_S if self._count == 1 else 0.0
        self._learn_until = time.monotonic() + patience
