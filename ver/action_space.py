"""Storage of actions: one row of numbers [D] for each environment. Must not import torch.

A Box gives float32 rows, Discrete and MultiDiscrete give int64 rows. A Tuple or Dict of these
gives the rows of its parts one after another, as float32: a choice is then a whole number, which
float32 holds exactly up to 2^24.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ver.errors import UserError

NO_BOUND = np.finfo(np.float32).max  # a bound of this size is none: no float32 exceeds it


def action_parts(space: spaces.Space) -> list[spaces.Space]:
    """Lists the Box, Discrete and MultiDiscrete spaces that an action row is made of, in order.

    Raises:
        UserError: If the space is of another kind, or nested more than once.
    """
    if isinstance(space, spaces.Dict):
        parts = list(space.spaces.values())
    elif isinstance(space, spaces.Tuple):
        parts = list(space.spaces)
    else:
        parts = [space]
    for part in parts:
        if not isinstance(part, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete)):
            raise UserError(
                f"Action space {part} is not supported; use Box, Discrete, MultiDiscrete, or a "
                "flat Tuple or Dict of them."
            )
    if not parts:
        raise UserError("The action space is empty; it needs a Box or a Discrete part.")
    return parts


def action_width(space: spaces.Space) -> int:
    """Returns D, the numbers in one action."""
    return sum(action_widths(space))


def action_widths(space: spaces.Space) -> list[int]:
    """Returns how many of the D numbers belong to each part."""
    return [int(np.prod(part.shape or (1,))) for part in action_parts(space)]


def action_dtype(space: spaces.Space) -> str:
    """Returns how actions are stored: int64 for Discrete and MultiDiscrete, float32 otherwise."""
    discrete = not is_composite(space) and not isinstance(space, spaces.Box)
    return "int64" if discrete else "float32"


def is_composite(space: spaces.Space) -> bool:
    """Tells if the action is a Tuple or a Dict of parts."""
    return isinstance(space, (spaces.Tuple, spaces.Dict))


def discrete_choices(space: spaces.Space) -> list[int]:
    """Lists the number of choices in each dimension of a Discrete or MultiDiscrete space."""
    if isinstance(space, spaces.MultiDiscrete):
        return [int(n) for n in np.asarray(space.nvec).reshape(-1)]
    return [int(space.n)]  # pyright: ignore[reportAttributeAccessIssue]


def has_bounds(box: spaces.Box) -> bool:
    """Tells if all bounds of a Box say something; infinity and what no float32 exceeds do not."""
    return bool((np.abs(box.low) < NO_BOUND).all() and (np.abs(box.high) < NO_BOUND).all())


def to_environment_action(space: spaces.Space, action: np.ndarray) -> Any:
    """Turns a policy's action row [D] into what `env.step` takes; a Box's bounds are kept.

    Args:
        space: The environment's action space.
        action: [D] floats or integers; or [N, D], which gives what a VectorEnv takes.
    """
    if isinstance(space, spaces.Box):
        low = space.low
        rows = action if low.ndim == 1 else action.reshape(action.shape[:-1] + low.shape)
        # Not np.clip, most of which is Python code
        taken = np.minimum(np.maximum(rows, low), space.high)
        if low.dtype.kind != "f":
            taken = np.rint(taken)  # cut off, the upper end would hardly ever be taken
        return taken.astype(low.dtype, copy=False)
    lead = action.shape[:-1]
    if isinstance(space, spaces.Discrete):
        chosen = action[..., 0].astype(np.int64) + space.start
        return chosen if lead else int(chosen)
    if isinstance(space, spaces.MultiDiscrete):
        return (action.reshape(lead + space.shape) + space.start).astype(space.dtype)
    cuts = np.cumsum(action_widths(space))[:-1]
    parts = [
        to_environment_action(part, rows)
        for part, rows in zip(action_parts(space), np.split(action, cuts, axis=-1), strict=True)
    ]
    return dict(zip(space, parts, strict=True)) if isinstance(space, spaces.Dict) else tuple(parts)
