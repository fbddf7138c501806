"""Arrays shared between processes, in memory that has no name.

A block is a `memfd`: it lives as long as some process holds its descriptor, so even `kill -9` of
everything leaves nothing behind in /dev/shm. A block is handed to a child only while the child is
being started, as an argument of its `Process`.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from multiprocessing import reduction
from multiprocessing.context import get_spawning_popen
from typing import Any

import numpy as np

Spec = dict[str, tuple[tuple[int, ...], str]]

_ALIGNMENT = 64  # one cache line, so that neighbours do not share one


def anonymous_file(size: int) -> int:
    """Returns a descriptor of `size` zero bytes that no path leads to."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("ver", os.MFD_CLOEXEC)
    else:  # not Linux: an unlinked temporary file is as nameless
        descriptor, path = tempfile.mkstemp()
        os.unlink(path)
    os.ftruncate(descriptor, max(size, 1))
    return descriptor


def duplicate_for_child(descriptor: int) -> Any:
    """Wraps a descriptor so that the child being started receives it.

    Raises:
        RuntimeError: If no child is being started.
    """
    if get_spawning_popen() is None:
        raise RuntimeError("Shared memory can only be passed as an argument of a new Process.")
    return reduction.DupFd(descriptor)


class SharedArrays:
    """Named NumPy arrays in one anonymous block.

    Args:
        spec: {name: (shape, dtype string)}; the arrays start as zeros.
    """

    def __init__(self, spec: Spec):
        size = sum(_padded(shape, dtype) for shape, dtype in spec.values())
        self._attach(anonymous_file(size), spec)

    def _attach(self, descriptor: int, spec: Spec) -> None:
        self._descriptor = descriptor
        self.spec = spec
        size = sum(_padded(shape, dtype) for shape, dtype in spec.values())
        self._memory = mmap.mmap(descriptor, max(size, 1))
        self._arrays: dict[str, np.ndarray] = {}
        offset = 0
        for name, (shape, dtype) in spec.items():
            count = int(np.prod(shape, dtype=np.int64))
            # NumPy refuses a view of nothing at the end of a buffer.
            source: Any = self._memory if count else bytearray(8)
            array = np.frombuffer(source, dtype, count, offset if count else 0)
            self._arrays[name] = array.reshape(shape)
            offset += _padded(shape, dtype)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def group(self, prefix: str) -> dict[str, np.ndarray]:
        """Returns the arrays called `prefix/...`, by the rest of their names."""
        start = f"{prefix}/"
        return {
            name[len(start) :]: array
            for name, array in self._arrays.items()
            if name.startswith(start)
        }

    def __reduce__(self) -> Any:
        return _rebuild, (duplicate_for_child(self._descriptor), self.spec)

    def __del__(self) -> None:
        # The mapping itself goes when the last array that views it goes.
        descriptor = getattr(self, "_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)


def _rebuild(duplicate: Any, spec: Spec) -> SharedArrays:
    arrays = SharedArrays.__new__(SharedArrays)
    arrays._attach(duplicate.detach(), spec)
    return arrays


def _padded(shape: tuple[int, ...], dtype: str) -> int:
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return -(-size // _ALIGNMENT) * _ALIGNMENT
