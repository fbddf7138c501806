"""Curves of several seeds as one, and where a curve reaches a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import trim_mean

from skills.command import counted

BOOTSTRAPS = 2000
TRIMMED = 0.25  # share of the runs that a mean leaves out at either end, rounded down


def interquartile(
    runs: Sequence[Mapping[str, Any]], axis: str, grid: np.ndarray, figure: str
) -> np.ndarray:
    """Interquartile mean of a figure and the ends of its interval at places of an axis [3, G].

    After a run's end its figure stays. Of fewer than four runs it is the plain mean (Agarwal et al. 2021). The
    interval has 95 % and is by bootstrap: with few seeds it cannot reach beyond the best and the worst run.
    """
    values = np.array([np.interp(grid, run[axis], run[figure]) for run in runs])  # [R, G]
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(runs), size=(BOOTSTRAPS, len(runs)))
    means = trim_mean(values[chosen], TRIMMED, axis=1)  # [B, G]
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return np.stack([trim_mean(values, TRIMMED, axis=0), low, high])


def reached(run: Mapping[str, Any], axis: str, threshold: float) -> float | None:
    """Place of an axis at which a run's success first reaches a threshold, None if it never does."""
    for place, success in zip(run[axis], run["success"], strict=True):
        if success >= threshold:
            return float(place)
    return None


def averaged(seeds: int) -> str:
    """Describe what a curve and its band average."""
    kind = "interquartile mean" if int(TRIMMED * seeds) else "mean"
    return f"{kind} of {counted(seeds, 'seed')}, bootstrap 95 %"
