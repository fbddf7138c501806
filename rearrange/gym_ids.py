"""Ids of `gymnasium.make`, and how they become known."""

from __future__ import annotations

import gymnasium
import numpy as np

GROUP = "rearrange.tasks"  # of other packages' entry points; each names a Task
LARGEST = float(np.finfo(np.float32).max)  # of vector observations: any number, as in Habitat


def id_of(task: str) -> str:
    """The id of a task: rearrange/OpenFridge-v0 for open_fridge."""
    return f"rearrange/{task.title().replace('_', '')}-v0"


def register_id(name: str, module: str, task: str) -> None:
    """Make an id known, unless it is.

    Args:
        name: The id.
        module: Where `make` and `make_vector` are.
        task: What they are called with.
    """
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point=f"{module}:make",
            vector_entry_point=f"{module}:make_vector",
            kwargs={"task": task},
        )
