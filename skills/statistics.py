"""Proportions and scores with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

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


def wilson(successes: int, trials: int) -> Proportion:
    """Wilson's score interval: sound for few trials and for rates near 0 and 1.

    Raises:
        ValueError: Fewer than one trial, or more successes than trials.
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials is no proportion")
    rate = successes / trials
    denominator = 1.0 + Z_95**2 / trials
    center = (rate + Z_95**2 / (2 * trials)) / denominator
    spread = math.sqrt(rate * (1 - rate) / trials + Z_95**2 / (4 * trials**2))
    half = Z_95 * spread / denominator
    # At the ends the formula gives exactly 0 and 1; rounding must not exclude the mean.
    low = 0.0 if successes == 0 else center - half
    high = 1.0 if successes == trials else center + half
    return Proportion(rate, low, high)


def mean_score(scores: Iterable[float]) -> Proportion:
    """Mean of numbers in [0, 1], such as SPL, with the normal 95 % interval, cut to [0, 1].

    Raises:
        ValueError: There are none.
    """
    values = np.asarray(list(scores), float)
    if not values.size:
        raise ValueError("there is no mean of no scores")
    mean = float(values.mean())
    deviation = float(values.std(ddof=1)) if values.size > 1 else 1.0
    half = Z_95 * deviation / math.sqrt(values.size)
    return Proportion(mean, max(mean - half, 0.0), min(mean + half, 1.0))


def proportion(outcomes: Iterable[bool]) -> Proportion:
    """Rate of true outcomes with its interval."""
    values = [bool(outcome) for outcome in outcomes]
    return wilson(sum(values), len(values))
