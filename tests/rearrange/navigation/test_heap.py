import numpy as np
import pytest

from rearrange.navigation.heap import pop, push


@pytest.mark.parametrize("seed", range(5))
def test_items_come_out_by_their_keys(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 40, 100).astype(float)  # many are equal
    heap = np.empty(100, np.int64)
    size, waiting = 0, set()
    for item in range(100):
        size = push(heap, size, keys, item)
        waiting.add(item)
        if rng.random() < 0.4:
            first = pop(heap, size, keys)
            size -= 1
            assert keys[first] == min(keys[list(waiting)])
            waiting.remove(first)
    left = [pop(heap, count, keys) for count in range(size, 0, -1)]
    assert set(left) == waiting
    assert [keys[item] for item in left] == sorted(keys[list(waiting)])
