"""Value of a start by what is seen, by regression on the critic's; the chance of success by the value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.stats import mannwhitneyu
from torch import Tensor
from torch.nn import functional

from skills.initiation.network import InitiationSet
from skills.initiation.starts import Start

HELD_OUT = 10  # one start in so many chooses how long is learned
BATCH = 256
RATE, DECAY = 1e-3, 1e-2  # of AdamW
LEAST_DEVIATION = 1e-3  # of an input
NEWTON_STEPS = 50
PRIOR = (
    1e-3  # keeps the logistic function from growing steep without end where the value decides all
)


def fit_values(starts: Sequence[Start], seed: int, epochs: int = 60) -> tuple[InitiationSet, float]:
    """Learn the critic's values from what the policy sees.

    Args:
        starts: In any order; of the last tenth it is judged.
        seed: Of weights and batches.
        epochs: Passes over the rest; the best one counts.

    Returns:
        The network, and the share of the values' variance that it explains in the last tenth, by which the
        epoch was chosen: it is a little too high.
    """
    torch.manual_seed(seed)
    seen = torch.as_tensor(np.stack([start.seen for start in starts]))
    values = torch.tensor([start.value for start in starts])
    count = len(starts) - max(len(starts) // HELD_OUT, 1)
    learned = InitiationSet(seen.shape[1])
    learned.mean.copy_(seen[:count].mean(0))
    learned.deviation.copy_(seen[:count].std(0).clamp(min=LEAST_DEVIATION))
    learned.unit.copy_(torch.stack([values[:count].mean(), values[:count].std()]))
    targets = (values - learned.unit[0]) / learned.unit[1]
    optimiser = torch.optim.AdamW(learned.parameters(), RATE, weight_decay=DECAY)
    best, weights = -np.inf, learned.state_dict()
    for _ in range(epochs):
        for rows in torch.randperm(count).split(BATCH):
            loss = functional.smooth_l1_loss(learned.standardised(seen[rows]), targets[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        explained = _explained(learned, seen[count:], values[count:])
        if explained > best:
            best = explained
            weights = {name: tensor.clone() for name, tensor in learned.state_dict().items()}
    learned.load_state_dict(weights)
    return learned, best


@torch.no_grad()
def _explained(learned: InitiationSet, seen: Tensor, values: Tensor) -> float:
    """Share of the variance of values that is explained."""
    errors = (learned.values(seen) - values).square().mean()
    return float(1.0 - errors / values.var(correction=0).clamp(min=1e-12))


@torch.no_grad()
def fit_chances(learned: InitiationSet, starts: Sequence[Start]) -> None:
    """Fit the logistic function of the value to how starts that were played have ended."""
    seen = torch.as_tensor(np.stack([start.seen for start in starts]))
    ended = np.array([start.succeeded for start in starts], float)
    odds = logistic(learned.values(seen).double().numpy(), ended)
    learned.odds.copy_(torch.as_tensor(odds))


def logistic(values: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """Log odds at value 0 and per unit [2] that make how it ended most likely, by Newton's method.

    Args:
        values: [N].
        ended: 1: well; 0: not [N].
    """
    middle, spread = values.mean(), max(float(values.std()), 1e-12)
    inputs = np.stack([np.ones_like(values), (values - middle) / spread], 1)
    weights = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        chances = 1.0 / (1.0 + np.exp(-inputs @ weights))
        slope = inputs.T @ (ended - chances) - PRIOR * weights
        bend = (inputs * (chances * (1.0 - chances))[:, None]).T @ inputs + PRIOR * np.eye(2)
        step = np.linalg.solve(bend, slope)
        weights = weights + np.clip(step, -2.0, 2.0)
    per_unit = weights[1] / spread
    return np.array([weights[0] - per_unit * middle, per_unit])


def area_under_curve(chances: np.ndarray, ended: np.ndarray) -> float:
    """Share of pairs, of which one ended well and one ill, where the first has the higher chance.

    Equal chances count half. NaN where all ended alike.
    """
    well, ill = chances[ended > 0], chances[ended == 0]
    if not len(well) or not len(ill):
        return float("nan")
    return float(mannwhitneyu(well, ill).statistic) / (len(well) * len(ill))
