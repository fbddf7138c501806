"""Image encoders: [N, C, H, W] floats to [N, features].

`SmallCNN` is three strided convolutions, made for two CPU cores and 64x64 depth. `ResNet18` is the
VER paper's skill encoder: half width, GroupNorm, and four changes borrowed from ConvNeXt (a
patchify stem, down-sampling stages of their own, layer scale, and dilation in place of larger
kernels).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ver.errors import UserError


class SmallCNN(nn.Module):
    """Three convolutions and a linear layer.

    Args:
        channels: Image channels.
        height: Image height in pixels, at least 36.
        width: Image width in pixels, at least 36.
        features: Width of the embedding.
    """

    def __init__(self, channels: int, height: int, width: int, features: int):
        super().__init__()
        if min(height, width) < 36:
            raise UserError(f"small_cnn needs images of 36x36 or more, found {height}x{width}.")
        # The stem strides by 4 at once: nearly all the time would go into fine resolutions.
        self.body = nn.Sequential(
            nn.Conv2d(channels, 16, 8, 4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, 2),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, 1),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            flat = self.body(torch.zeros(1, channels, height, width)).shape[1]
        self.project = nn.Sequential(nn.Linear(flat, features), nn.ReLU())

    def forward(self, images: Tensor) -> Tensor:
        """Embeds images [N, C, H, W] as [N, features]."""
        return self.project(self.body(images))


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions, the second dilated, scaled per channel and added to the input."""

    def __init__(self, planes: int, layer_scale: float = 0.1):
        super().__init__()
        self.first = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.first_norm = nn.GroupNorm(planes // 2, planes)
        # Dilation widens the view as a larger kernel would, at no cost.
        self.second = nn.Conv2d(planes, planes, 3, padding=2, dilation=2, bias=False)
        self.second_norm = nn.GroupNorm(planes // 2, planes)
        self.scale = nn.Parameter(torch.full((1, planes, 1, 1), layer_scale))

    def forward(self, x: Tensor) -> Tensor:
        """Maps [N, planes, H, W] to the same shape."""
        y = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(x + self.scale * self.second_norm(self.second(y)))


class ResNet18(nn.Module):
    """Half-width ResNet18 with the ConvNeXt changes of the VER paper.

    Args:
        channels: Image channels.
        height: Image height in pixels, a multiple of 32.
        width: Image width in pixels, a multiple of 32.
        features: Width of the embedding.
        planes: Channels of the first stage; the paper halves ResNet's 64.
    """

    def __init__(self, channels: int, height: int, width: int, features: int, planes: int = 32):
        super().__init__()
        if height % 32 or width % 32:
            raise UserError(f"resnet18 needs multiples of 32 pixels, found {height}x{width}.")
        layers: list[nn.Module] = [
            nn.Conv2d(channels, planes, 4, 4),
            nn.GroupNorm(planes // 2, planes),
        ]
        for stage in range(4):
            if stage > 0:
                layers += [
                    nn.GroupNorm(planes // 2, planes),
                    nn.Conv2d(planes, planes * 2, 2, 2),
                ]
                planes *= 2
            layers += [ResidualBlock(planes), ResidualBlock(planes)]
        # About 2048 numbers reach the linear layer, whatever the image's size.
        area = (height // 32) * (width // 32)
        squeezed = max(2, round(2048 / area))
        layers += [
            nn.Conv2d(planes, squeezed, 3, padding=1, bias=False),
            nn.GroupNorm(1, squeezed),
            nn.ReLU(),
            nn.Flatten(),
        ]
        self.body = nn.Sequential(*layers)
        self.project = nn.Sequential(nn.Linear(squeezed * area, features), nn.ReLU())

    def forward(self, images: Tensor) -> Tensor:
        """Embeds images [N, C, H, W] as [N, features]."""
        return self.project(self.body(images))


ENCODERS: dict[str, type[nn.Module]] = {"small_cnn": SmallCNN, "resnet18": ResNet18}


def make_encoder(name: str, channels: int, height: int, width: int, features: int) -> nn.Module:
    """Builds the encoder called `name`.

    Raises:
        UserError: If there is no such encoder.
    """
    if name not in ENCODERS:
        raise UserError(f"Unknown encoder '{name}'; valid: {', '.join(sorted(ENCODERS))}.")
    return ENCODERS[name](channels, height, width, features)
