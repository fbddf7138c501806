"""Ants that are put down, for tests of physics."""

from typing import Any

import torch
from torch import Tensor

from locomotion.ant import ANT


def placed(physics: Any, count: int, still: bool = False) -> tuple[Tensor, Tensor]:
    """Puts ants just above the floor, each a little otherwise unless `still`; returns qpos and qvel."""
    draws = torch.Generator().manual_seed(0)
    qpos, qvel = torch.zeros(count, 15), torch.zeros(count, 14)
    qpos[:, 2], qpos[:, 3], qpos[:, 7:] = ANT.height + 0.02, 1.0, torch.tensor(ANT.pose)
    if not still:
        qpos[:, 7:] += 0.1 * torch.randn(count, 8, generator=draws)
        qvel += 0.1 * torch.randn(count, 14, generator=draws)
    physics.restart(torch.arange(count), qpos, qvel)
    return qpos, qvel


def push_of(count: int) -> Tensor:
    """Forces [N, 3] on the torsos, each another."""
    force = torch.zeros(count, 3)
    force[:, 0] = torch.linspace(-5, 5, count)
    return force
