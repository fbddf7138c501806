"""Proportions and scores with their 95 % intervals over floor plans.

Episodes of one plan are alike: plans are drawn at random, not episodes. Intervals therefore come
from how far plans differ. Of a single plan they tell how sure its own figure is, and nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.special import stdtrit

Z_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True)
class Proportion:
    """A success rate or a mean score, and its 95 % interval."""

    mean: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """The keys of every evaluation's JSON: mean, low, high."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def wilson(rate: float, trials: float) -> Proportion:
    """Wilson's score interval: sound for few trials and for rates near 0 and 1.

    Args:
        rate: Of successes.
        trials: Their number; that of an effective sample need not be whole.

    Raises:
        ValueError: There are no trials, or the rate is no share.
    """
    if trials <= 0 or not 0 <= rate <= 1:
        raise ValueError(f"a rate of {rate} in {trials} trials is no proportion")
    denominator = 1.0 + Z_95**2 / trials
    center = (rate + Z_95**2 / (2 * trials)) / denominator
    spread = math.sqrt(rate * (1 - rate) / trials + Z_95**2 / (4 * trials**2))
    half = Z_95 * spread / denominator
    # At the ends the formula gives exactly 0 and 1; rounding must not exclude the mean.
    low = 0.0 if rate == 0 else center - half
    high = 1.0 if rate == 1 else center + half
    return Proportion(rate, low, high)


def proportion(outcomes: Sequence[bool], plans: Sequence[Hashable]) -> Proportion:
    """Rate of true outcomes with its interval over plans.

    Wilson's interval for an effective sample (Korn and Graubard, Survey Methodology 24, 1998;
    compared with others by Franco et al., J. Survey Statistics and Methodology 7, 2019): as many
    independent episodes as would vary as much as the plans do, fewer by what few plans leave
    uncertain. Unlike percentiles of a bootstrap over plans it has a width where all succeed, and
    holds for few plans.

    Args:
        outcomes: Of the episodes.
        plans: On which floor plan each took place.

    Raises:
        ValueError: There are none, or not as many plans as outcomes.
    """
    values, count = np.asarray(outcomes, bool).astype(float), len(set(plans))
    if not values.size:
        raise ValueError("there is no rate of no outcomes")
    rate = float(values.mean())
    trials, variance = float(values.size), clustered_variance(values, plans)
    if variance > 0.0:
        trials = min(trials, rate * (1.0 - rate) / variance)
    if count > 1:
        trials *= (Z_95 / _quantile(count)) ** 2
    return wilson(rate, trials)


def mean_score(scores: Sequence[float], plans: Sequence[Hashable]) -> Proportion:
    """Mean of numbers in [0, 1], such as SPL, with its 95 % interval over plans, cut to [0, 1].

    Args:
        scores: Of the episodes.
        plans: On which floor plan each took place.

    Raises:
        ValueError: There are none, or not as many plans as scores.
    """
    values, count = np.asarray(scores, float), len(set(plans))
    if not values.size:
        raise ValueError("there is no mean of no scores")
    mean = float(values.mean())
    variance = float(values.var(ddof=1)) / values.size if values.size > 1 else 1.0
    variance = max(variance, clustered_variance(values, plans))
    half = (Z_95 if count == 1 else _quantile(count)) * math.sqrt(variance)
    return Proportion(mean, max(mean - half, 0.0), min(mean + half, 1.0))


def clustered_variance(values: np.ndarray, plans: Sequence[Hashable]) -> float:
    """Variance of the mean of values [n] where plans, with all their episodes, are drawn at random.

    The linearised variance of a ratio (Cochran, Sampling Techniques, 1977, chapter 9A): of G plans
    G / (G - 1) times the sum over plans of (sum of a plan's deviations from the mean / n)^2.
    Of one plan it is 0.
    """
    if len(plans) != len(values):
        raise ValueError(f"{len(values)} values on {len(plans)} plans")
    sums: dict[Hashable, float] = {}
    mean = float(values.mean())
    for plan, value in zip(plans, values.tolist(), strict=True):
        sums[plan] = sums.get(plan, 0.0) + value - mean
    if len(sums) < 2:
        return 0.0
    squares = math.fsum((each / len(values)) ** 2 for each in sums.values())
    return len(sums) / (len(sums) - 1) * squares


def _quantile(plans: int) -> float:
    """Two-sided 95 % quantile of Student's t, of one degree of freedom less than plans."""
    return float(stdtrit(plans - 1, 0.975))
