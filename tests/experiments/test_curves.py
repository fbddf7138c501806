"""Curves of several seeds, and where one reaches a threshold."""

import numpy as np

from experiments.curves import averaged, interquartile, reached


def run(success):
    places = [10.0 * (k + 1) for k in range(len(success))]
    return {"steps": places, "seconds": [place / 5 for place in places], "success": success}


def test_curves_are_interquartile_means():
    runs = [run([0.0, value]) for value in (0.1, 0.2, 0.4, 0.9)]
    grid = np.array([5.0, 10.0, 15.0, 20.0, 99.0])
    mean, low, high = interquartile(runs, "steps", grid, "success")
    np.testing.assert_allclose(mean, [0, 0, 0.15, 0.3, 0.3])  # the middle two of four
    assert (low <= mean).all()
    assert (mean <= high).all()
    assert 0.1 <= low[-1] < 0.3 < high[-1] <= 0.9


def test_what_is_trimmed_is_told():
    assert averaged(3) == "mean of 3 seeds, bootstrap 95 %"
    assert averaged(4) == "interquartile mean of 4 seeds, bootstrap 95 %"


def test_where_a_run_gets_there():
    assert reached(run([0.5, 0.8, 0.7]), "steps", 0.8) == 20.0
    assert reached(run([0.5, 0.8, 0.7]), "seconds", 0.8) == 4.0
    assert reached(run([0.5]), "steps", 0.8) is None
