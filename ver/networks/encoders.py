"""Image encoders: [N, C, H, W] floats to [N, features].

`SmallCNN` is three strided convolutions, made for two CPU cores and 64x64 depth. `ResNet18` is the
VER paper's skill encoder: half width, GroupNorm, and four changes borrowed from ConvNeXt (a
patchify stem, down-sampling stages of their own, layer scale, and dilation in place of larger
kernels). `SEResNet9` is the encoder of Large Batch Simulation (BPS): shallow, without
normalisation.

Encoders initialise themselves, as Fixup's rules are part of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from ver.errors import UserError


def _initialise_orthogonally(module: nn.Module) -> None:
    """Orthogonal weights with ReLU's gain, zero biases, in every convolution and linear layer."""
    for layer in module.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.orthogonal_(layer.weight, nn.init.calculate_gain("relu"))
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


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
            raise UserError(
                f"small_cnn needs images of 36x36 or more, found {height}x{width}; "
                "images are height x width x channels."
            )
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
        _initialise_orthogonally(self)

    def forward(self, images: Tensor) -> Tensor:
        """Embeds images [N, C, H, W] as [N, features]."""
        return self.project(self.body(images))


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions, the second dilated, scaled per channel and added to the input.

    Args:
        planes: Channels.
        groups: Groups of the normalisations.
        layer_scale: Start of the scale; 0.1 is what its authors take for 18 layers or fewer.
    """

    def __init__(self, planes: int, groups: int, layer_scale: float = 0.1):
        super().__init__()
        self.first = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.first_norm = nn.GroupNorm(groups, planes)
        # Dilation widens the view as a larger kernel would, at no cost.
        self.second = nn.Conv2d(planes, planes, 3, padding=2, dilation=2, bias=False)
        self.second_norm = nn.GroupNorm(groups, planes)
        self.scale = nn.Parameter(torch.full((planes,), layer_scale))

    def forward(self, x: Tensor) -> Tensor:
        """Maps [N, planes, H, W] to the same shape."""
        y = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(x + self.scale[:, None, None] * self.second_norm(self.second(y)))


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
        _require_multiples_of_32("resnet18", height, width)
        groups = planes // 2  # the same number in every stage, as in DD-PPO's half-width ResNets
        layers: list[nn.Module] = [nn.Conv2d(channels, planes, 4, 4), nn.GroupNorm(groups, planes)]
        for stage in range(4):
            if stage > 0:
                layers += [nn.GroupNorm(groups, planes), nn.Conv2d(planes, planes * 2, 2, 2)]
                planes *= 2
            layers += [ResidualBlock(planes, groups), ResidualBlock(planes, groups)]
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
        _initialise_orthogonally(self)

    def forward(self, images: Tensor) -> Tensor:
        """Embeds images [N, C, H, W] as [N, features]."""
        return self.project(self.body(images))


class SqueezeExcite(nn.Module):
    """Channels gated by what the whole image shows.

    Args:
        planes: Channels.
        reduction: How much narrower the layer in between is.
    """

    def __init__(self, planes: int, reduction: int = 16):
        super().__init__()
        narrow = max(1, planes // reduction)
        self.gate = nn.Sequential(
            nn.Linear(planes, narrow), nn.ReLU(), nn.Linear(narrow, planes), nn.Sigmoid()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Maps [N, planes, H, W] to the same shape."""
        return x * self.gate(x.mean((2, 3)))[:, :, None, None]


class FixupBlock(nn.Module):
    """A residual block with squeeze-and-excitation, and Fixup in place of normalisation.

    Fixup (Zhang et al. 2019): the branch's last convolution starts at zero and the others are
    shrunk by blocks^(-1 / (2m - 2)), here m = 2 convolutions; scalar biases before each
    convolution and activation and one scalar factor stand in for what normalisation would shift
    and scale. So at the start the block is the identity, apart from down-sampling.

    Args:
        inputs: Channels that come in.
        planes: Channels that go out.
        stride: 2 halves the resolution.
        blocks: Residual blocks in the whole network.
    """

    def __init__(self, inputs: int, planes: int, stride: int, blocks: int):
        super().__init__()
        self.first = nn.Conv2d(inputs, planes, 3, stride, padding=1, bias=False)
        self.second = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.excite = SqueezeExcite(planes)
        self.shortcut = None
        if stride > 1 or inputs != planes:
            self.shortcut = nn.Conv2d(inputs, planes, 1, stride, bias=False)
            nn.init.kaiming_normal_(self.shortcut.weight)
        self.biases = nn.Parameter(torch.zeros(4))
        self.scale = nn.Parameter(torch.ones(1))
        nn.init.kaiming_normal_(self.first.weight)
        with torch.no_grad():
            self.first.weight.mul_(blocks**-0.5)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Maps [N, inputs, H, W] to [N, planes, H / stride, W / stride]."""
        shifted = x + self.biases[0]
        y = torch.relu(self.first(shifted) + self.biases[1])
        y = self.excite(self.scale * self.second(y + self.biases[2]) + self.biases[3])
        return torch.relu(y + (x if self.shortcut is None else self.shortcut(shifted)))


class SEResNet9(nn.Module):
    """The policy encoder of BPS, section 3.3: ResNet18 with every other block removed.

    A space-to-depth stem (4x4 patches become channels), four stages of one block each with
    squeeze-and-excitation (r = 16), no normalisation. The paper leaves the width open: 64 channels
    are ResNet18's, and take its 64x64 images to 2 x 2 x 512 = 2048 numbers before the linear layer.

    Args:
        channels: Image channels.
        height: Image height in pixels, a multiple of 32.
        width: Image width in pixels, a multiple of 32.
        features: Width of the embedding.
        planes: Channels of the first stage.
        blocks: Blocks in each stage.
    """

    def __init__(
        self,
        channels: int,
        height: int,
        width: int,
        features: int,
        planes: int = 64,
        blocks: int = 1,
    ):
        super().__init__()
        _require_multiples_of_32("se_resnet9", height, width)
        stem = nn.Conv2d(channels * 16, planes, 1)
        layers: list[nn.Module] = [nn.PixelUnshuffle(4), stem, nn.ReLU()]
        inputs = planes
        for stage in range(4):
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                layers.append(FixupBlock(inputs, planes << stage, stride, 4 * blocks))
                inputs = planes << stage
        self.body = nn.Sequential(*layers)
        linear = nn.Linear(inputs * (height // 32) * (width // 32), features)
        self.project = nn.Sequential(nn.Flatten(), linear, nn.ReLU())
        for layer in (stem, linear):
            nn.init.kaiming_normal_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def forward(self, images: Tensor) -> Tensor:
        """Embeds images [N, C, H, W] as [N, features]."""
        return self.project(self.body(images))


def _require_multiples_of_32(name: str, height: int, width: int) -> None:
    if height % 32 or width % 32 or not height or not width:
        raise UserError(
            f"{name} needs multiples of 32 pixels, found {height}x{width}; "
            "images are height x width x channels."
        )


ENCODERS: dict[str, Callable[[int, int, int, int], nn.Module]] = {
    "small_cnn": SmallCNN,
    "resnet18": ResNet18,
    "se_resnet9": SEResNet9,
    "se_resnet9_half": partial(SEResNet9, planes=32),
    "se_resnet9_quarter": partial(SEResNet9, planes=16),
}


class SeparateEncoders(nn.Module):
    """An encoder for each of several images.

    Args:
        encoders: One for each.
    """

    def __init__(self, encoders: Sequence[nn.Module]):
        super().__init__()
        self.encoders = nn.ModuleList(encoders)

    def forward(self, images: Sequence[Tensor]) -> Tensor:
        """Embeds images, each [N, C, H, W], as [N, features], the first image's embedding first."""
        return torch.cat([e(image) for e, image in zip(self.encoders, images, strict=True)], 1)


def make_encoders(
    name: str, channels: Sequence[int], height: int, width: int, features: int
) -> nn.Module:
    """Builds an encoder called `name` for each image; all their embeddings have `features` together.

    Raises:
        UserError: As for `make_encoder`, or if there are more images than features.
    """
    count = len(channels)
    if features < count:
        raise UserError(f"network.visual_features must be at least {count}, one for each image.")
    widths = [features // count + (k < features % count) for k in range(count)]
    made = [
        make_encoder(name, each, height, width, share)
        for each, share in zip(channels, widths, strict=True)
    ]
    return made[0] if count == 1 else SeparateEncoders(made)


def check_encoder(name: str) -> None:
    """Raises a UserError with all names if no encoder is called `name`."""
    if name not in ENCODERS:
        raise UserError(f"Unknown encoder '{name}'; valid: {', '.join(sorted(ENCODERS))}.")


def make_encoder(name: str, channels: int, height: int, width: int, features: int) -> nn.Module:
    """Builds the encoder called `name`.

    Raises:
        UserError: If there is no such encoder, or it makes anything but [N, features].
    """
    check_encoder(name)
    encoder = ENCODERS[name](channels, height, width, features)
    with torch.no_grad():
        found = tuple(encoder(torch.zeros(2, channels, height, width)).shape)
    if found != (2, features):
        raise UserError(
            f"Encoder '{name}' makes {found} of two images; expected (2, {features}), its features."
        )
    return encoder
