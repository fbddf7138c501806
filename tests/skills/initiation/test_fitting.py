"""Values by what is seen, and chances by values, against functions that are known."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from skills.initiation.fitting import area_under_curve, fit_chances, fit_values, logistic
from skills.initiation.starts import Start

RNG = np.random.default_rng(3)


def starts_of(values, seen=None, ended=None):
    seen = values[:, None].repeat(4, 1) if seen is None else seen
    ended = [None] * len(values) if ended is None else ended
    return [
        Start(s.astype(np.float32), float(v), e)
        for s, v, e in zip(seen, values, ended, strict=True)
    ]


def test_what_is_seen_tells_the_value_where_it_holds_it():
    seen = RNG.normal(size=(700, 4))
    values = 9.0 + 4.0 * np.maximum(seen @ [1.0, -1.0, 0.0, 0.0], 0.0)
    learned, explained = fit_values(starts_of(values, seen), seed=1, epochs=100)
    assert explained > 0.9
    found = learned.values(torch.tensor(seen[:3], dtype=torch.float32)).detach().numpy()
    np.testing.assert_allclose(found, values[:3], atol=1.5)


def test_nothing_is_explained_by_noise():
    learned, explained = fit_values(
        starts_of(RNG.normal(size=400), RNG.normal(size=(400, 4))), 1, 5
    )
    assert explained < 0.1
    assert math.isfinite(float(learned.values(torch.zeros(1, 4)).detach()[0]))


def test_same_seed_same_network():
    values = RNG.normal(size=200)
    a, b, c = (fit_values(starts_of(values), seed, 2)[0].state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["layers.0.weight"], c["layers.0.weight"])


def test_logistic_function_is_the_likeliest():
    values = RNG.normal(8.0, 4.0, 500)
    ended = (RNG.random(500) < 1.0 / (1.0 + np.exp(3.0 - 0.5 * values))).astype(float)

    def loss(odds):
        return np.logaddexp(0.0, (odds[0] + odds[1] * values) * (1.0 - 2.0 * ended)).sum()

    expected = minimize(loss, np.zeros(2), method="Nelder-Mead", tol=1e-10).x
    np.testing.assert_allclose(logistic(values, ended), expected, rtol=0.01)


@pytest.mark.parametrize("ended", [np.ones(20), np.zeros(20), np.repeat([0.0, 1.0], 10)])
def test_logistic_function_is_finite_where_the_value_decides_all(ended):
    odds = logistic(np.arange(20.0), ended)
    assert np.isfinite(odds).all()
    chances = 1.0 / (1.0 + np.exp(-(odds[0] + odds[1] * np.arange(20.0))))
    assert (np.abs(chances - ended)[[0, -1]] < 0.05).all()


def test_chances_are_how_often_starts_of_that_value_ended_well():
    values = RNG.uniform(0.0, 10.0, 2000)
    learned, _ = fit_values(starts_of(values), 1, 20)
    ended = (RNG.random(2000) < values / 10.0).tolist()
    fit_chances(learned, starts_of(values, ended=ended))
    seen = torch.tensor([[v] * 4 for v in (2.0, 5.0, 8.0)])
    np.testing.assert_allclose(learned.chances(seen).detach(), [0.2, 0.5, 0.8], atol=0.1)


def test_area_under_the_curve():
    chances = np.array([0.1, 0.4, 0.4, 0.9])
    # Pairs (well, ill): 0.4 > 0.1, 0.4 = 0.4, 0.9 > 0.1, 0.9 > 0.4
    assert area_under_curve(chances, np.array([0.0, 1.0, 0.0, 1.0])) == 3.5 / 4
    assert area_under_curve(chances, np.array([1.0, 0.0, 0.0, 0.0])) == 0.0
    assert math.isnan(area_under_curve(chances, np.ones(4)))
