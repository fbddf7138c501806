"""Glimpses of worlds on a device, where they stay as torch tensors; see rearrange.tasks.glimpse."""

from __future__ import annotations

import torch
from torch import Tensor

from rearrange.tasks.glimpse import HALF, NEAREST, RELIEF, UNKNOWN


def glimpses(fine: Tensor, share: float, views: Tensor, points: Tensor, size: int) -> Tensor:
    """Windows of depth images around points.

    Args:
        fine: Depth images [K, F, F, 1], m.
        share: Half the width of what a camera sees, a metre ahead [m].
        views: Eye and world-from-camera rotation, row by row (right, up, backward), of each [K, 12].
        points: In the windows' middles, world frame [K, 3], m.
        size: Pixels along each side of a window.

    Returns:
        [K, size, size, 1] float32 in [0, 1]: a half is as far as the point, 0 and 1 RELIEF nearer and farther.
    """
    ahead = points - views[:, :3]
    distance = ahead.norm(dim=1, keepdim=True).clamp(min=NEAREST)
    level = ahead[:, :2].norm(dim=1).clamp(min=1e-6)
    forward = ahead / distance
    right = torch.stack([ahead[:, 1] / level, -ahead[:, 0] / level, torch.zeros_like(level)], 1)
    axes = torch.stack([forward, right, torch.linalg.cross(right, forward)], 1)
    # Rows are directions in the camera's frame
    along, beside, above = (axes @ views[:, 3:].unflatten(1, (3, 3))).unbind(1)
    steps = (2.0 * torch.arange(size, device=fine.device, dtype=points.dtype) + 1.0) / size - 1.0
    offsets = steps * HALF / distance  # of columns to the right, and of rows down [K, size], m
    seen = along[:, None, None] - offsets[:, :, None, None] * above[:, None, None]
    seen = seen + offsets[:, None, :, None] * beside[:, None, None]
    x, y, z = seen[..., 0], seen[..., 1], -seen[..., 2]
    edge = share * z
    middle = 0.5 * fine.shape[1]
    inside = (x.abs() < edge) & (y.abs() < edge)
    scale = middle / torch.where(inside, edge, torch.ones_like(edge))
    columns = torch.where(inside, middle + x * scale, 0.0).long()
    rows = torch.where(inside, middle - y * scale, 0.0).long()
    worlds = torch.arange(len(fine), device=fine.device)[:, None, None]
    away = fine[worlds, rows, columns, 0] / z - distance[..., None]
    told = (0.5 + away * (0.5 / RELIEF)).clamp(0.0, 1.0)
    return torch.where(inside, told, UNKNOWN).float()[..., None]
