"""Image observations: scaled to [0, 1] and stacked along channels."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from ver.action_space import has_bounds
from ver.errors import UserError


class ImageStack:
    """Stacks the images among observations, which share one size.

    Args:
        space: Of all observations.
        keys: Those of the images, Boxes [H, W, C]; there may be none.

    Attributes:
        keys: As given.
        shape: Channels, height and width of the stack.
        channels: Of each image.

    Raises:
        UserError: If images differ in size.
    """

    def __init__(self, space: spaces.Dict, keys: list[str]):
        self.keys = keys
        shapes: list[tuple[int, ...]] = [space[key].shape or () for key in keys]
        sizes = {shape[:2] for shape in shapes}
        if len(sizes) > 1:
            raise UserError(f"Images must share one size to be stacked, found {sorted(sizes)}.")
        height, width = sizes.pop() if sizes else (0, 0)
        self.channels = [shape[2] for shape in shapes]
        self.shape = sum(self.channels), height, width
        self._scales = [_image_scale(space[key]) for key in keys]

    def apart(self, observations: dict[str, Tensor], rows: slice) -> list[Tensor]:
        """Returns each image of some rows [N, C, H, W], in [0, 1] and channels last in memory."""
        return [image.permute(0, 3, 1, 2) for image in self._scaled(observations, rows)]

    def join(self, observations: dict[str, Tensor], rows: slice) -> Tensor:
        """Returns the images of some rows, stacked along channels, otherwise as `apart`."""
        images = self._scaled(observations, rows)
        joined = images[0] if len(images) == 1 else torch.cat(images, 3)
        return joined.permute(0, 3, 1, 2)

    def _scaled(self, observations: dict[str, Tensor], rows: slice) -> list[Tensor]:
        """Returns each image of some rows [N, H, W, C], in [0, 1]."""
        return [
            _scaled(observations[key][rows], *scale).contiguous()
            for key, scale in zip(self.keys, self._scales, strict=True)
        ]


def _scaled(images: Tensor, scale: float, shift: float) -> Tensor:
    """Returns scale * images + shift; images that are in [0, 1] already are not copied."""
    if (scale, shift) == (1.0, 0.0):
        return images.float()
    return images.to(torch.float32, copy=True).mul_(scale).add_(shift)


def _image_scale(box: spaces.Space) -> tuple[float, float]:
    """Returns scale and shift that take a bounded image to [0, 1], or leave an unbounded one."""
    low, high = float(np.min(box.low)), float(np.max(box.high))  # pyright: ignore
    if not (has_bounds(box) and high > low):  # pyright: ignore
        return 1.0, 0.0
    return 1.0 / (high - low), -low / (high - low)
