import numpy as np

from ver.mini_batches import cut_mini_batches, pack


def test_packing_is_time_major_and_longest_first():
    batch = pack(np.array([10, 20, 30]), np.array([1, 3, 2]))
    assert list(batch.positions) == [20, 30, 10, 21, 31, 22]
    assert list(batch.batch_sizes) == [3, 2, 1]
    assert list(batch.heads) == [20, 30, 10]


def test_shuffling_differs_between_epochs():
    starts, lengths = np.arange(50) * 2, np.full(50, 2)
    rng = np.random.default_rng(0)
    one = cut_mini_batches(starts, lengths, 2, rng)[0].positions
    two = cut_mini_batches(starts, lengths, 2, rng)[0].positions
    assert sorted(one) != sorted(two)
