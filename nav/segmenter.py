"""Segmenter: tells from colours and depth what of ObjectNav's categories each pixel shows.

It takes the place of true labels in the goal mask (`agent.segmenter`). `python -m skills.segmenter` trains one.
A small U-Net (Ronneberger et al. 2015) at half the resolution: halved three times, and widened again beside
what was seen before each halving. Squares of 2 x 2 pixels are its input's channels, and its output's.
"""

from __future__ import annotations

import itertools
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from atomic_files import write_whole
from nav.agent import AgentConfig
from nav.categories import CATEGORIES
from rearrange.errors import UserError

ABOUT = "segmenter"  # what the file's header calls what is told of it
# Of the agent it was trained for
LENS = ("field_of_view", "depth_range", "camera_height", "camera_size")
FOLD = 2  # pixels along a side of the squares that become channels
WIDTHS = (32, 64, 96, 128)  # channels, before and after each halving
LABELS = 1 + len(CATEGORIES)  # 0 is all else


def _block(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


class Segmenter(nn.Module):
    """The network.

    Attributes:
        lens: Numbers of the agent by whose camera it was trained, by name.
    """

    def __init__(self, lens: dict[str, float]) -> None:
        """Begin with random weights."""
        super().__init__()
        self.lens = lens
        self.down = nn.ModuleList([_block(4 * FOLD**2, WIDTHS[0])])
        for before, after in itertools.pairwise(WIDTHS):
            self.down.append(_block(before, after, 2))
        self.up = nn.ModuleList()
        for before, after in zip(WIDTHS[:0:-1], WIDTHS[-2::-1], strict=True):
            narrow = nn.Sequential(nn.Conv2d(before + after, after, 1), nn.ReLU())
            self.up.append(nn.Sequential(narrow, _block(after, after)))
        self.last = nn.Conv2d(WIDTHS[0], LABELS * FOLD**2, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Rates labels: [N, 4, H, W], see `inputs`, even H and W, to logits [N, LABELS, H, W]."""
        passed: list[Tensor] = []
        x = nn.functional.pixel_unshuffle(images, FOLD)
        for block in self.down:
            x = block(x)
            passed.append(x)
        for block, beside in zip(self.up, passed[-2::-1], strict=True):
            wider = nn.functional.interpolate(x, size=beside.shape[2:], mode="nearest")
            x = block(torch.cat([wider, beside], 1))
        return nn.functional.pixel_shuffle(self.last(x), FOLD)

    @torch.no_grad()
    def labels(self, rgb: np.ndarray, depth: np.ndarray) -> np.ndarray:
        """The likeliest label of each pixel [N, H, W] uint8; arguments as of `inputs`."""
        return self(inputs(rgb, depth)).argmax(1).numpy().astype(np.uint8)

    def mark(self, rgb: np.ndarray, depth: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Goal masks [N, H, W, 1] uint8: 255 where what is wanted is the likeliest label.

        Args:
            rgb: See `inputs`.
            depth: Likewise.
            wanted: 1 + index in CATEGORIES [N]; 0 for nothing.
        """
        found = (self.labels(rgb, depth) == wanted[:, None, None]) & (wanted > 0)[:, None, None]
        return np.where(found, np.uint8(255), np.uint8(0))[..., None]


def inputs(rgb: np.ndarray, depth: np.ndarray) -> Tensor:
    """The network's input [N, 4, H, W].

    Args:
        rgb: [N, H, W, 3] uint8.
        depth: [N, H, W, 1] float32 in [0, 1].
    """
    colours = torch.from_numpy(rgb).float() / 255.0
    return torch.cat([colours, torch.from_numpy(depth)], -1).permute(0, 3, 1, 2) - 0.5


def lens_of(config: AgentConfig) -> dict[str, float]:
    """Numbers of an agent that a segmenter depends on, by name."""
    return {name: float(getattr(config, name)) for name in LENS}


def save_segmenter(segmenter: Segmenter, path: Path) -> None:
    """Write weights and lens; OSError if that fails."""
    weights = {name: value.contiguous() for name, value in segmenter.state_dict().items()}
    # One entry: the order of several would be left to chance
    told = json.dumps({"categories": CATEGORIES, "lens": segmenter.lens})
    write_whole(path, save(weights, {ABOUT: told}))


def load_segmenter(name: str, config: AgentConfig) -> Segmenter:
    """Read a segmenter for an agent.

    Args:
        name: Its file.
        config: Of the agent.

    Raises:
        UserError: There is none, or it is of another camera.
    """
    found = _load(name)
    for key, value in lens_of(config).items():
        if found.lens.get(key) != value:
            raise UserError(
                f"agent.segmenter={name}: was trained with agent.{key}={found.lens.get(key, 0.0):g}, "
                f"not {value:g}: train another (python -m skills.segmenter)"
            )
    return found


@lru_cache(maxsize=4)
def _load(path: str) -> Segmenter:
    try:
        with safe_open(path, "pt") as file:
            told = json.loads((file.metadata() or {}).get(ABOUT, "{}"))
            if not isinstance(told, dict) or told.get("categories") != list(CATEGORIES):
                raise UserError(f"agent.segmenter={path}: is no segmenter of these categories")
            lens = told["lens"]
            if not isinstance(lens, dict) or not {*map(type, lens.values())} <= {int, float}:
                raise ValueError("its lens is no object of numbers")
            segmenter = Segmenter(lens)
            segmenter.load_state_dict({key: file.get_tensor(key) for key in file.keys()})  # noqa: SIM118
    except (OSError, SafetensorError, RuntimeError, KeyError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"agent.segmenter={path}: cannot be read: {reason}") from None
    return segmenter.eval().requires_grad_(False)
