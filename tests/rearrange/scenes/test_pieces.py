import math

import pytest

from rearrange.scenes.pieces import box, cylinder, keepout, shade, surface

GREY = (0.5, 0.5, 0.5, 0.8)


def test_primitives_from_their_bounds():
    solid = box((1.0, 3.0), (-1.0, 0.0), (0.2, 0.6), GREY)
    assert solid.position == pytest.approx((2.0, -0.5, 0.4))
    assert solid.size == pytest.approx((1.0, 0.5, 0.2))
    solid = cylinder(1.0, 2.0, (0.0, 3.0), 0.25, GREY)
    assert solid.position == pytest.approx((1.0, 2.0, 1.5))
    assert solid.size[:2] == pytest.approx((0.25, 1.5))


def test_rectangles_from_their_bounds():
    receptacle = surface("top", (0.0, 1.0, -0.5, 0.5), 0.7)
    assert receptacle.position == pytest.approx((0.5, 0.0, 0.7))
    assert receptacle.half_extents == pytest.approx((0.5, 0.5))
    assert keepout(0.0, 1.0, -1.0, 3.0) == pytest.approx((0.5, 1.0, 0.5, 2.0, 0.0))


def test_shades_stay_colours_and_as_transparent():
    assert shade((0.4, 0.5, 0.9, 0.3), 2.0) == pytest.approx((0.8, 1.0, 1.0, 0.3))
    assert all(math.isclose(c, 0.0) for c in shade(GREY, 0.0)[:3])
