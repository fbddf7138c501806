"""Robots that are put down, for tests of physics."""

from typing import Any

import torch
from torch import Tensor

from locomotion.ant import ANT
from locomotion.robots import Robot


def placed(
    physics: Any, count: int, still: bool = False, robot: Robot = ANT
) -> tuple[Tensor, Tensor]:
    """Puts robots just above the floor, each a little otherwise unless `still`; returns qpos and qvel."""
    draws, joints = torch.Generator().manual_seed(0), len(robot.pose)
    qpos, qvel = torch.zeros(count, 7 + joints), torch.zeros(count, 6 + joints)
    qpos[:, 2], qpos[:, 3], qpos[:, 7:] = robot.height + 0.02, 1.0, torch.tensor(robot.pose)
    if not still:
        qpos[:, 7:] += 0.1 * torch.randn(count, joints, generator=draws)
        qvel += 0.1 * torch.randn(count, 6 + joints, generator=draws)
    physics.restart(torch.arange(count), qpos, qvel)
    return qpos, qvel


def push_of(count: int) -> Tensor:
    """Forces [N, 3] on the torsos, each another."""
    force = torch.zeros(count, 3)
    force[:, 0] = torch.linspace(-5, 5, count)
    return force
