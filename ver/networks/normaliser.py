"""Running normalisation of vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RunningNormaliser(nn.Module):
    """Running mean and variance of vectors, kept in buffers so that checkpoints hold them.

    Args:
        size: Width of the vectors.
    """

    def __init__(self, size: int):
        super().__init__()
        self.mean: Tensor
        self.variance: Tensor
        self.count: Tensor
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Normalises [N, size], cut to +-10; the floor under the deviation spares constants."""
        scaled = (x - self.mean) * (self.variance + 1e-4).rsqrt()
        return scaled.clamp(-10.0, 10.0)

    @torch.no_grad()
    def update(self, x: Tensor) -> None:
        """Takes the rows of [M, size] into account."""
        self.merge(vector_moments(x)[None])

    @torch.no_grad()
    def merge(self, moments: Tensor) -> None:
        """Takes several sets of rows into account, exactly as if they were one.

        Args:
            moments: [K, 1 + 2 x size], as `vector_moments` returns them for each set.
        """
        moments = moments.to(self.mean.device)
        counts = moments[:, 0]
        rows = float(counts.sum())
        if not rows:
            return
        shares = (counts / rows)[:, None]
        means, variances = moments[:, 1:].chunk(2, dim=1)
        mean = (shares * means).sum(0)
        variance = (shares * (variances + (means - mean).square())).sum(0)
        count = float(self.count)
        total = count + rows
        delta = mean - self.mean
        combined = (self.variance * count + variance * rows) / total
        combined = combined + delta.square() * count * rows / total**2
        self.mean.copy_(self.mean + delta * rows / total)
        self.variance.copy_(combined)
        self.count.fill_(total)


def vector_moments(x: Tensor) -> Tensor:
    """Returns the count, means and variances of the rows of [M, size]: [1 + 2 x size] float64."""
    x = x.double()
    if not len(x):
        return x.new_zeros(1 + 2 * x.shape[1])
    count = x.new_tensor([len(x)])
    return torch.cat([count, x.mean(0), x.var(0, unbiased=False)])
