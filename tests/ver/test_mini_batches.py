import numpy as np
import torch

from ver.mini_batches import GatheredRows, cut_mini_batches, pack


def test_packing_is_time_major_and_longest_first():
    batch = pack(np.array([10, 20, 30]), np.array([1, 3, 2]))
    assert list(batch.positions) == [20, 30, 10, 21, 31, 22]
    assert list(batch.batch_sizes) == [3, 2, 1]
    assert list(batch.heads) == [20, 30, 10]


def test_shuffling_differs_between_rollouts():
    starts, lengths = np.arange(50) * 2, np.full(50, 2)
    rng = np.random.default_rng(0)
    one = cut_mini_batches(starts, lengths, 2, rng)[0].positions
    two = cut_mini_batches(starts, lengths, 2, rng)[0].positions
    assert sorted(one) != sorted(two)


def test_gathered_rows_are_copies_in_memory_that_is_used_again():
    columns = {"image": torch.rand(50, 4, 4, 1), "label": torch.arange(50)}
    gathered = GatheredRows()
    rng = np.random.default_rng(0)
    places = set()
    for count in (40, 3, 44, 1, 45):
        slots = torch.from_numpy(rng.integers(0, 50, count))
        rows = gathered.take(columns, slots)
        assert list(rows) == ["image", "label"]
        for key, column in columns.items():
            assert rows[key].dtype == column.dtype
            assert torch.equal(rows[key], column[slots])
            assert rows[key].data_ptr() != column.data_ptr()
        places.add(rows["image"].data_ptr())
    assert len(places) == 1  # shards differ in size by less than what was kept in reserve
