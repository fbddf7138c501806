"""Vector observations: joined, with angles as cosines and sines and distances as logarithms too."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor

from ver.config import NetworkConfig
from ver.errors import UserError

_ANGLE_MULTIPLES = (1, 2, 4)


class VectorInputs:
    """Joins the 1-D observations for the network.

    Args:
        space: Of all observations.
        keys: Those of the 1-D ones.
        config: Says which numbers are angles and which are distances.

    Attributes:
        keys: As given.
        width: Of the joined vector.

    Raises:
        UserError: A setting names what is not there, or is out of its range.
    """

    def __init__(self, space: spaces.Dict, keys: list[str], config: NetworkConfig):
        if not config.distance_scale > 0.0:
            raise UserError(
                f"network.distance_scale must be positive, found {config.distance_scale:g}."
            )
        self.keys = keys
        self._scale = config.distance_scale  # [m]
        self._angles = _columns("angles", space, keys, config.angles)
        self._distances = _columns("distances", space, keys, config.distances)
        width = sum((space[key].shape or (0,))[0] for key in keys)
        self._others = [column for column in range(width) if column not in self._angles]
        of_angles = len(self._angles) * (2 * len(_ANGLE_MULTIPLES) - 1)
        self.width = width + of_angles + len(self._distances)

    def join(self, observations: dict[str, Tensor]) -> Tensor:
        """Joins the 1-D observations: [N, width] float32.

        Angles are left out, and the cosines and sines of their multiples stand at the end, and
        after them sign(x) log(1 + |x| / scale) of the distances x.
        """
        joined = torch.cat([observations[key].float() for key in self.keys], -1)
        parts = [joined[:, self._others] if self._angles else joined]
        if self._angles:
            multiples = torch.cat([joined[:, self._angles] * n for n in _ANGLE_MULTIPLES], -1)
            parts += [multiples.cos(), multiples.sin()]
        if self._distances:
            lengths = joined[:, self._distances] / self._scale
            parts.append(lengths.sign() * torch.log1p(lengths.abs()))
        return parts[0] if len(parts) == 1 else torch.cat(parts, -1)


def _columns(
    setting: str, space: spaces.Dict, vector_keys: list[str], named: dict[str, list[Any]]
) -> list[int]:
    """Finds the columns of the joined 1-D observations that a setting of the network names.

    Raises:
        UserError: `network.<setting>` names what is not there.
    """
    columns, offset = [], 0
    for key in vector_keys:
        width = (space[key].shape or (0,))[0]
        for index in named.get(key, []):
            if index not in range(width):
                raise UserError(f"network.{setting}: '{key}' has no element {index}, only {width}.")
            columns.append(offset + index)
        offset += width
    unknown = sorted(set(named) - set(vector_keys))
    if unknown:
        raise UserError(
            f"network.{setting}: the policy sees no 1-D observation '{unknown[0]}'; it sees "
            f"{', '.join(vector_keys)}."
        )
    return columns
