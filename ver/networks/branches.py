"""Branches: layers that an observation goes through before it meets the others."""

from __future__ import annotations

import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.recurrent import WIDEST, make_mlp


class Branches(nn.Module):
    """An MLP for each of some 1-D observations; the others pass.

    Args:
        space: Of all observations.
        keys: Of the joined ones, in their order.
        config: Names them in `branches`.

    Attributes:
        width: Of what comes out.

    Raises:
        UserError: A branch cannot be.
    """

    def __init__(self, space: spaces.Dict, keys: list[str], config: NetworkConfig):
        super().__init__()
        _check(space, keys, config)
        self._widths = [(space[key].shape or (0,))[0] for key in keys]
        self.mlps = nn.ModuleList()
        self.width = 0
        for key, inputs in zip(keys, self._widths, strict=True):
            widths = config.branches.get(key, [])
            layers = make_mlp(inputs, widths, config.activation) if widths else nn.Identity()
            self.mlps.append(layers)
            self.width += widths[-1] if widths else inputs

    def forward(self, vectors: Tensor) -> Tensor:
        """Sends the joined observations [N, inputs] through their branches: [N, width]."""
        parts = vectors.split(self._widths, -1)
        return torch.cat([mlp(part) for mlp, part in zip(self.mlps, parts, strict=True)], -1)


def _check(space: spaces.Dict, keys: list[str], config: NetworkConfig) -> None:
    """Raises a UserError where branches name what is not there, or go with other settings badly."""
    known = keys
    if config.separate_critic:  # which has branches of its own, also for what it alone sees
        known = [key for key, box in space.spaces.items() if len(box.shape or ()) == 1]
    for key, widths in config.branches.items():
        if key not in known:
            raise UserError(
                f"network.branches: there is no 1-D observation '{key}', only {', '.join(known)}."
            )
        if not isinstance(widths, list) or not widths:
            raise UserError(f"network.branches.{key} must be a list of widths, found {widths}.")
        for width in widths:
            if type(width) is not int or not 1 <= width <= WIDEST:
                raise UserError(
                    f"network.branches.{key} must be from 1 to {WIDEST} each, found {width}."
                )
    for setting in ("vector_features", "angles", "distances"):
        if getattr(config, setting):
            empty = 0 if setting == "vector_features" else "{}"
            raise UserError(f"network.branches needs network.{setting}={empty}.")
