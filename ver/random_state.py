"""The random generators of the trainer's process: seeding, and saving them as plain values."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from torch import Tensor


def seed_everything(seed: int) -> None:
    """Seeds the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch.manual_seed(seed)


def _jsonable(value: Any) -> Any:
    """Makes a bit generator's state JSON-able: arrays are marked with their dtype."""
    if isinstance(value, dict):
        return {key: _jsonable(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return {"__array__": value.tolist(), "dtype": str(value.dtype)}
    return value.item() if isinstance(value, np.generic) else value


def _from_jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        if "__array__" in value:
            return np.asarray(value["__array__"], dtype=value["dtype"])
        return {key: _from_jsonable(part) for key, part in value.items()}
    return value


def generator_values(rng: np.random.Generator) -> dict[str, Any]:
    """Returns the states of Python's and NumPy's generators and of `rng`, JSON-able."""
    kind, internal, gauss = random.getstate()
    return {
        "python_rng": [kind, list(internal), gauss],
        "numpy_rng": _jsonable(np.random.get_state(legacy=False)),  # noqa: NPY002
        "trainer_rng": _jsonable(rng.bit_generator.state),
    }


def generator_tensors() -> dict[str, Tensor]:
    """Returns the states of torch's generators."""
    states = {"rng/torch": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states["rng/cuda"] = torch.cuda.get_rng_state()
    return states


def restore_generators(
    rng: np.random.Generator, values: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Puts the states back that the two functions above returned."""
    torch.set_rng_state(tensors["rng/torch"])
    if "rng/cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["rng/cuda"])
    kind, internal, gauss = values["python_rng"]
    random.setstate((kind, tuple(internal), gauss))
    np.random.set_state(_from_jsonable(values["numpy_rng"]))  # noqa: NPY002
    rng.bit_generator.state = _from_jsonable(values["trainer_rng"])
