import math

import numpy as np
import pytest

from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.set_down import lying_axes, support_height

UPRIGHT = np.array([0.0, 0.0, 1.0])
CRACKERS = OBJECT_KINDS["003_cracker_box"]
CAN = OBJECT_KINDS["005_tomato_soup_can"]


@pytest.mark.parametrize("name", OBJECT_KINDS)
def test_upright_objects_stand_on_their_half_height(name):
    kind = OBJECT_KINDS[name]
    assert support_height(kind, UPRIGHT) == pytest.approx(kind.half_height, abs=1e-6)


def test_lying_objects_rest_on_their_sides():
    half_x, half_y, half_z = CRACKERS.parts[0].size
    heights = sorted(round(support_height(CRACKERS, axis), 6) for axis in lying_axes(CRACKERS))
    assert heights == pytest.approx(sorted([half_z, half_x, half_x, half_y, half_y]))
    side = np.array([1.0, 0.0, 0.0])
    assert support_height(CAN, side) == pytest.approx(CAN.footprint_radius)


def test_a_leaning_box_stands_on_an_edge():
    lean = 0.3
    up = np.array([math.sin(lean), 0.0, math.cos(lean)])
    half_x, _, half_z = CRACKERS.parts[0].size
    expected = half_x * math.sin(lean) + half_z * math.cos(lean)
    assert support_height(CRACKERS, up) == pytest.approx(expected)
