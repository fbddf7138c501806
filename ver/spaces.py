"""Gymnasium spaces as JSON-able values, for the headers of checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ver.errors import UserError


def space_to_json(space: spaces.Space) -> dict[str, Any]:
    """Describes a space of the supported kinds with JSON-able values."""
    if isinstance(space, spaces.Dict):
        parts = {key: space_to_json(part) for key, part in space.spaces.items()}
        return {"type": "Dict", "spaces": parts}
    if isinstance(space, spaces.Box):
        return {
            "type": "Box",
            "low": _compact(space.low),
            "high": _compact(space.high),
            "shape": list(space.shape),
            "dtype": str(space.dtype),
        }
    if isinstance(space, spaces.Discrete):
        return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        nvec, start = np.asarray(space.nvec).tolist(), np.asarray(space.start).tolist()
        return {"type": "MultiDiscrete", "nvec": nvec, "start": start}
    if isinstance(space, spaces.Tuple):
        return {"type": "Tuple", "spaces": [space_to_json(part) for part in space.spaces]}
    raise UserError(
        f"Space {space} is not supported; use Dict, Tuple, Box, Discrete or MultiDiscrete."
    )


def space_from_json(values: dict[str, Any]) -> spaces.Space:
    """Rebuilds a space from `space_to_json`'s answer."""
    kind = values["type"]
    if kind == "Dict":
        # As pairs, so that the order of the columns survives; a plain dict would be sorted.
        parts = [(key, space_from_json(part)) for key, part in values["spaces"].items()]
        return spaces.Dict(parts)
    if kind == "Box":
        shape, dtype = tuple(values["shape"]), np.dtype(values["dtype"])
        low = np.broadcast_to(np.asarray(values["low"], dtype=dtype), shape)
        high = np.broadcast_to(np.asarray(values["high"], dtype=dtype), shape)
        return spaces.Box(low.copy(), high.copy(), shape, dtype.type)
    if kind == "Discrete":
        return spaces.Discrete(values["n"], start=values["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(values["nvec"], start=values.get("start"))
    if kind == "Tuple":
        return spaces.Tuple([space_from_json(part) for part in values["spaces"]])
    raise UserError(f"Space type '{kind}' is not supported.")


def _compact(bound: np.ndarray) -> Any:
    """One number where all are equal: an image's bounds would fill the header."""
    flat = bound.reshape(-1)
    return flat[0].item() if len(flat) and (flat == flat[0]).all() else bound.tolist()
