import numpy as np

from ver.gae import compute_advantages
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED


def gae(rewards, values, outcomes, final_values, counts, gamma=0.5, gae_lambda=0.5):
    return compute_advantages(
        np.array(rewards, np.float32),
        np.array(values, np.float32),
        np.array(outcomes),
        np.array(final_values, np.float32),
        np.array(counts),
        gamma,
        gae_lambda,
    )


def test_advantages_bootstrap_from_the_newest_slot_at_a_rollout_cut():
    # delta1 = 3 + .5*8 - 4 = 3; delta0 = 1 + .5*4 - 2 = 1; A0 = 1 + .25*3
    result = gae([1, 3, 0], [2, 4, 8], [CONTINUES] * 3, [0, 0, 0], [3])
    np.testing.assert_allclose(result, [1.75, 3, 0])


def test_advantages_see_nothing_beyond_a_termination():
    # delta0 = 1 - 2 = -1, whatever the next episode is worth; delta1 = 3 + .5*8 - 4
    result = gae([1, 3, 0], [2, 4, 8], [TERMINATED, CONTINUES, CONTINUES], [99, 0, 0], [3])
    np.testing.assert_allclose(result, [-1, 3, 0])


def test_advantages_take_the_final_observations_value_at_a_truncation():
    # delta0 = 1 + .5*10 - 2 = 4, and the recursion stops there
    result = gae([1, 3, 0], [2, 4, 8], [TRUNCATED, CONTINUES, CONTINUES], [10, 0, 0], [3])
    np.testing.assert_allclose(result, [4, 3, 0])


def test_advantages_keep_environments_of_different_lengths_apart():
    together = gae(
        [1, 3, 0, 5, 0, 7],
        [2, 4, 8, 1, 6, 9],
        [CONTINUES] * 6,
        [0] * 6,
        [3, 2, 1],
    )
    np.testing.assert_allclose(together, [1.75, 3, 0, 5 + 0.5 * 6 - 1, 0, 0])
