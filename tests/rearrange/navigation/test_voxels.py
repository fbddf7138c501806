"""Columns of spans over a floor of triangles, by hand."""

import math

import numpy as np
import pytest

from rearrange.navigation.voxels import columns_of
from tests.helpers.scanned import box, triangles

CELL, SHAPE, ORIGIN = 1.0, (8, 8), (-0.5, -0.5)


def columns(boxes):
    return columns_of(triangles(boxes), ORIGIN, SHAPE, CELL, 1.5, 0.2, math.radians(45))


def spans(made, ix, iy=3):
    c = ix * SHAPE[1] + iy
    part = slice(made.starts[c], made.starts[c + 1])
    return np.column_stack([made.low[part], made.high[part], made.walkable[part]])


@pytest.fixture(scope="module")
def made():
    """A slab, a thin plate 1 m above one part of it, and a kerb on another."""
    return columns(
        [
            box((0, 0, -0.1), (7, 7, 0)),
            box((0, 0, 1.0), (3, 7, 1.01)),
            box((5, 0, 0), (7, 7, 0.1)),
        ]
    )


def test_a_plate_can_be_stood_on_and_not_under(made):
    assert spans(made, 1) == pytest.approx(
        np.array([(-0.1, -0.1, False), (0, 0, False), (1, 1, False), (1.01, 1.01, True)])
    )
    assert spans(made, 4) == pytest.approx(np.array([(-0.1, -0.1, 0), (0, 0, 1)]))


def test_what_touches_is_one_span(made):
    assert spans(made, 5) == pytest.approx(np.array([(-0.1, -0.1, 0), (0, 0.1, 1)]))
    assert spans(made, 6) == pytest.approx(np.array([(-0.1, -0.1, 0), (0, 0, 0), (0.1, 0.1, 1)]))


def test_nothing_is_stood_on_at_an_edge(made):
    assert not spans(made, 0)[-1][2]
    assert not spans(made, 4, iy=0)[-1][2]
    assert not spans(made, 3)[-1][2]  # the plate's


def test_a_slanting_triangle_is_cut_to_cells():
    slope = math.radians(30)
    rise = math.tan(slope)
    corners = np.array([[(0, 0, 0), (7, 0, 7 * rise), (7, 7, 7 * rise)]], float)
    made = columns_of(corners, (0.0, 0.0), SHAPE, CELL, 1.5, 2.0, math.radians(45))
    c = 5 * SHAPE[1] + 2
    assert made.starts[c + 1] - made.starts[c] == 1
    span = made.starts[c]
    assert (made.low[span], made.high[span]) == pytest.approx((5 * rise, 6 * rise))
    assert made.walkable[span]
    empty = 2 * SHAPE[1] + 5  # on the other side of the diagonal
    assert made.starts[empty + 1] == made.starts[empty]
