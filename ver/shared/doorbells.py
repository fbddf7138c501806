"""Event doorbells: wake-ups between processes, of which nothing has a name in the file system.

A sender sets flags in shared memory and rings once: a burst of messages costs one system call.

The writer stores data before it sets a flag. x86 keeps stores in order; on other machines the
doorbell's system call, which both sides make, is the barrier in all but the rarest interleavings.
"""

from __future__ import annotations

import os
import select
import sys
from typing import Any

from ver.shared.arrays import duplicate_for_child

_ONE = (1).to_bytes(8, sys.byteorder)


class Doorbell:
    """A wake-up for one or several waiting processes; rings before a wait are not lost.

    Args:
        patient: One process alone waits, and where the kernel counts events it waits for as long as
            it takes, which is one system call instead of two. It must die with its parent.
    """

    def __init__(self, patient: bool = False):
        self._patient = patient and hasattr(os, "eventfd")
        if hasattr(os, "eventfd"):
            blocks = 0 if self._patient else os.EFD_NONBLOCK
            descriptor = os.eventfd(0, blocks | os.EFD_CLOEXEC)
            self._attach(descriptor, descriptor)
        else:
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            os.set_blocking(writer, False)
            self._attach(reader, writer)

    def _attach(self, reader: int, writer: int) -> None:
        self._reader = reader
        self._writer = writer
        self._poll = select.poll()
        self._poll.register(reader, select.POLLIN)

    def ring(self) -> None:
        """Wakes a waiter, or the next one to wait."""
        try:  # noqa: SIM105 - lockstep rings sixteen times in a row, and `suppress` takes its time
            os.write(self._writer, _ONE)
        except BlockingIOError:
            pass  # so many unread rings that one more says nothing new

    def wait(self, timeout_s: float) -> bool:
        """Waits for a ring and takes it; returns whether there was one."""
        if self._patient:
            os.read(self._reader, 8)
            return True
        # poll rounds down to milliseconds, and 0 would spin instead of waiting.
        if not self._poll.poll(max(1, round(timeout_s * 1e3)) if timeout_s > 0 else 0):
            return False
        try:
            os.read(self._reader, 8)
        except BlockingIOError:
            return False  # another waiter was faster
        return True

    def __reduce__(self) -> Any:
        same = self._reader == self._writer
        writer = None if same else duplicate_for_child(self._writer)
        return _rebuild_doorbell, (duplicate_for_child(self._reader), writer, self._patient)

    def __del__(self) -> None:
        for descriptor in {getattr(self, "_reader", -1), getattr(self, "_writer", -1)} - {-1}:
            os.close(descriptor)


def _rebuild_doorbell(reader: Any, writer: Any, patient: bool) -> Doorbell:
    bell = Doorbell.__new__(Doorbell)
    bell._patient = patient
    first = reader.detach()
    bell._attach(first, first if writer is None else writer.detach())
    return bell
