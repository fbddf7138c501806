import numpy as np
import pytest

from skills.spa.pick import segment
from tests.helpers.point_clouds import box_points


def test_an_object_on_a_table_is_found_with_its_top_and_support():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    can = box_points((1.0, 0.1, 0.72 + 0.05, 0.03, 0.03, 0.05, 1.0, 0.0))
    other = box_points((1.0, -0.15, 0.72 + 0.1, 0.03, 0.03, 0.1, 1.0, 0.0))
    sighting = segment(np.vstack([table, can, other]), np.array([1.0, 0.1, 0.77]))
    assert sighting.top == pytest.approx([1.0, 0.1, 0.82], abs=0.005)
    assert sighting.support == pytest.approx(0.72, abs=0.005)
    assert 0.03 <= sighting.radius <= 0.05


def test_an_unseen_object_is_expected_as_high_over_its_centre_as_it_stands_under_it():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    sighting = segment(table, np.array([1.0, 0.1, 0.80]))
    assert sighting.count == 0
    assert sighting.top == pytest.approx([1.0, 0.1, 0.88], abs=0.005)


def test_a_moved_object_is_aimed_at_where_it_is():
    table = box_points((1.0, 0.0, 0.7, 0.4, 0.4, 0.02, 1.0, 0.0))
    can = box_points((1.0, 0.165, 0.77, 0.03, 0.03, 0.05, 1.0, 0.0))
    sighting = segment(np.vstack([table, can]), np.array([1.0, 0.1, 0.77]))
    assert sighting.top[1] > 0.13
