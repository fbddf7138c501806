"""Rows are copied where they shall be, and nowhere else."""

import numpy as np
import pytest

wp = pytest.importorskip("warp")


def test_chosen_rows_are_copied():
    from rearrange.batched.copy_kernels import copy_rows, flat

    with wp.ScopedDevice("cpu"):
        source = wp.array(np.arange(12, dtype=np.float32).reshape(2, 6), dtype=wp.float32)
        target = wp.zeros((3, 2), dtype=wp.vec3)
        rows = wp.array(np.array([1, -1, 0], np.int32))
        wp.launch(copy_rows, dim=(3, 6), inputs=[rows, source, flat(target, 3)])
    expected = np.array([[6, 7, 8, 9, 10, 11], [0] * 6, [0, 1, 2, 3, 4, 5]])
    np.testing.assert_array_equal(target.numpy().reshape(3, 6), expected)


def test_truth_is_copied_as_bytes():
    from rearrange.batched.copy_kernels import flat

    with wp.ScopedDevice("cpu"):
        array = wp.array(np.array([[True, False], [False, True]]), dtype=wp.bool)
        assert flat(array, 2).dtype is wp.uint8
        assert flat(array, 2).numpy().tolist() == [[1, 0], [0, 1]]
