"""A queue of numbered items for compiled searches: the one with the smallest key comes first."""

from __future__ import annotations

import numpy as np

from rearrange.caching import cached_njit


@cached_njit
def push(heap: np.ndarray, size: int, keys: np.ndarray, item: int) -> int:
    """Insert an item into a binary heap; return the new size.

    Args:
        heap: Items, of which the first `size` count; changed.
        size: How many there are.
        keys: Of items, by their numbers.
        item: Its key is written already.
    """
    child = size
    while child > 0:
        parent = (child - 1) // 2
        if keys[heap[parent]] <= keys[item]:
            break
        heap[child] = heap[parent]
        child = parent
    heap[child] = item
    return size + 1


@cached_njit
def pop(heap: np.ndarray, size: int, keys: np.ndarray) -> int:
    """Take the item with the smallest key out of a heap, which holds one less then; see `push`."""
    top, last, parent = heap[0], heap[size - 1], 0
    size -= 1
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        if child + 1 < size and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[heap[child]] >= keys[last]:
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = last
    return top
