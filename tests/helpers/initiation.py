"""Initiation sets that have learned nothing."""

from __future__ import annotations

import torch

from skills.initiation import InitiationSet


def make_set(inputs: int) -> InitiationSet:
    """A network with random weights and known numbers."""
    torch.manual_seed(0)
    learned = InitiationSet(inputs)
    learned.mean.normal_()
    learned.unit.copy_(torch.tensor([8.0, 4.0]))
    learned.odds.copy_(torch.tensor([-3.0, 0.5]))
    return learned
