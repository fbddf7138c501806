"""V-trace (Espeholt et al. 2018, IMPALA): returns of one policy from what another one did.

With x_t the observations, mu the policy that acted and pi the one that learns,

    rho_t = min(rho_bar, pi(a_t | x_t) / mu(a_t | x_t)),
    c_t   = lambda min(c_bar, pi(a_t | x_t) / mu(a_t | x_t)),
    delta_t = rho_t (r_t + gamma V(x_{t+1}) - V(x_t)),
    v_s = V(x_s) + sum_{t >= s} gamma^{t-s} (c_s ... c_{t-1}) delta_t        (equation 1, remark 2)

v_s is the value's target. rho_bar says between which policies' values it lies (pi's for an infinite
one), c_bar how far corrections reach. The policy's advantage is q_s - V(x_s) with
q_s = r_s + gamma v_{s+1} (section 4.2). For lambda < 1 we take gamma ((1 - lambda) V(x_{s+1}) +
lambda v_{s+1}) for the future, which is the paper's at lambda = 1 and makes both numbers those of
generalised advantage estimation where the policies are the same. The paper's gradient multiplies
the advantage by rho_s; in PPO's surrogate the probability ratio is there already, clipped its own
way.
"""

from __future__ import annotations

import numpy as np

from ver.gae import TimeGrid
from ver.shared.outcomes import CONTINUES


def compute_vtrace(
    rewards: np.ndarray,
    values: np.ndarray,
    outcomes: np.ndarray,
    final_values: np.ndarray,
    ratios: np.ndarray,
    counts: np.ndarray,
    gamma: float,
    gae_lambda: float,
    rho_bar: float = 1.0,
    c_bar: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """V-trace over several chains of slots; each chain's last slot only bootstraps.

    What follows a step is as in `compute_advantages`: the next slot's value where the episode
    CONTINUES, nothing after a TERMINATED one, the final observation's value after a TRUNCATED one;
    the recursion stops where an episode ends.

    Args:
        rewards: [C] rewards, one chain after the other.
        values: [C] the learning policy's values of the observations acted on.
        outcomes: [C] what became of the actions.
        final_values: [C] values of the final observations, where TRUNCATED.
        ratios: [C] probabilities of the actions, the learning policy's over the acting one's.
        counts: [N] slots of each chain, each at least one.
        gamma: Discount.
        gae_lambda: lambda.
        rho_bar: Largest weight of a temporal difference.
        c_bar: Largest weight with which later differences reach an earlier step.

    Returns:
        Value targets v_s [C] and advantages [C]; of each chain's last slot the value, and zero.
    """
    grid = TimeGrid(counts)
    value, ratio = grid.table(values), grid.table(ratios)
    following = grid.following_values(values, outcomes, final_values)
    goes_on = grid.table(outcomes) == CONTINUES
    difference = grid.table(rewards) + gamma * following - value
    delta = np.minimum(rho_bar, ratio) * difference
    reach = gamma * gae_lambda * np.minimum(c_bar, ratio) * goes_on
    correction = np.zeros(grid.shape)  # v_s - V(x_s)
    for t in range(grid.shape[0] - 2, -1, -1):
        correction[t] = delta[t] + reach[t] * correction[t + 1]
    advantage = np.zeros(grid.shape)
    ahead = gamma * gae_lambda * goes_on[:-1] * correction[1:]
    advantage[:-1] = difference[:-1] + ahead
    return grid.flat(value + correction), grid.flat(advantage)
