"""Boxes around shapes."""

import numpy as np

from rearrange.scenes.home_files.shapes import slices


def test_slices_hold_the_hull():
    points = np.random.default_rng(0).normal(size=(200, 3))
    shapes = slices(points)
    for x, y, z in 0.999 * (points - points.mean(axis=0)) + points.mean(axis=0):
        inside = [shape for shape in shapes if shape.low - 1e-6 <= z <= shape.high + 1e-6]
        assert any(shape.covers(np.array([(x, y)])).any() for shape in inside)
