"""The CUDA kernels in Python, with a thread of the host for each of a block: tests need no GPU."""

import itertools
import threading
from types import SimpleNamespace

import numpy as np

from rearrange.caching import cached_njit
from rearrange.render import cuda_kernels, pixels


class Grid(threading.local):
    """A fake of `numba.cuda`, as far as the kernels use it."""

    def __init__(self, barrier, lock, shared):
        self.syncthreads, self._lock, self._shared, self._asked = barrier.wait, lock, shared, 0
        self.shared = SimpleNamespace(array=self._array)
        self.atomic = SimpleNamespace(add=self._add)

    def _array(self, size, dtype):
        """The same memory for all threads of the block that ask for their k-th array."""
        self._asked += 1
        with self._lock:
            return self._shared.setdefault(self._asked, np.full(size, -9, np.int32))

    def _add(self, array, index, more):
        with self._lock:
            array[index] += more
            return int(array[index]) - more

    def grid(self, dimensions):
        assert dimensions == 2
        return self.at

    def place(self, block, thread, size):
        self.blockIdx = SimpleNamespace(**dict(zip("xyz", block, strict=True)))
        self.threadIdx = SimpleNamespace(x=thread)
        self.at = block[0] * size + thread, block[1]


@cached_njit
def _nearer(record, row, column, near, best):
    return pixels.nearer(record, row, column, near, best)


@cached_njit
def _in_tile(record, left, top, side):
    return pixels.in_tile(record, left, top, side)


@cached_njit
def _bounds(kind, size, position, matrix, view, lens, width, height):
    return pixels.bounds_of_geom(kind, size, position, matrix, view, lens, width, height)


@cached_njit
def _has_pixels(bounds, width, height):
    return pixels.has_pixels(bounds, width, height)


@cached_njit
def _describe(record, bounds, kind, size, position, matrix, view, lens, width, height):
    pixels.describe_geom(record, bounds, kind, size, position, matrix, view, lens, width, height)


CALLABLE = {
    "nearer": _nearer, "in_tile": _in_tile, "bounds_of_geom": _bounds, "has_pixels": _has_pixels,
    "describe_geom": _describe,
}  # fmt: skip


def launch(monkeypatch, kernel, blocks, size, *arguments):
    """Run a kernel on blocks (x, y, z), each of so many threads."""
    for name, function in CALLABLE.items():
        monkeypatch.setattr(cuda_kernels, name, function)
    failed = []
    for block in itertools.product(*map(range, blocks)):
        grid = Grid(threading.Barrier(size, timeout=60), threading.Lock(), {})
        monkeypatch.setattr(cuda_kernels, "cuda", grid)

        def run(thread, grid=grid, block=block):
            grid.place(block, thread, size)
            try:
                kernel(*arguments)
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(n,)) for n in range(size)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert failed == []
