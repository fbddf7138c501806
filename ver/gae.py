"""Generalised advantage estimation (Schulman et al. 2016), and what V-trace shares with it."""

from __future__ import annotations

import numpy as np

from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED


class TimeGrid:
    """Chains of different lengths side by side, aligned at their ends: one loop serves all.

    Args:
        counts: [N] slots of each chain, each at least one.
    """

    def __init__(self, counts: np.ndarray):
        total = int(counts.sum())
        position = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        self.shape = int(counts.max()), len(counts)
        self._row = self.shape[0] - np.repeat(counts, counts) + position
        self._column = np.repeat(np.arange(len(counts)), counts)

    def table(self, flat: np.ndarray) -> np.ndarray:
        """Lays [C] values, one chain after the other, out as [L, N], zeros before their begin."""
        table = np.zeros(self.shape, dtype=np.float64)
        table[self._row, self._column] = flat
        return table

    def flat(self, table: np.ndarray) -> np.ndarray:
        """Undoes `table`."""
        return table[self._row, self._column].astype(np.float32)

    def following_values(
        self, values: np.ndarray, outcomes: np.ndarray, final_values: np.ndarray
    ) -> np.ndarray:
        """Returns the value of each step's future [L, N]; arguments as in `compute_advantages`."""
        following = np.zeros(self.shape)
        following[:-1] = self.table(values)[1:]
        outcome = self.table(outcomes)
        following = np.where(outcome == TERMINATED, 0.0, following)
        return np.where(outcome == TRUNCATED, self.table(final_values), following)


def compute_advantages(
    rewards: np.ndarray,
    values: np.ndarray,
    outcomes: np.ndarray,
    final_values: np.ndarray,
    counts: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> np.ndarray:
    """Generalised advantage estimation over environments with different numbers of slots.

    After a step that CONTINUES the next slot's value follows; after a TERMINATED one nothing
    does; after a TRUNCATED one the final observation's value does, and the recursion stops.

    Args:
        rewards: [C] rewards, ordered by environment and time.
        values: [C] values of the observations acted on.
        outcomes: [C] what became of the actions.
        final_values: [C] values of the final observations, where TRUNCATED.
        counts: [N] slots of each environment, each at least one; the last one only bootstraps.
        gamma: Discount.
        gae_lambda: Mixing.

    Returns:
        Advantages [C]; those of each environment's last slot are zero.
    """
    grid = TimeGrid(counts)
    following = grid.following_values(values, outcomes, final_values)
    delta = grid.table(rewards) + gamma * following - grid.table(values)
    decay = gamma * gae_lambda * (grid.table(outcomes) == CONTINUES)
    result = np.zeros(grid.shape)
    for t in range(grid.shape[0] - 2, -1, -1):
        result[t] = delta[t] + decay[t] * result[t + 1]
    return grid.flat(result)
