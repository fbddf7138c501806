"""Embeddings of actions: for the previous action of a policy, and for predicting ahead (CPC|A)."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from ver.action_space import action_parts, action_widths, discrete_choices, is_composite


class BoxEmbedding(nn.Linear):
    """A linear map of what the environment executed, scaled to [-1, 1].

    Args:
        space: A bounded Box [D].
        features: Width of the embedding.
    """

    def __init__(self, space: spaces.Box, features: int):
        low = torch.as_tensor(space.low.reshape(-1), dtype=torch.float32)
        high = torch.as_tensor(space.high.reshape(-1), dtype=torch.float32)
        super().__init__(len(low), features)
        self.centre: Tensor
        self.half_range: Tensor
        # The space says it all, so checkpoints need not.
        self.register_buffer("centre", (high + low) / 2, persistent=False)
        self.register_buffer("half_range", (high - low) / 2, persistent=False)

    def forward(self, actions: Tensor, masks: Tensor) -> Tensor:
        """Embeds actions [N, D] in the Box's units; rows whose mask [N] is 0 count as centred."""
        executed = ((actions - self.centre) / self.half_range).clamp(-1.0, 1.0)
        return super().forward(executed * masks[:, None])


class ChoiceEmbedding(nn.Embedding):
    """The sum of one table entry for each discrete dimension.

    Args:
        space: Discrete or MultiDiscrete with D dimensions.
        features: Width of the embedding.
    """

    def __init__(self, space: spaces.Space, features: int):
        choices = discrete_choices(space)
        # Each dimension owns a stretch of one table; its entry 0 means "no action yet".
        super().__init__(sum(n + 1 for n in choices), features)
        offsets = np.concatenate([[0], np.cumsum([n + 1 for n in choices])[:-1]])
        self.offsets: Tensor
        self.register_buffer("offsets", torch.as_tensor(offsets), persistent=False)

    def forward(self, actions: Tensor, masks: Tensor) -> Tensor:
        """Embeds whole numbers [N, D]; rows whose mask [N] is 0 count as "no action yet"."""
        indices = (actions.long() + 1) * masks[:, None].long() + self.offsets
        return super().forward(indices).sum(1)


class CompositeEmbedding(nn.Module):
    """The sum of the embeddings of a Tuple's or Dict's parts.

    Args:
        space: A flat Tuple or Dict.
        features: Width of the embedding.
    """

    def __init__(self, space: spaces.Space, features: int):
        super().__init__()
        self.widths = action_widths(space)
        self.parts = nn.ModuleList(
            make_action_embedding(part, features) for part in action_parts(space)
        )

    def forward(self, actions: Tensor, masks: Tensor) -> Tensor:
        """Embeds rows [N, D] that hold the parts one after another."""
        rows = actions.split(self.widths, -1)
        embeddings = [part(row, masks) for part, row in zip(self.parts, rows, strict=True)]
        return torch.stack(embeddings).sum(0)


def make_action_embedding(space: spaces.Space, features: int) -> nn.Module:
    """Builds the embedding for an action space; call it with actions [N, D] and masks [N]."""
    if is_composite(space):
        return CompositeEmbedding(space, features)
    if isinstance(space, spaces.Box):
        return BoxEmbedding(space, features)
    return ChoiceEmbedding(space, features)
