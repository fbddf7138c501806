"""Receptacles of a model."""

import pytest


def test_it_stands_where_the_model_has_it(spec):
    home = spec.make(spec.first_layout, 0)
    table, drawer, cooler = (home.receptacles[name] for name in ("table", "in_drawer", "in_cooler"))
    assert table.position == pytest.approx((4.55, 1.1, 0.72))  # the model's less its lower corner
    assert drawer.joint == "drawer"
    assert drawer.clearance == pytest.approx(0.205)  # up to the cabinet's top
    assert cooler.clearance == pytest.approx(0.38)  # the height of the site
    assert not any(solid.part == "vase" and solid.color[3] for solid in home.solids)
