import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate

from ver.action_space import (
    action_dtype,
    action_parts,
    action_width,
    has_bounds,
    to_environment_action,
)
from ver.errors import UserError

BOX = spaces.Box(-1, 1, (2,), np.float32)


@pytest.mark.parametrize(
    ("space", "width", "dtype"),
    [
        (BOX, 2, "float32"),
        (spaces.Box(0, 1, (2, 3), np.float32), 6, "float32"),
        (spaces.Discrete(4), 1, "int64"),
        (spaces.MultiDiscrete([2, 3, 4]), 3, "int64"),
        (spaces.Tuple([BOX, spaces.Discrete(4)]), 3, "float32"),
        (spaces.Dict({"a": BOX, "b": spaces.MultiDiscrete([2, 2])}), 4, "float32"),
    ],
)
def test_rows_are_as_wide_as_the_action(space, width, dtype):
    assert (action_width(space), action_dtype(space)) == (width, dtype)


@pytest.mark.parametrize(
    ("space", "row", "expected"),
    [
        (BOX, [3.0, -0.5], [1.0, -0.5]),
        (spaces.Box(-1, 1, (4,), np.int8), [0.9, 0.4, -0.6, 7.0], [1, 0, -1, 1]),
        (spaces.Discrete(4, start=10), [2], 12),
        (spaces.MultiDiscrete([2, 3], start=[5, 0]), [1, 2], [6, 2]),
    ],
)
def test_rows_become_actions(space, row, expected):
    action = to_environment_action(space, np.array(row))
    assert space.contains(action)
    np.testing.assert_allclose(action, expected)


def test_composite_rows_become_tuples_and_dicts():
    row = np.array([2.0, 0.25, 3.0, 1.0, 0.0], np.float32)
    parts = [("aim", BOX), ("press", spaces.Discrete(4)), ("keys", spaces.MultiDiscrete([2, 2]))]
    mapping = spaces.Dict(parts)
    action = to_environment_action(mapping, row)
    assert mapping.contains(action)
    np.testing.assert_allclose(action["aim"], [1.0, 0.25])
    assert (action["press"], list(action["keys"])) == (3, [1, 0])
    group = spaces.Tuple([space for _, space in parts])
    assert group.contains(to_environment_action(group, row))


@pytest.mark.parametrize(
    "space",
    [
        BOX,
        spaces.Box(0, 1, (2, 3), np.float32),
        spaces.Discrete(4, start=10),
        spaces.MultiDiscrete([2, 3], start=[5, 0]),
        spaces.Dict({"a": spaces.Box(0, 1, (2, 3), np.float32), "b": spaces.Discrete(3, start=7)}),
        spaces.Tuple([spaces.MultiDiscrete([2, 2]), BOX]),
    ],
)
def test_rows_together_become_what_gymnasium_makes_of_single_actions(space):
    numbers = np.random.default_rng(0).integers(0, 2, (5, action_width(space)))
    rows = numbers.astype(action_dtype(space))
    together = to_environment_action(space, rows)
    assert batch_space(space, 5).contains(together)
    for row, action in zip(rows, iterate(batch_space(space, 5), together), strict=True):
        single = to_environment_action(space, row)
        assert space.contains(single)
        np.testing.assert_array_equal(spaces.flatten(space, action), spaces.flatten(space, single))


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiBinary(3),
        spaces.Tuple([BOX, spaces.Text(3)]),
        spaces.Tuple([spaces.Tuple([BOX])]),
        spaces.Dict({}),
    ],
)
def test_other_spaces_are_user_errors(space):
    with pytest.raises(UserError, match="ction space"):
        action_parts(space)


@pytest.mark.parametrize(
    ("low", "high", "bounded"),
    [
        (0.0, 10.0, True),
        (-np.inf, 1.0, False),
        (0.0, np.finfo(np.float32).max, False),
        (-np.finfo(np.float64).max, np.finfo(np.float64).max, False),
    ],
)
def test_bounds_that_no_number_reaches_are_none(low, high, bounded):
    assert has_bounds(spaces.Box(low, high, (2,), np.float64)) is bounded
