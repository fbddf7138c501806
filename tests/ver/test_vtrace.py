import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.plain_vtrace import plain_vtrace
from ver.gae import compute_advantages
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED
from ver.vtrace import compute_vtrace


def vtrace(rewards, values, outcomes, final_values, ratios, counts, **settings):
    columns = [np.array(c, np.float32) for c in (rewards, values)]
    return compute_vtrace(
        *columns,
        np.array(outcomes),
        np.array(final_values, np.float32),
        np.array(ratios, np.float32),
        np.array(counts),
        **{"gamma": 0.5, "gae_lambda": 0.5} | settings,
    )


def test_worked_by_hand():
    # differences: 1 + .5*4 - 2 = 1 and 3 + .5*8 - 4 = 3
    # ratios 2 and .5: rho = 1, .5; c = .5 * (1, .5)
    # v1 - V1 = .5 * 3 = 1.5;  v0 - V0 = 1 * 1 + .5 * .5 * 1.5 = 1.375
    # A1 = 3;  A0 = 1 + .5 * .5 * 1.5 = 1.375
    targets, advantages = vtrace([1, 3, 0], [2, 4, 8], [CONTINUES] * 3, [0] * 3, [2, 0.5, 9], [3])
    np.testing.assert_allclose(targets, [3.375, 5.5, 8])
    np.testing.assert_allclose(advantages, [1.375, 3, 0])


def test_larger_bounds_worked_by_hand():
    # rho = 2, .5; c = .5 * (1.5, .5): v1 - V1 = 1.5, v0 - V0 = 2 * 1 + .5 * .75 * 1.5
    targets, _ = vtrace(
        [1, 3, 0], [2, 4, 8], [CONTINUES] * 3, [0] * 3, [2, 0.5, 9], [3], rho_bar=3.0, c_bar=1.5
    )
    np.testing.assert_allclose(targets, [4.5625, 5.5, 8])


@pytest.mark.parametrize(("outcome", "future"), [(TERMINATED, 0.0), (TRUNCATED, 10.0)])
def test_an_episodes_end_worked_by_hand(outcome, future):
    # 1 + .5 * future - 2, and nothing of the next episode
    targets, advantages = vtrace(
        [1, 3, 0], [2, 4, 8], [outcome, CONTINUES, CONTINUES], [10, 0, 0], [0.5, 1, 1], [3]
    )
    difference = 1 + 0.5 * future - 2
    np.testing.assert_allclose(targets, [2 + 0.5 * difference, 7, 8])
    np.testing.assert_allclose(advantages, [difference, 3, 0])


number = st.floats(-3, 3, width=32)
step = st.tuples(
    number,
    number,
    st.sampled_from([CONTINUES, CONTINUES, CONTINUES, TERMINATED, TRUNCATED]),
    number,
    st.floats(0, 4, width=32),
)
fraction = st.floats(0, 1)


@settings(max_examples=100)
@given(
    st.lists(st.lists(step, min_size=1, max_size=8), min_size=1, max_size=4),
    fraction,
    fraction,
    st.floats(0.5, 3),
    st.floats(0.1, 2),
)
def test_equals_the_papers_sum_for_chains_of_any_length(chains, gamma, lam, rho_bar, c_bar):
    expected = [plain_vtrace(chain, gamma, lam, rho_bar, c_bar) for chain in chains]
    flat = [np.array(column) for column in zip(*[row for chain in chains for row in chain])]  # noqa: B905
    counts = np.array([len(chain) for chain in chains])
    found = compute_vtrace(*flat, counts, gamma, lam, rho_bar, c_bar)
    for which in range(2):
        want = np.concatenate([pair[which] for pair in expected])
        np.testing.assert_allclose(found[which], want, rtol=1e-4, atol=1e-4)


@settings(max_examples=50)
@given(st.lists(st.lists(step, min_size=1, max_size=8), min_size=1, max_size=4), fraction, fraction)
def test_is_gae_where_the_policies_are_the_same(chains, gamma, lam):
    flat = [np.array(column) for column in zip(*[row for chain in chains for row in chain])]  # noqa: B905
    rewards, values, outcomes, final_values, _ = flat
    counts = np.array([len(chain) for chain in chains])
    columns = rewards, values, outcomes, final_values
    targets, advantages = compute_vtrace(*columns, np.ones(len(values)), counts, gamma, lam)
    expected = compute_advantages(*columns, counts, gamma, lam)
    np.testing.assert_allclose(advantages, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(targets, expected + values, rtol=1e-4, atol=1e-4)
